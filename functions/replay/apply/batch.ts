/**
 * At most ten objects, from the look right before to the deletion of their letters. The order is the whole point: the intent is on disk
 * before anything is sent, the results before anything is deleted; and nothing is deleted whose replacement was not accepted.
 */
import type { Clock } from '../../adapters/clock.ts';
import type { OutgoingMessage } from '../../adapters/queue-port.ts';
import type { Reconciler } from '../../core/reconciler.ts';
import { type ReplayInput, replayEnvelope } from '../../core/replay-envelope.ts';
import type { Target } from '../letter-record.ts';
import { kindFactsOf, reconcilerFor } from '../read-objects.ts';
import { judgeLetters, type Reading, verdictWithoutObject } from '../verdict.ts';
import type { AuditLine, Replay } from './audit-line.ts';
import type { ApplyOptions, AuditPort, Place } from './contract.ts';
import { decide } from './decide.ts';
import { sendBatch } from './deliver.ts';
import type { Look, Sent } from './follow.ts';
import type { Item, ItemState } from './items.ts';
import { sightOf } from './judge.ts';

/** Objects of a batch; as many as SQS takes at once. */
export const BATCH_MAX = 10;

/** What a batch asks of the apply that it belongs to. */
export interface BatchDesk {
  readonly options: Pick<ApplyOptions, 'clock' | 'sender' | 'bulkQueueUrl' | 'settings' | 'stop'>;
  readonly audit: Pick<AuditPort, 'append'>;
  readonly reconcilers: readonly Reconciler[];
  /** @throws the signal's reason once the apply is to stop */
  look(target: Target): Promise<Look>;
  isDown(cluster: string): boolean;
  /** Those of the letters that nobody else can receive for as long as a batch takes. */
  heldOf(messageIds: readonly string[]): Promise<string[]>;
  nextBatch(): number;
  /** Deletes letters, and writes down which. */
  remove(batch: number, messageIds: readonly string[]): Promise<void>;
  /** Ends, or puts back (`waiting`), what a batch had taken; `retry` where it is to have another turn. */
  settle(item: Item, state: ItemState, turn: 'over' | 'retry'): void;
  onSent(sent: Sent, letterCount: number): void;
}

/** What is to be done with an item, and with which of its letters. */
type Step =
  | {
      readonly kind: 'acknowledge';
      readonly item: Item;
      readonly letters: readonly string[];
      readonly state: ItemState & { kind: 'acknowledged' };
    }
  | {
      readonly kind: 'send';
      readonly item: Item;
      readonly letters: readonly string[];
      readonly sent: Sent;
      readonly body: string;
      readonly reason: string;
    };

/** Carries out a batch. @returns how many messages were to be sent, and how many were accepted @throws what ends the apply */
export async function runBatch(desk: BatchDesk, items: readonly Item[]): Promise<{ readonly tried: number; readonly accepted: number }> {
  const { clock } = desk.options;
  for (const item of items) item.state = { kind: 'acting' };
  const looks = await lookAtAll(desk, items);
  if (looks === undefined) {
    for (const item of items) desk.settle(item, { kind: 'waiting' }, 'retry');
    return { tried: 0, accepted: 0 };
  }
  const steps: Step[] = [];
  for (const [at, item] of items.entries()) {
    const step = await stepOf(desk, item, looks[at]);
    if (step !== undefined) steps.push(step);
  }
  if (steps.length === 0) return { tried: 0, accepted: 0 };
  const batch = desk.nextBatch();
  await desk.audit.append(
    steps.map((step) => intentOf(step, batch, clock)),
    'synced',
  );
  const sends = steps.filter((step) => step.kind === 'send');
  const accepted = await sendAll(desk, batch, sends);
  const done = steps.flatMap((step) => (step.kind === 'acknowledge' || accepted.has(step) ? step.letters : []));
  for (const step of steps) if (step.kind === 'acknowledge') desk.settle(step.item, step.state, 'over');
  if (done.length > 0) await desk.remove(batch, done);
  return { tried: sends.length, accepted: accepted.size };
}

/** Undefined where it was stopped. */
async function lookAtAll(desk: BatchDesk, items: readonly Item[]): Promise<(Look | undefined)[] | undefined> {
  const ends = await Promise.allSettled(items.map(async ({ target }) => (target === undefined ? undefined : desk.look(target))));
  if (desk.options.stop.aborted) return undefined;
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}

async function stepOf(desk: BatchDesk, item: Item, look: Look | undefined): Promise<Step | undefined> {
  const { target } = item;
  if (look !== undefined && look.kind !== 'read') {
    const isOver = look.kind === 'failed' || target === undefined || desk.isDown(target.cluster);
    desk.settle(item, isOver ? { kind: 'left', reason: look.code } : { kind: 'waiting' }, isOver ? 'over' : 'retry');
    return undefined;
  }
  const letters = await desk.heldOf(item.usable);
  if (letters.length === 0) {
    desk.settle(item, { kind: 'waiting' }, 'over'); // until a letter of it comes again
    return undefined;
  }
  const reading: Reading = look === undefined ? { kind: 'absent' } : look.reading;
  const kindFacts = kindFactsOf(target === undefined ? undefined : reconcilerFor(target, desk.reconcilers));
  const records = letters.map((messageId) => item.received.get(messageId)?.record);
  const [first] = records;
  const fresh = (first && verdictWithoutObject(first)) ?? judgeLetters(item.facts(), reading, kindFacts);
  const decision = decide(item.planned, fresh, { replays: item.replays, again: desk.options.settings.again });
  const { reason } = decision;
  switch (decision.kind) {
    case 'leave':
      desk.settle(item, { kind: 'left', reason }, 'over');
      return undefined;
    case 'acknowledge':
      return { kind: 'acknowledge', item, letters, state: { kind: 'acknowledged', reason, reading, kindFacts } };
    case 'send': {
      const step = sendStep(desk, { item, letters, reason, look });
      if (step === undefined) desk.settle(item, { kind: 'left', reason: 'too-large' }, 'over');
      return step;
    }
  }
}

/** Undefined for what cannot be sent. @throws TypeError for an item whose letters are no envelopes, which no verdict says `to-replay` of */
function sendStep(
  desk: BatchDesk,
  given: { item: Item; letters: readonly string[]; reason: string; look: Look | undefined },
): Step | undefined {
  const { item, letters, reason, look } = given;
  const { newest, target, place } = item;
  if (newest === undefined || target === undefined || place === undefined || look?.kind !== 'read')
    throw new TypeError('a letter that is about no object cannot be replayed');
  const { clock, settings } = desk.options;
  const { reading, object } = look;
  const of = letters.includes(newest.messageId) ? newest.messageId : (letters[0] as string);
  const input: ReplayInput = {
    ...{ letter: newest.envelope, resourceVersion: item.resourceVersion, uid: item.uid },
    found: reading.kind === 'found' ? reading.state : undefined,
    ...{ isFinalize: reason === 'finalize', replays: item.replays, of, by: settings.by, now: clock.now() },
    ...{ id: clock.uuid(), traceparent: clock.traceparent() },
  };
  const message = replayEnvelope(input);
  if (message === undefined) return undefined;
  const { envelope, body } = message;
  const sent: Sent = {
    ...{ envelope: envelope.id, object: place, target, uid: envelope.data.uid, replay: envelope.data.replay as Replay },
    ...{ before: sightOf(reading, object), isEarlier: false },
    isDescribed: kindFactsOf(reconcilerFor(target, desk.reconcilers)).isDescribed,
  };
  return { kind: 'send', item, letters, sent, body, reason };
}

function intentOf(step: Step, batch: number, clock: Clock): AuditLine {
  const at = clock.now().toISOString();
  const { letters, item } = step;
  const { place } = item;
  if (step.kind === 'acknowledge') {
    const object: { object?: Place } = place === undefined ? {} : { object: place };
    return { kind: 'acknowledge', at, batch, ...object, letters, reason: step.state.reason };
  }
  const { envelope, object, uid, replay, before } = step.sent;
  const whose: { uid?: string } = uid === undefined ? {} : { uid };
  return { kind: 'intent', at, batch, envelope, object, ...whose, letters, replay, before, reason: step.reason };
}

type SendStep = Extract<Step, { kind: 'send' }>;

async function sendAll(desk: BatchDesk, batch: number, steps: readonly SendStep[]): Promise<ReadonlySet<Step>> {
  const accepted = new Set<Step>();
  if (steps.length === 0) return accepted;
  const { sender, bulkQueueUrl: url, clock, stop } = desk.options;
  const messages = steps.map(({ body, sent }): OutgoingMessage => ({ body, delaySeconds: 0, groupId: sent.target.cluster }));
  await sendBatch(messages, {
    ...{ sender, url, clock, stop },
    async onResults(results) {
      const at = clock.now().toISOString();
      const lines = results.map(({ place, result }): AuditLine => {
        const { envelope } = (steps[place] as SendStep).sent;
        const code = result.kind === 'sent' ? {} : { code: result.code };
        return { kind: 'result', at, batch, envelope, result: result.kind, ...code };
      });
      await desk.audit.append(lines, 'synced');
      for (const { place, result } of results) {
        const step = steps[place] as SendStep;
        const { item, sent } = step;
        if (result.kind !== 'sent') {
          desk.settle(item, { kind: 'left', reason: result.kind === 'refused' ? 'refused' : 'not-accepted' }, 'over');
          continue;
        }
        accepted.add(step);
        desk.settle(item, { kind: 'sent', envelope: sent.envelope, uid: sent.uid, of: sent.replay.of, isEarlier: false }, 'over');
        desk.onSent(sent, step.letters.length);
      }
    },
  });
  return accepted;
}
