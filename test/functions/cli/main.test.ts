import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { endsOf } from './command-lines.ts';

describe('the command line', () => {
  it('prints the version of package.json, which its help names too', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string };
    const [told, short, help] = await endsOf([['--version'], ['-V'], ['--help']].map((words) => ({ words, env: {} })));
    assert.deepEqual([told, short], Array(2).fill({ code: 0, output: `${version}\n` }));
    assert.match(help?.output ?? '', /--version/);
  });
});
