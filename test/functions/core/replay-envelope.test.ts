import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { buildEnvelope, byteSize, decodeEnvelope, ENVELOPE_MAX_BYTES, type EnvelopeData } from '../../../events/envelope.ts';
import { replayEnvelope as envelopeOrNone, type ReplayInput } from '../../../functions/core/replay-envelope.ts';
import { after, exampleData } from './example-data.ts';

const DIAGNOSIS = {
  ...{ code: 'invalid', errorClass: 'TerminalError', message: 'no', attempts: [], functionVersion: '7' },
  ...{ firstSeenAt: after(0).toISOString(), deadLetteredAt: after(60).toISOString() },
};

function input(data: Partial<EnvelopeData> = {}, over: Partial<ReplayInput> = {}): ReplayInput {
  const letter = buildEnvelope(exampleData({ diagnosis: DIAGNOSIS, ...data }), {
    id: 'old',
    now: after(60),
    traceparent: 'trace-of-letter',
  });
  return {
    ...{ letter, resourceVersion: undefined, uid: undefined, isFinalize: false, replays: 0, of: 'message-1', by: 'anna' },
    ...{ now: after(3600), id: 'new', traceparent: 'trace-of-its-own' },
    ...over,
  };
}

const replayEnvelope = (given: ReplayInput): NonNullable<ReturnType<typeof envelopeOrNone>> =>
  envelopeOrNone(given) ?? assert.fail('too large');
const dataOf = (data: Partial<EnvelopeData> = {}, over: Partial<ReplayInput> = {}): EnvelopeData =>
  replayEnvelope(input(data, over)).envelope.data;

describe('replayEnvelope', () => {
  it('begins a budget of its own, and says whose replay it is', () => {
    const spent = {
      ...{ attempt: 9, heldSeconds: 30, notBefore: after(10).toISOString(), lane: 'live' as const, failures: { transient: 3 } },
      history: [{ attempt: 8, at: after(50).toISOString(), code: 'invalid' }],
    };
    assert.deepEqual(dataOf(spent), {
      ...exampleData(),
      ...{ reason: 'replay', mustRun: true, attempt: 1, firstSeenAt: after(3600).toISOString() },
      replay: { count: 1, of: 'message-1', by: 'anna', at: after(3600).toISOString() },
    });
  });

  it('counts on from the most replayed of the letters', () => {
    assert.equal(dataOf({}, { replays: 2 }).replay?.count, 3);
  });

  it('keeps the trace of the letter, or begins one', () => {
    assert.equal(replayEnvelope(input()).envelope.traceparent, 'trace-of-letter');
    const { traceparent: _, ...untraced } = input().letter;
    assert.equal(replayEnvelope({ ...input(), letter: untraced as ReplayInput['letter'] }).envelope.traceparent, 'trace-of-its-own');
  });

  it('keeps what this release does not know, in the data and beside it', () => {
    const { letter } = input();
    const extended = { ...letter, newattribute: 'kept', data: { ...letter.data, newField: 'kept' } };
    const decoded = decodeEnvelope(replayEnvelope(input({}, { letter: extended })).body);
    assert.ok(decoded.kind === 'reconcile');
    assert.equal((decoded.envelope as unknown as Record<string, unknown>)['newattribute'], 'kept');
    assert.equal((decoded.envelope.data as Record<string, unknown>)['newField'], 'kept');
    assert.equal(decoded.envelope.id, 'new');
  });

  it('stays a deletion where its object is gone, with its uid', () => {
    const data = dataOf({ reason: 'deleted' }, { isFinalize: true });
    assert.deepEqual([data.reason, data.uid, data.mustRun], ['deleted', 'uid-1', true]);
  });

  const found = (uid: string, resourceVersion: string, generation?: number): Partial<ReplayInput> => ({
    found: { uid, resourceVersion, generation },
  });
  const rows: readonly [name: string, data: Partial<EnvelopeData>, over: Partial<ReplayInput>, wanted: readonly unknown[]][] = [
    ['nothing newer is known', {}, {}, ['uid-1', '100', 2]],
    ['the object has moved on', {}, found('uid-1', '200', 3), ['uid-1', '200', 3]],
    ['the object was restored from an older state', {}, found('uid-1', '50', 1), ['uid-1', '100', 2]],
    ['another object has the name', {}, found('uid-2', '200', 7), ['uid-1', '100', 2]],
    ['another letter knows a newer version', {}, { resourceVersion: '150' }, ['uid-1', '150', 2]],
    ['the letter has no uid', { uid: undefined }, found('uid-9', '200', 1), ['uid-9', '200', 2]],
    ['the letter has no uid, but another one has', { uid: undefined }, { uid: 'uid-1', ...found('uid-9', '200', 1) }, ['uid-1', '100', 2]],
    ['nobody knows anything', { uid: undefined, resourceVersion: undefined, generation: undefined }, {}, [undefined, undefined, undefined]],
  ];
  for (const [name, data, over, wanted] of rows) {
    it(`knows the newest where ${name}`, () => {
      const { uid, resourceVersion, generation } = dataOf(data, over);
      assert.deepEqual([uid, resourceVersion, generation], wanted);
    });
  }

  it('takes any count that a letter may have', () => {
    assert.equal(dataOf({}, { replays: Number.MAX_SAFE_INTEGER }).replay?.count, 1_000_000_000);
  });

  it('is none where the names alone are too long', () => {
    const name = '\uffff'.repeat(253);
    assert.equal(
      envelopeOrNone(input({ name, group: name, kind: name.slice(0, 63), namespace: name.slice(0, 63) }, { by: name })),
      undefined,
    );
  });

  it('always fits, and reads back as what it is', () => {
    const text = fc.string({ unit: 'binary', maxLength: 4000 });
    fc.assert(
      fc.property(text, text, text, fc.string({ unit: 'grapheme', maxLength: 253, minLength: 1 }), (by, of, extra, name) => {
        const place = { name: name.replace(/[/%]/g, '-').toWellFormed().slice(0, 253).toWellFormed() };
        if (place.name === '.' || place.name === '..') return;
        const { body } = replayEnvelope(input({ ...place, extra } as Partial<EnvelopeData>, { by, of }));
        assert.ok(byteSize(body) <= ENVELOPE_MAX_BYTES);
        assert.equal(decodeEnvelope(body).kind, 'reconcile');
      }),
      { numRuns: 100 },
    );
  });
});
