import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Progress } from '../../../../functions/cli/replay/progress.ts';
import { FakeClock } from '../../../fakes/clock.ts';

function scene(columns?: number) {
  const clock = new FakeClock();
  const written: string[] = [];
  return { clock, written, progress: new Progress(clock, { columns, write: (text) => void written.push(text) }) };
}

const ERASE = '\r\u001b[K';

describe('progress on a terminal', () => {
  it('stands in one line, ten times a second at most', async () => {
    const { clock, written, progress } = scene(80);
    for (let at = 0; at <= 100; at += 1) {
      progress.update(`${at} of 100`, at / 100);
      await clock.advance(10);
    }
    assert.equal(written.length, 11);
    assert.equal(written[0], `${ERASE}[........................] 0 of 100`);
    assert.equal(written[5], `${ERASE}[############............] 50 of 100`);
    assert.ok(written.every((text) => !text.includes('\n')));
  });

  it('makes room for a line that stays, and is there again below it', () => {
    const { written, progress } = scene(80);
    progress.update('1 of 2');
    progress.note('warning: east is away');
    progress.end();
    progress.note('done');
    assert.deepEqual(written, [`${ERASE}1 of 2`, ERASE, 'warning: east is away\n', `${ERASE}1 of 2`, ERASE, 'done\n']);
  });

  it('is never wider than the terminal, and does nothing to it', () => {
    const { written, progress } = scene(12);
    progress.update('a\u001b[2Jbcdefghijklmnop');
    assert.equal(written[0], `${ERASE}a\ufffd[2Jbcdef…`);
  });

  it('draws no more than all, and no less than nothing', () => {
    for (const [share, full] of [
      [-1, 0],
      [0.999, 23],
      [7, 24],
    ] as const) {
      const { written, progress } = scene(80);
      progress.update('', share);
      assert.equal(written[0]?.split('#').length, full + 1);
    }
  });
});

describe('progress elsewhere', () => {
  it('is a line every ten seconds, and none of what is over before', async () => {
    const { clock, written, progress } = scene();
    for (let second = 0; second <= 25; second += 1) {
      progress.update(`second ${second}`, second / 25);
      await clock.advance(1000);
    }
    progress.end();
    assert.deepEqual(written, ['second 10\n', 'second 20\n']);
  });

  it('is nothing but lines that stay where it is quick', () => {
    const { written, progress } = scene();
    progress.update('1 of 2');
    progress.note('warning');
    progress.end();
    assert.deepEqual(written, ['warning\n']);
  });
});
