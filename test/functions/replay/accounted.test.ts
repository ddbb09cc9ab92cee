import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { accountedFor } from '../../../functions/replay/accounted.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-accounted-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const write = (ending: string, lines: readonly object[], torn = ''): void =>
  writeFileSync(join(dir, `night.${ending}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join('') + torn);
const accounted = async (): Promise<string[]> => [...(await accountedFor(join(dir, 'night.json')))].sort();

describe('accountedFor', () => {
  it('is nothing where no file lies beside the plan', async () => {
    assert.deepEqual(await accounted(), []);
  });

  it('is what an apply has replaced, deleted, or was about to delete', async () => {
    write('audit', [
      { kind: 'begin' },
      { kind: 'intent', envelope: 'e-1', letters: ['sent-1', 'sent-2'] },
      { kind: 'intent', envelope: 'e-2', letters: ['refused'] },
      { kind: 'intent', envelope: 'e-3', letters: ['unanswered'] },
      { kind: 'result', envelope: 'e-1', result: 'sent' },
      { kind: 'result', envelope: 'e-2', result: 'refused' },
      { kind: 'fold', envelope: 'e-1', letters: ['folded'] },
      { kind: 'acknowledge', letters: ['acknowledged'] },
      { kind: 'deleted', letters: ['deleted'], notDeleted: ['not-deleted'] },
      { kind: 'left', letters: ['left'] },
    ]);
    assert.deepEqual(await accounted(), ['acknowledged', 'deleted', 'folded', 'sent-1', 'sent-2']);
  });

  it('is what a drop has on disk, and not what it did not finish writing', async () => {
    write('dropped', [{ kind: 'letter', messageId: 'kept', body: 'b' }], '{"kind":"letter","messageId":"torn","bo');
    write('audit', [{ kind: 'deleted', letters: ['deleted'] }], '{"kind":"del');
    assert.deepEqual(await accounted(), ['deleted', 'kept']);
  });

  it('is what can be read', async () => {
    mkdirSync(join(dir, 'night.audit.jsonl'));
    write('dropped', [[], { kind: 'deleted', letters: 'none' }, { kind: 'letter', messageId: 'kept' }]);
    assert.deepEqual(await accounted(), ['kept']);
  });
});
