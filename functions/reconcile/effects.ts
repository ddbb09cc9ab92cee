/** From a disposition to what is sent. Everything is sent first and acknowledged only once SQS has it. */
import { buildEnvelope, type EnvelopeData } from '../../events/envelope.ts';
import type { Clock } from '../adapters/clock.ts';
import type { OutgoingMessage, Queue, SendResult } from '../adapters/queue-port.ts';
import type { Log } from '../adapters/telemetry.ts';
import { deadLetter, foreignLetter } from '../core/dead-letter.ts';
import { type Disposition, wake } from '../core/disposition.ts';
import { encodeExtended } from '../core/fit-envelope.ts';
import { nextEnvelopeData, type RunFacts, wakeUpData } from '../core/next-envelope.ts';
import { queueNameOf } from '../core/settings.ts';
import { untilAborted } from './abort.ts';
import type { ForeignRecord, NewerRecord, QueueUrls } from './record.ts';
import type { Decided } from './show.ts';
import { lostWakeUps } from './wake.ts';

export interface EffectDependencies {
  /** Loaded when the first send needs it: most invocations send nothing. */
  readonly queue: () => Promise<Queue>;
  readonly queueUrls: QueueUrls & { readonly deadLetter: string };
  readonly clock: Clock;
  readonly log: Log;
  /** Which release decided; stands in dead letters. */
  readonly functionVersion: string;
}

/** What a disposition asks for: acknowledge, fail the item, or send all of these and then acknowledge. */
export type Effect =
  | { readonly kind: 'acknowledge' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'send'; readonly messages: readonly AddressedMessage[] };

interface AddressedMessage {
  readonly queueUrl: string;
  readonly message: OutgoingMessage;
}

/** Fair queue group of a message whose cluster cannot be read. */
const NO_CLUSTER_GROUP = 'unknown';

/** The one effect for all records of a run. */
export function effectOfRun({ run, report, disposition }: Decided, dependencies: EffectDependencies): Effect {
  const { queueUrls, clock, functionVersion } = dependencies;
  const now = clock.now();
  const seen = report.context?.object.metadata;
  const { wrote, isPositionLost } = report;
  const { lane, redelivered } = run;
  const facts: RunFacts = { now, lane, wrote, redelivered, isPositionLost, ...(seen === undefined ? {} : { seen }) };
  const bodyOf = (data: EnvelopeData): string =>
    encodeExtended(buildEnvelope(data, { id: clock.uuid(), now, traceparent: run.traceparent }), run.extensions);
  const wakeUps = lostWakeUps({ run, report }, now).map((notBefore) => {
    const { delaySeconds } = wake(notBefore, 1, now);
    return sendTo(queueUrls.live, bodyOf(wakeUpData(run.data, report.outcome, notBefore, facts)), delaySeconds, run.key.cluster);
  });
  switch (disposition.kind) {
    case 'done':
      return wakeUps.length === 0 ? { kind: 'acknowledge' } : { kind: 'send', messages: wakeUps };
    case 'fail-item':
      return { kind: 'fail' };
    case 'requeue': {
      const data = nextEnvelopeData(run.data, report.outcome, disposition, facts);
      const next = sendTo(queueUrls[data.lane ?? run.lane], bodyOf(data), disposition.delaySeconds, run.key.cluster);
      return { kind: 'send', messages: [next, ...wakeUps] };
    }
    case 'dead-letter': {
      const letter = deadLetter({
        data: run.data,
        failure: disposition.failure,
        now,
        functionVersion,
        generationSeen: seen?.generation,
        lane: run.lane,
        wrote: report.wrote,
      });
      const last = sendTo(queueUrls.deadLetter, bodyOf(letter.data), 0, run.key.cluster, letter.attributes);
      return { kind: 'send', messages: [last, ...wakeUps] };
    }
  }
}

/** A message of a newer release keeps its body: what it says is not for us to write anew. */
export function effectOfNewer(record: NewerRecord, disposition: Disposition, dependencies: EffectDependencies): Effect {
  const { queueUrls, clock, functionVersion } = dependencies;
  const { body, lane } = record.receipt;
  const group = record.cluster ?? NO_CLUSTER_GROUP;
  switch (disposition.kind) {
    case 'done':
      return { kind: 'acknowledge' };
    case 'fail-item':
      return { kind: 'fail' };
    case 'requeue':
      return { kind: 'send', messages: [sendTo(queueUrls[lane], body, disposition.delaySeconds, group)] };
    case 'dead-letter': {
      const letter = foreignLetter({ body, code: 'newer-type', reason: disposition.failure.message, now: clock.now(), functionVersion });
      return { kind: 'send', messages: [sendTo(queueUrls.deadLetter, letter.body, 0, group, letter.attributes)] };
    }
  }
}

/** A body that is no envelope goes to the dead letters as it came: it will not become one by being read again. */
export function effectOfForeign(record: ForeignRecord, dependencies: EffectDependencies): Effect {
  const { queueUrls, clock, functionVersion } = dependencies;
  const letter = foreignLetter({ body: record.receipt.body, reason: record.reason, now: clock.now(), functionVersion });
  return { kind: 'send', messages: [sendTo(queueUrls.deadLetter, letter.body, 0, NO_CLUSTER_GROUP, letter.attributes)] };
}

/**
 * True if the records may be acknowledged: nothing was to be sent, or SQS has accepted all of it. Never throws; whatever is in
 * doubt (also a send that the signal cut short) fails the item, which at worst makes second copies.
 */
export async function carryOut(effect: Effect, dependencies: EffectDependencies, signal: AbortSignal): Promise<boolean> {
  if (effect.kind !== 'send') return effect.kind === 'acknowledge';
  for (const message of effect.messages) if (!(await send(message, dependencies, signal))) return false;
  return true;
}

async function send(addressed: AddressedMessage, dependencies: EffectDependencies, signal: AbortSignal): Promise<boolean> {
  const { log } = dependencies;
  const facts = { queue: queueNameOf(addressed.queueUrl), cluster: addressed.message.groupId };
  try {
    const result = await sendNow(addressed, dependencies, signal);
    if (result?.kind === 'sent') return true;
    log.error('message not sent; its record is left in the queue', { ...facts, code: result?.code ?? 'no-result' });
  } catch (error) {
    log.error('message not sent; its record is left in the queue', { ...facts, code: 'send-failed', error });
  }
  return false;
}

/** What SQS said of the message; undefined where it said nothing of it. @throws the signal's reason, or why there is no queue to send to */
export async function sendNow(
  { queueUrl, message }: AddressedMessage,
  dependencies: Pick<EffectDependencies, 'queue'>,
  signal: AbortSignal,
): Promise<SendResult | undefined> {
  const queue = await untilAborted(signal, dependencies.queue());
  const [result] = await untilAborted(signal, queue.send(queueUrl, [message], { signal }));
  return result;
}

function sendTo(
  queueUrl: string,
  body: string,
  delaySeconds: number,
  groupId: string,
  attributes?: Readonly<Record<string, string>>,
): AddressedMessage {
  return { queueUrl, message: { body, delaySeconds, groupId, ...(attributes === undefined ? {} : { attributes }) } };
}
