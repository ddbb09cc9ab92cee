import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filmOf } from '../../../../../../infra/local/dev/demo/recording/frames.ts';
import type { ShownScreen } from '../../../../../../infra/local/dev/demo/recording/screen-keeper.ts';
import { textOf } from '../../../../../../infra/local/dev/demo/recording/screen-lines.ts';

const screen = (atMs: number, ...texts: readonly string[]): ShownScreen => ({
  atMs,
  lines: texts.map((text) => (text === '' ? [] : [{ column: 0, text, isBold: false, isDim: false }])),
});
const film = (...screens: readonly ShownScreen[]): [text: string, showMs: number][] =>
  filmOf(screens, { leastMs: 400, mostMs: 2000, leastLines: 2, lastMs: 9000 }).map(({ lines, showMs }) => [
    lines.map(textOf).join('|'),
    showMs,
  ]);

describe('a film', () => {
  it('shows each screen for as long as it stood, a long one for less', () => {
    assert.deepEqual(film(screen(0, 'a', 'a'), screen(1000, 'b', 'b'), screen(8000, 'c', 'c')), [
      ['a|a', 1000],
      ['b|b', 2000],
      ['c|c', 9000],
    ]);
  });

  it('shows the last of those that came too fast to be seen, and the first of all', () => {
    assert.deepEqual(
      film(screen(10, 'a', '1'), screen(810, 'b', '1'), screen(900, 'b', '2'), screen(1000, 'b', '3'), screen(1300, 'c', '1')),
      [
        ['a|1', 990],
        ['b|3', 400],
        ['c|1', 9000],
      ],
    );
  });

  it('shows a screen once that came back meanwhile', () => {
    assert.deepEqual(film(screen(0, 'a', '1'), screen(500, 'b', '1'), screen(600, 'a', '1'), screen(900, 'c', '1')), [
      ['a|1', 900],
      ['c|1', 9000],
    ]);
  });

  it('begins where there is something to see, and shows no blank screen', () => {
    assert.deepEqual(film(screen(0, 'a'), screen(500, 'a', 'b'), screen(1000), screen(1500, 'c')), [
      ['a|b', 1000],
      ['c', 9000],
    ]);
  });

  it('is the last screen where there was never more', () => {
    assert.deepEqual(film(screen(0, 'a'), screen(500, 'b')), [['b', 9000]]);
    assert.deepEqual(film(), []);
  });
});
