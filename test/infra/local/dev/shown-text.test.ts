import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createPaint, cut, oneLineOf, pad, shownLines, widthOf, wrap } from '../../../../infra/local/dev/shown-text.ts';

describe('text for a terminal', () => {
  for (const [what, text, lines] of [
    ['keeps its lines', 'a\nb\n', ['a', 'b']],
    ['loses colours and titles that somebody wrote into it', '\u001b[31mred\u001b[0m \u001b]0;title\u0007x', ['red x']],
    ['loses what moves the cursor', 'a\rb\tc\u0007\u009bd', ['a b c d']],
    ['loses marks that turn its direction', 'a\u202eb\u2066c', ['a b c']],
    ['has no empty lines', '\n\n a \n \n', [' a']],
  ] as const) {
    it(what, () => assert.deepEqual(shownLines(text), lines));
  }

  it('is joined where there is one line', () => assert.equal(oneLineOf('one\n  two\r\nthree'), 'one   two three'));

  for (const [text, width, position, cutText] of [
    ['acme', 4, 'end', 'acme'],
    ['acmes', 4, 'end', 'acm…'],
    ['east/Tenant/acme', 9, 'middle', 'east…acme'],
    ['日本語', 4, 'end', '日…'],
    ['日本語', 5, 'end', '日本…'],
    ['e\u0301e\u0301e\u0301', 2, 'end', 'e\u0301…'],
    ['acme', 0, 'end', ''],
  ] as const) {
    it(`of ${text} cut to ${width} is ${cutText}`, () => assert.equal(cut(text, width, position), cutText));
  }

  it('is never wider than it was cut or wrapped to', () => {
    const word = fc.string({ unit: 'grapheme', maxLength: 30 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), fc.integer({ min: 2, max: 30 }), (words, width) => {
        const text = oneLineOf(words.join(' '));
        assert.ok(widthOf(cut(text, width)) <= width);
        for (const line of wrap(text, width)) assert.ok(widthOf(line) <= width, JSON.stringify(line));
      }),
    );
  });

  it('is filled up by columns, on either side', () => {
    assert.deepEqual([pad('日', 4), pad('7', 3, 'right'), pad('long', 2)], ['日  ', '  7', 'long']);
  });

  it('is broken between words, and inside one that is too wide', () => {
    assert.deepEqual(wrap('one two three', 8), ['one two', 'three']);
    assert.deepEqual(wrap('/a/very/long/path', 6), ['/a/ver', 'y/long', '/path']);
  });

  it('is cut where one character is wider than the line', () => {
    for (const line of wrap('a 𝅘𝅥𝅮 b', 2)) assert.ok(widthOf(line) <= 2, line);
  });

  it('shows that lines are left out', () => assert.deepEqual(wrap('one two three four', 5, 2), ['one', 'two …']));

  it('has colour only where it is asked for', () => {
    assert.equal(createPaint(false)('red', 'x'), 'x');
    assert.equal(createPaint(true)('red', 'x'), '\u001b[31mx\u001b[39m');
    assert.equal(createPaint(true)(undefined, 'x'), 'x');
  });
});
