/**
 * Records of one object become one run: the object is read once, written once, and one disposition with one re-send
 * stands for all of them.
 */
import { type Envelope, type EnvelopeData, type FailedAttempt, HISTORY_MAX, type Lane, type Reason } from '../../events/envelope.ts';
import { clusterName, formatResourceKey, type ResourceKey } from '../../events/resource.ts';
import { compareResourceVersions } from '../../events/resource-version.ts';
import type { WorkRecord } from './record.ts';

/** What one run of one object has to know of the records that asked for it. */
export interface ObjectRun {
  readonly key: ResourceKey;
  readonly messageIds: readonly string[];
  /** The records as one: see {@link foldRecords}. `mustRun` is true as well when one of them was redelivered. */
  readonly data: EnvelopeData;
  /** Every reason among the records; `data.reason` is the one that leads. */
  readonly reasons: ReadonlySet<Reason>;
  /** The times that the wake-ups among the records came for, in Unix milliseconds. */
  readonly cameFor: readonly (number | undefined)[];
  readonly lane: Lane;
  /** At least one record was received more than once: a run that died may have written more than the envelopes know. */
  readonly redelivered: boolean;
  readonly traceparent: string | undefined;
  /** Attributes of the envelopes that this release does not know, the newest of each. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

/**
 * One run an object, in the order of each object's first record. Of several records the newest resourceVersion counts, a
 * deletion leads over all other reasons, a retry over none; mustRun and redelivery by OR, the live lane over the bulk one;
 * fields that this release does not know come from the newest. The budget is that of the newest generation, since each
 * generation has its own: of its records the earliest firstSeenAt and the smallest attempt, with their failures and history.
 *
 * A record that is not due yet is never folded into one that is: it would be acknowledged with that run, and what it
 * waits for would be lost.
 *
 * @param isApart  true for a kind whose objects are told apart by uid: what one of them left outside is not its successor's
 */
export function foldRecords(
  records: readonly WorkRecord[],
  now: Date,
  isApart: (data: EnvelopeData) => boolean = () => false,
): ObjectRun[] {
  const groups = new Map<string, WorkRecord[]>();
  for (const [index, record] of records.entries()) {
    const { data } = record.envelope;
    const waits = notBeforeOf(data) > now.getTime();
    const group = waits ? `${index}` : `${formatResourceKey(keyOf(data))} ${isApart(data) ? (data.uid ?? '') : ''}`;
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [record]);
    else members.push(record);
  }
  return [...groups.values()].map(foldGroup);
}

/** The identity that an envelope names. */
function keyOf(data: EnvelopeData): ResourceKey {
  const key = { cluster: clusterName(data.cluster), group: data.group, kind: data.kind, name: data.name };
  return data.namespace === undefined ? key : { ...key, namespace: data.namespace };
}

/** When a record may be worked on, in Unix milliseconds; 0 where it says nothing. */
export function notBeforeOf(data: EnvelopeData): number {
  return data.notBefore === undefined ? 0 : Date.parse(data.notBefore);
}

function foldGroup(records: readonly WorkRecord[]): ObjectRun {
  const oldestFirst = records.map((record) => record.envelope).sort(byAge);
  const newest = oldestFirst.at(-1) as Envelope;
  const all = oldestFirst.map((envelope) => envelope.data);
  const ofBudget = ofNewestGeneration(all, newest.data);
  const first = ofBudget.reduce((a, b) => (Date.parse(b.firstSeenAt) < Date.parse(a.firstSeenAt) ? b : a));
  const redelivered = records.some((record) => record.receipt.redelivered);
  const history = foldHistory(ofBudget);
  const counted = ofBudget.findLast((one) => one.failures !== undefined);
  const data: EnvelopeData = {
    ...withoutEvidenceAndBudget(Object.assign({}, ...all)),
    reason: leadingReason(all),
    mustRun: redelivered || all.some((one) => one.mustRun),
    attempt: Math.min(...ofBudget.map((one) => one.attempt)),
    firstSeenAt: first.firstSeenAt,
    ...pick(newest.data, 'uid', 'resourceVersion', 'generation', 'notBefore'),
    ...pick(first, 'heldSeconds'),
    ...(counted === undefined ? {} : pick(counted, 'failures')),
    ...(history.length === 0 ? {} : { history }),
  };
  return {
    key: keyOf(newest.data),
    messageIds: records.map((record) => record.receipt.messageId),
    data,
    reasons: new Set(all.map((one) => one.reason)),
    cameFor: all.filter(({ reason }) => reason === 'requeue').map((one) => notBeforeOf(one) || undefined),
    lane: records.some((record) => record.receipt.lane === 'live') ? 'live' : 'bulk',
    redelivered,
    traceparent: oldestFirst.findLast((envelope) => envelope.traceparent !== undefined)?.traceparent,
    extensions: Object.assign({}, ...oldestFirst.map(extensionsOf)),
  };
}

/**
 * The records that are about the newest generation of the object that is there. One without a uid or without a generation may
 * be, so it counts.
 */
function ofNewestGeneration(all: readonly EnvelopeData[], newest: EnvelopeData): readonly EnvelopeData[] {
  const same = all.filter(({ uid = newest.uid }) => newest.uid === undefined || uid === newest.uid);
  const latest = Math.max(...same.map(({ generation = 0 }) => generation));
  return same.filter(({ generation = latest }) => generation === latest);
}

function extensionsOf({ specversion: _v, id: _id, type: _type, source: _source, subject: _subject, ...rest }: Envelope): object {
  const { time: _time, traceparent: _trace, data: _data, ...extensions } = rest;
  return extensions;
}

/** Fields that belong together and must come from one record, or would make up an object or a history that never was. */
function withoutEvidenceAndBudget(merged: EnvelopeData): EnvelopeData {
  const { uid: _uid, resourceVersion: _rv, generation: _generation, notBefore: _notBefore, ...others } = merged;
  const { heldSeconds: _held, failures: _failures, history: _history, ...rest } = others;
  return rest as EnvelopeData;
}

function pick(data: EnvelopeData, ...fields: (keyof EnvelopeData)[]): Partial<EnvelopeData> {
  return Object.fromEntries(fields.filter((field) => data[field] !== undefined).map((field) => [field, data[field]]));
}

/** A resourceVersion that is absent counts as the oldest; where two cannot be ordered, the later one in the batch is newer. */
function byAge(a: Envelope, b: Envelope): number {
  const [left, right] = [a.data.resourceVersion, b.data.resourceVersion];
  if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined);
  return compareResourceVersions(left, right) ?? 0;
}

function leadingReason(oldestFirst: readonly EnvelopeData[]): Reason {
  const newestFirst = oldestFirst.map((data) => data.reason).reverse();
  const deletion = newestFirst.find((reason) => reason === 'deleted') ?? newestFirst.find((reason) => reason === 'deleting');
  return deletion ?? newestFirst.find((reason) => reason !== 'retry') ?? 'retry';
}

/** What all of them remember of failed attempts, each once, oldest first. */
function foldHistory(all: readonly EnvelopeData[]): FailedAttempt[] {
  const byMoment = new Map<string, FailedAttempt>();
  for (const failed of all.flatMap((data) => data.history ?? [])) byMoment.set(`${failed.attempt} ${failed.at} ${failed.code}`, failed);
  return [...byMoment.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.attempt - b.attempt).slice(-HISTORY_MAX);
}
