import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepScreens } from '../../../../../../infra/local/dev/demo/recording/screen-keeper.ts';
import { textOf } from '../../../../../../infra/local/dev/demo/recording/screen-lines.ts';

const ANEW = '\u001b[H\u001b[J';

async function kept(...writes: readonly (readonly [atMs: number, text: string])[]): Promise<[atMs: number, text: string][]> {
  const keeper = keepScreens({ columns: 40, rows: 6 });
  for (const [atMs, text] of writes) keeper.write(text, atMs);
  return (await keeper.end()).map(({ atMs, lines }) => [atMs, lines.map(textOf).join('|')]);
}

describe('the screens that are kept of a terminal', () => {
  it('are those that stood still, since when they stood there, and the last', async () => {
    assert.deepEqual(await kept([10, 'one'], [500, `${ANEW}two`], [510, '\r\nthree'], [900, `${ANEW}four`]), [
      [10, 'one'],
      [510, 'two|three'],
      [900, 'four'],
    ]);
  });

  it('have none twice that was drawn anew, and none that was blank at the start', async () => {
    assert.deepEqual(await kept([100, 'one'], [500, `${ANEW}one`], [900, '\r\n']), [[100, 'one']]);
  });

  it('have none that a program was in the middle of', async () => {
    assert.deepEqual(await kept([10, '\u001b[?2026hhalf'], [500, ` a picture\u001b[?2026l`]), [[500, 'half a picture']]);
  });

  it('are none of a program that writes nothing', async () => {
    assert.deepEqual(await kept(), []);
  });
});
