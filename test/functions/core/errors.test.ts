import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  ConfigError,
  ConflictError,
  cutText,
  DogwatchError,
  stackOf,
  TerminalError,
  TransientError,
} from '../../../functions/core/errors.ts';

describe('DogwatchError', () => {
  it('keeps code, facts and cause, and is named after its class', () => {
    const cause = new Error('socket hang up');
    for (const Class of [TransientError, ConflictError, TerminalError, ConfigError]) {
      const error = new Class('a-code', 'what happened', { cause, facts: { cluster: 'east' } });
      assert.ok(error instanceof DogwatchError);
      assert.equal(error.name, Class.name);
      assert.equal(error.code, 'a-code');
      assert.deepEqual(error.facts, { cluster: 'east' });
      assert.equal(error.cause, cause);
    }
  });

  it('has no cause where none was given', () => {
    assert.equal('cause' in new TransientError('a-code', 'what happened'), false);
  });
});

describe('cutText', () => {
  const cases: readonly [name: string, text: string, max: number, expected: string][] = [
    ['leaves a text that fits', 'abc', 3, 'abc'],
    ['ends a cut text in an ellipsis that counts', 'abcd', 3, 'ab…'],
    ['does not leave half of a surrogate pair', 'a😀bc', 3, 'a…'],
    ['keeps a whole surrogate pair', '😀bcd', 3, '😀…'],
    ['replaces half of a pair that the text came with', 'a\ud83d', 9, 'a\ufffd'],
    ['has room for the ellipsis alone', 'abc', 1, '…'],
    ['has room for nothing', 'abc', 0, ''],
  ];
  for (const [name, text, max, expected] of cases) {
    it(name, () => assert.equal(cutText(text, max), expected));
  }

  it('is never longer than its limit and always well formed (B29)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 20 }), (text, max) => {
        const cut = cutText(text, max);
        assert.ok(cut.length <= max);
        assert.ok(cut.isWellFormed());
      }),
    );
  });
});

describe('stackOf', () => {
  const thrower = (message: string): Error => new RangeError(message);

  it('is the frames without the message, also where that has lines that look like frames', () => {
    for (const message of ['', 'boom', 'two\n    at lines', '$& (.*)']) {
      const lines = stackOf(thrower(message))?.split('\n') ?? [];
      assert.match(lines[0] ?? '', /^at thrower .*errors\.test\.ts:\d+:\d+/);
      assert.ok(lines.every((line) => /^at .+/.test(line) && line !== 'at lines'));
    }
  });

  it('leaves the message out that the error had when it was made', () => {
    const error = thrower('before');
    error.message = 'after';
    assert.match(stackOf(error) ?? '', /^at thrower/);
  });

  it('has at most 2,000 characters', () => {
    const error = Object.assign(new Error('deep'), { stack: `Error: deep\n${'    at f (file.ts:1:1)\n'.repeat(200)}` });
    assert.equal(stackOf(error)?.length, 2_000);
  });

  it('is undefined for what has none, and never throws', () => {
    const trap = Object.defineProperty(new Error('m'), 'stack', {
      get() {
        throw new Error('no');
      },
    });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const thrown of ['text', null, undefined, {}, { stack: 7 }, { stack: 'no frames' }, trap, proxy])
      assert.equal(stackOf(thrown), undefined);
  });
});
