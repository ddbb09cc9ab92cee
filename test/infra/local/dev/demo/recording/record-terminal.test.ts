import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { recordTerminal } from '../../../../../../infra/local/dev/demo/recording/record-terminal.ts';
import { textOf } from '../../../../../../infra/local/dev/demo/recording/screen-lines.ts';

const SCRIPT = 'script';
const hasScript = /util-linux/.test(spawnSync(SCRIPT, ['--version'], { encoding: 'utf8' }).stdout ?? '');
const options = { columns: 60, rows: 12, cwd: import.meta.dirname, timeoutSeconds: 30 };

describe('a recording of a program in a terminal', { skip: hasScript ? false : 'no script of util-linux here' }, () => {
  it('has what it left on the screen, in a terminal of that size and with colour, and the exit code', async () => {
    const program = `test -t 1 && printf "\\033[32mit's $(stty size)\\033[39m $FOR"; exit 3`;
    const { screens, code } = await recordTerminal('sh', ['-c', program], { ...options, env: { FOR: 'you' } });
    assert.equal(code, 3);
    assert.deepEqual(screens.at(-1)?.lines.map(textOf), ["it's 12 60 you"]);
    assert.equal(screens.at(-1)?.lines[0]?.[0]?.color, 'green');
  });

  it('ends a program that does not end, and says so', async () => {
    await assert.rejects(recordTerminal('sleep', ['60'], { ...options, timeoutSeconds: 0.2 }), {
      name: 'ConfigError',
      code: 'recording-timeout',
    });
  });
});
