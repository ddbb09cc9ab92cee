/** Runs for a kind that is not ours: no status tells what was done, and none is written. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EnvelopeData } from '../../../events/envelope.ts';
import type { LogFields } from '../../../functions/adapters/telemetry.ts';
import { describeResource } from '../../../functions/core/described-resource.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import { configMaps, deployments } from '../../../functions/core/kinds.ts';
import { type DescribedInput, type DescribedPlan, defineReconciler, type KubernetesObject } from '../../../functions/core/reconciler.ts';
import { Harness } from './harness.ts';

const AT = { namespace: 'team', name: 'source' };
const COPY = { namespace: 'team', name: 'source-copy' };

/** A ConfigMap makes another one with its data; a Deployment makes one with its image. */
class Described {
  readonly harness = new Harness();
  readonly #type: typeof configMaps;
  inputs: DescribedInput<unknown>[] = [];
  plan = ({ object }: DescribedInput<unknown>): DescribedPlan => {
    const data = { seen: JSON.stringify(object['data'] ?? object.spec) };
    return { apply: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: COPY, data }] };
  };

  constructor(type = configMaps) {
    this.#type = type;
    const reconciler = defineReconciler({
      resource: describeResource(type),
      owns: [configMaps],
      watch: { predicate: { kind: 'not', of: { kind: 'has', place: 'labels', name: 'dogwatch.dev/owner' } } },
      reconcile: async (input) => {
        this.inputs.push(input);
        return this.plan(input);
      },
    });
    this.harness.others = [reconciler];
  }

  edit(fields: Record<string, unknown>): void {
    this.harness.east.edit(this.#type, AT, (draft) => Object.assign(draft, fields));
  }

  async deliver(over: Partial<EnvelopeData> = {}): Promise<LogFields> {
    const { group, version, plural, kind } = this.#type;
    const { uid, resourceVersion, generation } = this.harness.east.object(this.#type, AT)?.metadata ?? {};
    return this.harness.deliver({ group, version, plural, kind, ...AT, uid, resourceVersion, generation, ...over });
  }

  copy(): KubernetesObject | undefined {
    return this.harness.east.object(configMaps, COPY);
  }

  events(): string[] {
    const made = this.harness.east.requestsOf('createEvent').map(({ detail }) => detail as { type: string; reason: string });
    return made.map(({ type, reason }) => `${type} ${reason}`);
  }
}

describe('a run for a ConfigMap', () => {
  it('makes its children and ends with one more read, without a status', async () => {
    const scene = new Described();
    scene.harness.east.create(configMaps, AT, { data: { a: '1' } });
    const line = await scene.deliver({ generation: undefined });
    assert.deepEqual([line['branch'], line['disposition']], ['reconciled', 'done']);
    assert.deepEqual(scene.copy()?.['data'], { seen: '{"a":"1"}' });
    const requests = scene.harness.takeRequests();
    assert.deepEqual([requests.at(0), requests.at(-1)], ['get ConfigMap', 'get ConfigMap']);
    assert.ok(!requests.some((request) => request.startsWith('applyStatus')));
    assert.deepEqual(scene.events(), []);
    assert.equal(scene.inputs[0]?.object.metadata.managedFields, undefined);
  });

  it('prunes what left the Plan', async () => {
    const scene = new Described();
    scene.harness.east.create(configMaps, AT, { data: {} });
    await scene.deliver();
    scene.plan = () => ({});
    await scene.deliver();
    assert.equal(scene.copy(), undefined);
  });

  it('is overtaken when other data came meanwhile, and then makes what that wants', async () => {
    const scene = new Described();
    scene.harness.east.create(configMaps, AT, { data: { a: '1' } });
    const plan = scene.plan;
    scene.plan = (input) => {
      if (scene.inputs.length === 1) scene.edit({ data: { a: '2' } });
      return plan(input);
    };
    assert.deepEqual([(await scene.deliver())['branch'], scene.copy()?.['data']], ['overtaken-newer-spec', { seen: '{"a":"1"}' }]);
    assert.equal((await scene.harness.redeliver())['branch'], 'reconciled');
    assert.deepEqual(scene.copy()?.['data'], { seen: '{"a":"2"}' });
  });

  it('is not overtaken by a write that changed nothing', async () => {
    const scene = new Described();
    scene.harness.east.create(configMaps, AT, { data: { a: '1' } });
    const plan = scene.plan;
    scene.plan = (input) => {
      scene.edit({ data: { a: '1' } });
      return plan(input);
    };
    assert.equal((await scene.deliver())['branch'], 'reconciled');
  });

  const moved: readonly [name: string, move: (scene: Described) => void, branch: string][] = [
    ['goes', (scene) => scene.harness.east.delete(configMaps, AT), 'gone'],
    [
      'is replaced',
      (scene) => {
        scene.harness.east.delete(configMaps, AT);
        scene.harness.east.create(configMaps, AT, { data: {} });
      },
      'overtaken-replacement',
    ],
  ];
  for (const [name, move, branch] of moved) {
    it(`ends as ${branch} when the object ${name} meanwhile`, async () => {
      const scene = new Described();
      scene.harness.east.create(configMaps, AT, { data: {} });
      scene.plan = () => {
        move(scene);
        return {};
      };
      assert.equal((await scene.deliver())['branch'], branch);
    });
  }

  it('leaves a child that is seen as an object of the same kind to its owner', async () => {
    const scene = new Described();
    scene.harness.east.create(configMaps, AT, { data: {} });
    await scene.deliver();
    assert.equal((await scene.deliver({ ...COPY, uid: scene.copy()?.metadata.uid, resourceVersion: undefined }))['branch'], 'not-selected');
  });
});

describe('a run for a Deployment', () => {
  const settledByOthers = { spec: { replicas: 1 }, status: { observedGeneration: 1, conditions: [{ type: 'Available', status: 'True' }] } };

  it('does not take the status of its own controller for ours', async () => {
    const scene = new Described(deployments);
    scene.harness.east.create(deployments, AT, settledByOthers);
    assert.equal((await scene.deliver())['branch'], 'reconciled');
    scene.edit({ spec: { replicas: 2 } });
    await scene.deliver();
    // A list at the version that was read would trust that no run of ours came in between.
    assert.deepEqual(
      scene.harness.east.requestsOf('list').map(({ detail }) => detail['resourceVersion']),
      [undefined, undefined],
    );
  });

  it('is overtaken by another generation, not by a status', async () => {
    const scene = new Described(deployments);
    scene.harness.east.create(deployments, AT, settledByOthers);
    scene.plan = () => {
      scene.edit({ status: { observedGeneration: 1, replicas: scene.inputs.length } });
      return {};
    };
    assert.equal((await scene.deliver())['branch'], 'reconciled');
    scene.plan = () => {
      scene.edit({ spec: { replicas: 5 } });
      return {};
    };
    const line = await scene.deliver();
    assert.deepEqual([line['branch'], line['disposition']], ['overtaken-newer-spec', 'requeue']);
  });
});

describe('a failure of a run for an object that is not ours', () => {
  it('shows as one Event for all tries of a message, and one for its letter, never as a status', async () => {
    const scene = new Described();
    scene.harness.east.create(configMaps, AT, { data: {} });
    scene.plan = () => {
      throw new Error('the author was wrong');
    };
    await scene.deliver();
    assert.deepEqual(scene.events(), ['Warning AuthorError']);
    for (let attempt = 2; attempt < 10; attempt += 1) await scene.harness.redeliver();
    assert.deepEqual(scene.events(), ['Warning AuthorError']);
    assert.equal((await scene.harness.redeliver())['disposition'], 'dead-letter');
    assert.deepEqual(scene.events(), ['Warning AuthorError', 'Warning DeadLettered']);
    assert.equal(scene.harness.east.requestsOf('applyStatus').length, 0);
    assert.equal(scene.harness.east.object(configMaps, AT)?.['status'], undefined);
  });

  it('shows what may pass by itself from its third time on', async () => {
    const scene = new Described();
    scene.harness.east.create(configMaps, AT, { data: {} });
    scene.plan = () => {
      throw new TransientError('elsewhere', 'another service did not answer');
    };
    await scene.deliver();
    const counts = [];
    for (let attempt = 2; attempt <= 4; attempt += 1) {
      await scene.harness.redeliver();
      counts.push(scene.events().length);
    }
    assert.deepEqual(counts, [0, 1, 1]);
  });
});
