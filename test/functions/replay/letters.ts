/** Letters for tests: records as they are remembered, and messages as they are received. */
import { buildEnvelope, type EnvelopeData, encodeEnvelope } from '../../../events/envelope.ts';
import { deadLetter } from '../../../functions/core/dead-letter.ts';
import type { Failure } from '../../../functions/core/outcome.ts';
import type { LetterRecord, Target } from '../../../functions/replay/letter-record.ts';
import { after, exampleData, NOON } from '../core/example-data.ts';

export const TARGET: Target = {
  ...{ cluster: 'east', group: 'platform.example', version: 'v1', kind: 'Tenant', plural: 'tenants' },
  namespace: undefined,
  name: 't',
};

/** A letter of tenant `t` with uid `uid-1` and generation 2, seen at noon and given up a minute later. */
export function record(over: Partial<LetterRecord> = {}): LetterRecord {
  return {
    ...{ messageId: 'message-1', kind: 'diagnosed', code: 'invalid', target: TARGET, cluster: 'east', uid: 'uid-1', generation: 2 },
    ...{ reason: 'generation-changed', mustRun: false, replayCount: 0, firstSeenMs: Date.parse(NOON) },
    ...{ deadLetteredMs: after(60).getTime(), sentMs: after(60).getTime(), receiveCount: 1, why: undefined },
    ...over,
  };
}

/** The body of a message that SQS moved by itself. */
export function movedBody(over: Partial<EnvelopeData> = {}): string {
  return encodeEnvelope(buildEnvelope(exampleData(over), { id: 'id-1', now: after(0) }));
}

/** The body of a letter that the function wrote a minute after noon. */
export function letterBody(over: Partial<EnvelopeData> = {}, failure: Partial<Failure> = {}): string {
  const given = { code: 'invalid', errorClass: 'TerminalError', message: 'spec.quota: must be set', ...failure } as Failure;
  const { data } = deadLetter({ data: exampleData(over), failure: given, now: after(60), functionVersion: '7', wrote: false });
  return encodeEnvelope(buildEnvelope(data, { id: 'id-1', now: after(60) }));
}
