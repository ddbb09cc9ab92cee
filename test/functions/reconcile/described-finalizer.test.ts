/** A finalizer on objects of a kind that is not ours: nothing is written to them but the finalizer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EnvelopeData } from '../../../events/envelope.ts';
import type { LogFields } from '../../../functions/adapters/telemetry.ts';
import { describeResource } from '../../../functions/core/described-resource.ts';
import { configMaps, deployments } from '../../../functions/core/kinds.ts';
import { defineReconciler, type FinalizeAnswer } from '../../../functions/core/reconciler.ts';
import { Harness } from './harness.ts';

const AT = { namespace: 'team', name: 'source' };
const FINALIZER = 'platform.example/source';

/** A ConfigMap (no generation) or a Deployment (which has one) that makes something outside, by its uid. */
class Scene {
  readonly harness = new Harness();
  readonly outside = new Set<string>();
  readonly #type: typeof configMaps;
  answer: FinalizeAnswer = { done: true };
  /** What happens while the author works. */
  meanwhile: () => void = () => {};
  readonly seen: (string | undefined)[] = [];

  constructor(type: typeof configMaps) {
    this.#type = type;
    const reconciler = defineReconciler({
      resource: describeResource(type),
      finalizer: FINALIZER,
      reconcile: async ({ object }) => {
        this.outside.add(object.metadata.uid);
        this.meanwhile();
        return {};
      },
      finalize: async ({ uid, object }) => {
        this.seen.push(object?.metadata.uid);
        if (this.answer.done) this.outside.delete(uid);
        return this.answer;
      },
    });
    this.harness.others = [reconciler];
    this.create();
  }

  create(): void {
    this.harness.east.create(this.#type, AT, { data: { a: '1' } });
  }

  object() {
    return this.harness.east.object(this.#type, AT);
  }

  delete(): void {
    this.harness.east.delete(this.#type, AT);
  }

  /** Somebody takes the finalizer off by hand, and deletes the object. */
  wipe(): void {
    this.harness.east.edit(this.#type, AT, (draft) => {
      const { finalizers: _, ...metadata } = draft['metadata'] as Record<string, unknown>;
      draft['metadata'] = metadata;
    });
    this.delete();
  }

  async deliver(over: Partial<EnvelopeData> = {}): Promise<LogFields> {
    const { group, version, plural, kind } = this.#type;
    const { uid, resourceVersion, generation } = this.object()?.metadata ?? {};
    return this.harness.deliver({ group, version, plural, kind, ...AT, uid, resourceVersion, generation, ...over });
  }
}

for (const type of [configMaps, deployments]) {
  describe(`a finalizer on a ${type.kind}`, () => {
    it('is there before the author is asked, and does not look like a change of the object', async () => {
      const scene = new Scene(type);
      let found: readonly string[] | undefined;
      scene.meanwhile = () => {
        found = scene.object()?.metadata.finalizers;
      };
      assert.equal((await scene.deliver({ reason: 'created' }))['branch'], 'reconciled');
      assert.deepEqual([found, scene.object()?.['data'], scene.object()?.['status']], [[FINALIZER], { a: '1' }, undefined]);
      assert.deepEqual(scene.harness.takeRequests(), [`get ${type.kind}`, `apply ${type.kind}`, `get ${type.kind}`]);
    });

    it('goes once finalize is done; until then the object is woken, and nothing is written to it', async () => {
      const scene = new Scene(type);
      await scene.deliver({ reason: 'created' });
      scene.delete();
      scene.answer = { done: false, requeueAfterSeconds: 30 };
      scene.harness.takeRequests();
      const before = scene.object()?.metadata;
      const line = await scene.deliver({ reason: 'deleting' });
      assert.deepEqual([line['branch'], line['delaySeconds']], ['requeue-after', 30]);
      assert.deepEqual([scene.harness.takeRequests(), scene.object()?.metadata], [[`get ${type.kind}`], before]);
      scene.answer = { done: true };
      assert.equal((await scene.harness.redeliver())['branch'], 'finalized');
      assert.deepEqual([scene.object(), scene.outside.size], [undefined, 0]);
      assert.deepEqual(scene.seen, [before?.uid, before?.uid]);
      assert.equal((await scene.harness.redeliver())['branch'], 'finalized');
      assert.equal(scene.seen.at(-1), undefined);
    });

    it('is waited for by one chain of wake-ups, whatever the watcher sends meanwhile', async () => {
      const scene = new Scene(type);
      await scene.deliver({ reason: 'created' });
      scene.delete();
      scene.answer = { done: false, requeueAfterSeconds: 30 };
      await scene.deliver({ reason: 'deleting' });
      for (const reason of ['sweep', 'resync', 'child-changed', 'metadata-changed'] as const) {
        assert.equal((await scene.deliver({ reason, mustRun: reason !== 'sweep' }))['branch'], 'deleting');
      }
      assert.equal(scene.harness.queue.accepted.length, 1);
      scene.answer = { done: true };
      assert.equal((await scene.deliver({ reason: 'sweep' }))['branch'], 'finalized');
    });

    for (const isReplaced of [false, true]) {
      it(`undoes what was done for an object that is ${isReplaced ? 'replaced' : 'gone'} when the run ends`, async () => {
        const scene = new Scene(type);
        scene.meanwhile = () => {
          scene.wipe();
          if (isReplaced) scene.create();
          scene.meanwhile = () => {};
        };
        const line = await scene.deliver({ reason: 'created' });
        assert.deepEqual([line['branch'], scene.outside.size], [isReplaced ? 'overtaken-replacement' : 'finalized', 0]);
        if (!isReplaced) return;
        await scene.harness.redeliver();
        assert.deepEqual([...scene.outside], [scene.object()?.metadata.uid]);
      });
    }
  });
}
