import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { shellWord } from '../../../infra/local/shell-word.ts';

describe('shellWord', () => {
  it('leaves alone what a shell does', () => {
    for (const text of ['/tmp/a-b_c.d', 'ada@prod', 'arn:aws:eks:eu-west-1:1:cluster/x']) assert.equal(shellWord(text), text);
  });

  it('is read by a shell as the text', () => {
    const texts = ['', "ada's (dev)", '$HOME `id` "x"', 'a\nb', '~', '*', '!x'];
    const read = execFileSync('sh', ['-c', `printf '%s\\0' ${texts.map(shellWord).join(' ')}`], { encoding: 'utf8' });
    assert.deepEqual(read.split('\0').slice(0, -1), texts);
  });
});
