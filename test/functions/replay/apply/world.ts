/** What an apply meets, as a model in virtual time: a dead-letter queue, a bulk queue whose messages are run, and objects in two clusters. */
import { buildEnvelope, type Envelope, type EnvelopeData, encodeEnvelope } from '../../../../events/envelope.ts';
import type { Queue, SendResult } from '../../../../functions/adapters/queue-port.ts';
import { deadLetter } from '../../../../functions/core/dead-letter.ts';
import type { Failure } from '../../../../functions/core/outcome.ts';
import type { KubernetesObject, Reconciler } from '../../../../functions/core/reconciler.ts';
import { queueClaim } from '../../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import type { PlanToApply } from '../../../../functions/replay/apply/contract.ts';
import { placeKey } from '../../../../functions/replay/apply/items.ts';
import { LetterReader, type LetterRecord, type Target } from '../../../../functions/replay/letter-record.ts';
import type { PlanItem } from '../../../../functions/replay/plan.ts';
import { kindFactsOf, readTarget, reconcilerFor } from '../../../../functions/replay/read-objects.ts';
import { judgeLetters, type Reading, type Verdict, verdictWithoutObject } from '../../../../functions/replay/verdict.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeCluster } from '../../../fakes/kubernetes-client.ts';
import { FakeLetterQueue } from '../../../fakes/letter-queue.ts';
import { envelopeOf } from '../../../fakes/queue.ts';
import type { Json } from '../../../fakes/server-side-apply.ts';
import { after, exampleData } from '../../core/example-data.ts';

export const RECONCILERS = [tenant, queueClaim] as unknown as readonly Reconciler[];
const TENANT = tenant.resource;
const CLAIM = queueClaim.resource;
/** From the acceptance of a message to the end of its run. */
const RUN_MS = 1_500;
const FAILURE = { code: 'child-not-owned', errorClass: 'TerminalError', message: 'not ours' } as Failure;

/**
 * What a run of a tenant comes to.
 * - `heals`: it is reconciled
 * - `fails`: it shows that it is not, and a letter comes back
 * - `fails-alike`: as before to the letter, so that nothing changes in its status; a letter comes back
 * - `hangs`: nothing is heard of it
 */
export type Behaviour = 'heals' | 'fails' | 'fails-alike' | 'hangs';

export class World {
  readonly clock = new FakeClock({ start: after(3600), randoms: [0.1, 0.7, 0.4, 0.9] });
  readonly letters = new FakeLetterQueue(this.clock);
  readonly clusters: ReadonlyMap<string, FakeCluster> = new Map(
    ['east', 'west'].map((name) => [name, new FakeCluster({ name, now: () => this.clock.now() })]),
  );
  readonly behaviours = new Map<string, Behaviour>();
  /** What the bulk queue took, in order. */
  readonly accepted: Envelope[] = [];
  /** Uids whose outside effects were undone. */
  readonly finalized: string[] = [];
  /** What becomes of a message, by its number from 1. */
  answer: (number: number, envelope: Envelope) => SendResult = () => ({ kind: 'sent' });
  #messageCount = 0;

  cluster(name = 'east'): FakeCluster {
    return this.clusters.get(name) as FakeCluster;
  }

  /** A tenant of generation 1. `settled` for it or not; given up where it is not. @returns its uid */
  tenant(name: string, { cluster = 'east', isSettled = false, behaviour = 'heals' as Behaviour, annotations = {} } = {}): string {
    const { metadata } = this.cluster(cluster).create(TENANT, { name }, { spec: { v: 1 }, metadata: { annotations } });
    this.behaviours.set(name, behaviour);
    if (isSettled) this.show(name, cluster, 'settled');
    else this.show(name, cluster, 'failed');
    return metadata.uid;
  }

  show(name: string, cluster: string, what: 'settled' | 'failed', message = 'not ours'): void {
    this.cluster(cluster).edit(TENANT, { name }, (draft) => {
      const { generation } = draft['metadata'] as { generation: number };
      const old = (draft['status'] ?? {}) as Json;
      const lastTransitionTime = after(30).toISOString();
      const condition = (type: string, status: string, reason: string) => ({
        type,
        status,
        reason,
        message,
        lastTransitionTime,
        observedGeneration: generation,
      });
      draft['status'] =
        what === 'settled'
          ? { observedGeneration: generation, conditions: [{ ...condition('Ready', 'True', 'Reconciled'), message: '' }] }
          : { ...old, conditions: [condition('Ready', 'False', 'ChildNotOwned'), condition('Stalled', 'True', 'DeadLettered')] };
    });
  }

  object(name: string, cluster = 'east'): KubernetesObject | undefined {
    return this.cluster(cluster).object(TENANT, { name });
  }

  delete(name: string, cluster = 'east'): void {
    this.cluster(cluster).delete(TENANT, { name });
  }

  /** A letter that the function wrote a minute after noon. @returns its message id */
  letter(name: string, over: Partial<EnvelopeData> = {}): string {
    const { cluster = 'east' } = over;
    const uid = this.object(name, cluster)?.metadata.uid;
    const base = exampleData({ cluster, name, ...(uid === undefined ? {} : { uid }), generation: 1, resourceVersion: '1000', ...over });
    return this.#letterOf(base, after(60));
  }

  /** A letter about a claim that is gone, whose queue nobody has deleted. */
  claimLetter(name: string, uid: string): string {
    const kind = { kind: 'QueueClaim', plural: 'queueclaims', namespace: 'team' };
    return this.#letterOf(exampleData({ ...kind, name, uid, reason: 'deleted', generation: 1 }), after(60));
  }

  #letterOf(data: EnvelopeData, now: Date): string {
    const { data: written } = deadLetter({ data, failure: FAILURE, now, functionVersion: '7', wrote: false });
    return this.letters.add(encodeEnvelope(buildEnvelope(written, { id: this.clock.uuid(), now })), { sentAtMs: now.getTime() });
  }

  /** The plan of all letters that are there now. */
  async plan(): Promise<PlanToApply> {
    const reader = new LetterReader();
    const records = this.letters.stored.map((stored) => reader.recordOf({ ...stored, receiptHandle: '' }));
    const groups = Map.groupBy(records, ({ messageId, target, uid }) => (target === undefined ? messageId : `${placeKey(target)} ${uid}`));
    const items = await Promise.all([...groups.values()].map((letters) => this.#itemOf(letters)));
    return { sha256: 'f'.repeat(64), madeAt: this.clock.now().toISOString(), items };
  }

  async #itemOf(letters: readonly LetterRecord[]): Promise<PlanItem> {
    const { target } = letters[0] as LetterRecord;
    const written = letters.map(({ messageId, code, uid, generation, reason, mustRun, replayCount, deadLetteredMs }) => ({
      ...{ messageId, code },
      ...(uid === undefined ? {} : { uid }),
      ...(generation === undefined ? {} : { generation }),
      ...(reason === undefined ? {} : { reason }),
      ...(mustRun ? { mustRun } : {}),
      ...(replayCount === 0 ? {} : { replays: replayCount }),
      ...(deadLetteredMs === undefined ? {} : { deadLetteredAt: new Date(deadLetteredMs).toISOString() }),
    }));
    const unread = verdictWithoutObject(letters[0] as LetterRecord);
    if (target === undefined || unread !== undefined) return { ...(unread as Verdict), letters: written };
    const { namespace, ...place } = target;
    const reading = await this.#read(target);
    const verdict = judgeLetters(letters, reading, kindFactsOf(reconcilerFor(target, RECONCILERS)));
    return { ...verdict, object: namespace === undefined ? place : { ...place, namespace }, letters: written };
  }

  async #read(target: Target): Promise<Reading> {
    const client = this.source.clientOf(target.cluster);
    if (typeof client === 'string') return { kind: 'untold', code: client };
    const signal = new AbortController().signal;
    const answer = await readTarget(client, target, { reconcilers: RECONCILERS, clock: this.clock, signal });
    return answer.kind === 'read' ? answer.reading : { kind: 'untold', code: answer.code };
  }

  readonly source = {
    clientOf: (cluster: string) => this.clusters.get(cluster)?.client ?? 'unknown-cluster',
    reconcilers: RECONCILERS,
  };

  readonly bulk: Pick<Queue, 'send'> = {
    send: async (_url, messages) => {
      await Promise.resolve();
      return messages.map((message) => {
        const envelope = envelopeOf(message);
        this.#messageCount += 1;
        const result = this.answer(this.#messageCount, envelope);
        if (result.kind === 'sent') this.run(envelope);
        return result;
      });
    },
  };

  /** Somebody asked for a run, we or another. */
  run(envelope: Envelope): void {
    this.accepted.push(envelope);
    void this.clock.sleep(RUN_MS).then(() => this.#run(envelope.data));
  }

  #run(data: EnvelopeData): void {
    const { name, cluster, kind, uid } = data;
    if (kind === CLAIM.kind) {
      if (uid !== undefined) this.finalized.push(uid);
      return;
    }
    const behaviour = this.behaviours.get(name) ?? 'heals';
    const object = this.object(name, cluster);
    if (object === undefined || object.metadata.annotations?.['dogwatch.dev/paused'] !== undefined) return;
    if (behaviour === 'heals') this.show(name, cluster, 'settled');
    if (behaviour === 'fails') this.show(name, cluster, 'failed', `not ours, as of ${this.clock.now().toISOString()}`);
    if (behaviour === 'fails' || behaviour === 'fails-alike') this.#letterOf({ ...data, uid: object.metadata.uid }, this.clock.now());
  }

  /** What is in the queue, as far as two ends can be compared: place and code of each letter, once. */
  left(): string[] {
    const reader = new LetterReader();
    const names = this.letters.stored.map((stored) => {
      const { target, code } = reader.recordOf({ ...stored, receiptHandle: '' });
      return `${target?.cluster ?? '-'}/${target?.name ?? '-'} ${code}`;
    });
    return [...new Set(names)].sort();
  }
}
