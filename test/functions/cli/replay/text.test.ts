import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { jsonLine, reasonText } from '../../../../functions/cli/replay/text.ts';

const TEXTS = { settled: 'reconciled since' };

describe('reasonText', () => {
  it('says what a reason means, by the first that knows it', () => {
    assert.equal(reasonText('settled', {}, TEXTS, { settled: 'another' }), 'reconciled since');
  });

  for (const [reason, shown] of [
    ['constructor', 'constructor'],
    ['__proto__', '__proto__'],
    ['\u001b[2J', '\ufffd[2J'],
  ] as const)
    it(`shows ${JSON.stringify(reason)}, which nobody knows, as a text`, () => assert.equal(reasonText(reason, TEXTS), shown));
});

describe('jsonLine', () => {
  const HARMFUL = /[\p{Cc}\p{Cf}\p{Co}\u2028\u2029]/u;

  it('has nothing that moves a cursor or hides text, of one code unit or two', () => {
    assert.equal(jsonLine({ uid: '\u009b2J\u{e0041}' }), '{"uid":"\\u009b2J\\udb40\\udc41"}');
  });

  it('is the same value for who parses it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (value) => {
        const line = jsonLine(value);
        assert.doesNotMatch(line, HARMFUL);
        assert.deepEqual(JSON.parse(line), value);
      }),
      { numRuns: 200 },
    );
  });
});
