import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { buildEnvelope, byteSize, decodeEnvelope, type EnvelopeData, encodeEnvelope, HISTORY_MAX } from '../../../events/envelope.ts';
import { type DeadLetterInput, deadLetter, foreignLetter } from '../../../functions/core/dead-letter.ts';
import { after, exampleData, NOON } from './example-data.ts';

function input(overrides: Partial<DeadLetterInput> = {}): DeadLetterInput {
  return {
    data: exampleData(),
    failure: { code: 'invalid', errorClass: 'TerminalError', message: 'spec.quota: must be set', httpStatus: 422, httpReason: 'Invalid' },
    now: after(60),
    functionVersion: '7',
    generationSeen: 3,
    lane: 'live',
    wrote: false,
    ...overrides,
  };
}
function encode(data: EnvelopeData): string {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  return encodeEnvelope(buildEnvelope(data, { id: '2f1c0f8e-4b1a-4a53-9d58-000000000000', now: after(60), traceparent }));
}
// What SQS takes in a body or an attribute: SendMessage, the list of allowed Unicode characters.
const FOR_SQS = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+$/u;

describe('deadLetter', () => {
  it('is the message with a diagnosis that explains it', () => {
    const history = [{ attempt: 1, at: NOON, code: 'server-error' }];
    const { data } = deadLetter(input({ data: exampleData({ attempt: 2, reason: 'retry', history, failures: { transient: 1 } }) }));
    assert.deepEqual(data, {
      ...exampleData({ attempt: 2, reason: 'retry', lane: 'live' }),
      diagnosis: {
        code: 'invalid',
        errorClass: 'TerminalError',
        httpStatus: 422,
        httpReason: 'Invalid',
        message: 'spec.quota: must be set',
        attempts: [...history, { attempt: 2, at: '2026-03-01T12:01:00.000Z', code: 'invalid' }],
        generationSeen: 3,
        functionVersion: '7',
        firstSeenAt: NOON,
        deadLetteredAt: '2026-03-01T12:01:00.000Z',
      },
    });
  });

  for (const { mustRun, wrote } of [
    { mustRun: false, wrote: false },
    { mustRun: false, wrote: true },
    { mustRun: true, wrote: false },
  ]) {
    it(`must run ${mustRun || wrote ? '' : 'not '}after a redrive where the message ${mustRun ? 'had to' : 'had not to'} and the run ${wrote ? 'wrote' : 'did not write'}`, () => {
      assert.equal(deadLetter(input({ data: exampleData({ mustRun }), wrote })).data.mustRun, mustRun || wrote);
    });
  }

  it('is read as a message again after a redrive', () => {
    const { data } = deadLetter(input());
    const decoded = decodeEnvelope(encode(data));
    assert.deepEqual(decoded.kind === 'reconcile' && decoded.envelope.data, data);
  });

  it('has attributes to filter by', () => {
    assert.deepEqual(deadLetter(input({ data: exampleData({ namespace: 'team-a' }) })).attributes, {
      ...{ cluster: 'east', kind: 'Tenant', namespace: 'team-a', name: 't', code: 'invalid', generation: '3' },
    });
  });

  it('leaves out what there is not: namespace, generation, HTTP status', () => {
    const { generation: _none, ...data } = exampleData();
    const failure = { code: 'child-not-owned', errorClass: 'TerminalError', message: 'text' };
    const letter = deadLetter(input({ data, failure, generationSeen: undefined }));
    assert.deepEqual(Object.keys(letter.attributes), ['cluster', 'kind', 'name', 'code']);
    assert.equal('httpStatus' in (letter.data.diagnosis ?? {}), false);
    assert.equal('generationSeen' in (letter.data.diagnosis ?? {}), false);
  });

  it('names the generation of the message where the run read none', () => {
    assert.equal(deadLetter(input({ generationSeen: undefined })).attributes['generation'], '2');
  });

  it('keeps the lane that a letter already had', () => {
    assert.equal(deadLetter(input({ data: exampleData({ lane: 'bulk' }), lane: undefined })).data.lane, 'bulk');
  });

  it('cuts the message before it forgets an attempt, and both before an unknown field', () => {
    const failure = { code: 'invalid', errorClass: 'TerminalError', message: '\u0001'.repeat(512) };
    const history = Array.from({ length: 9 }, (_, at) => ({ attempt: at + 1, at: NOON, code: 'server-error' }));
    const letter = deadLetter(input({ data: exampleData({ history, ['of-a-newer-release']: 'kept' }), failure })).data;
    assert.equal(letter.diagnosis?.message.length, 256);
    assert.equal(letter.diagnosis?.attempts.length, HISTORY_MAX);
    const crowded = deadLetter(input({ data: exampleData({ history, ['of-a-newer-release']: 'x'.repeat(2500) }), failure })).data;
    assert.equal(crowded.diagnosis?.attempts.length, 3);
    assert.equal('of-a-newer-release' in crowded, false);
    encode(crowded);
  });

  it('fits, whatever the message, the history and unknown fields say, for names as long as they can be', () => {
    const text = fc.string({ unit: 'binary', maxLength: 3000 });
    const failedAttempt = fc.record({ attempt: fc.integer({ min: 1, max: 1e6 }), at: fc.constant(NOON), code: text });
    const given = fc.record({ message: text, code: text, errorClass: text, reason: text, unknown: text, history: fc.array(failedAttempt) });
    fc.assert(
      fc.property(given, fc.boolean(), ({ message, code, errorClass, reason, unknown, history }, isLong) => {
        const long = {
          name: 'n'.repeat(253),
          namespace: 's'.repeat(63),
          group: 'g'.repeat(253),
          kind: 'K'.repeat(63),
          plural: 'p'.repeat(63),
        };
        const data = exampleData({ history, unknown, replay: { count: 1, of: unknown, by: message, at: NOON }, ...(isLong ? long : {}) });
        const failure = { code, errorClass, message, httpStatus: 500, httpReason: reason };
        const letter = deadLetter(input({ data, failure, functionVersion: unknown }));
        const decoded = decodeEnvelope(encode(letter.data));
        assert.ok(decoded.kind === 'reconcile' && decoded.envelope.data.name === data.name);
        assert.ok(decoded.envelope.data.diagnosis !== undefined);
        for (const value of Object.values(letter.attributes)) assert.match(value, FOR_SQS);
      }),
    );
  });
});

describe('foreignLetter', () => {
  const about = { now: after(0), functionVersion: '7' };

  it('keeps the body as it came and says in attributes what is wrong with it', () => {
    assert.deepEqual(foreignLetter({ body: '{"hello":1}', reason: 'body has no CloudEvents type', ...about }), {
      body: '{"hello":1}',
      attributes: { code: 'bad-envelope', reason: 'body has no CloudEvents type', deadLetteredAt: NOON, functionVersion: '7' },
    });
  });

  it('tells a type that waited too long for a newer function from a foreign body', () => {
    assert.equal(foreignLetter({ body: '{}', code: 'newer-type', reason: 'r', ...about }).attributes['code'], 'newer-type');
  });

  it('goes without attributes where the body leaves them no room', () => {
    const full = 'ä'.repeat(1_048_576 / 2);
    assert.deepEqual(foreignLetter({ body: full, reason: 'body is not JSON', ...about }), { body: full, attributes: {} });
    const roomy = foreignLetter({ body: 'x'.repeat(1_048_000), reason: 'body is not JSON', ...about });
    assert.equal(Object.keys(roomy.attributes).length, 4);
  });

  it('has attributes that SQS takes, whatever the reason, within one message', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (reason) => {
        const { attributes } = foreignLetter({ body: 'x', reason, ...about });
        for (const value of Object.values(attributes)) assert.match(value, FOR_SQS);
        assert.ok(byteSize(Object.values(attributes).join('')) < 2000);
      }),
    );
  });
});
