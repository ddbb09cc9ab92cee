/** The audit on disk: what it keeps, what it forgives, and who may have it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ConfigError } from '../../../../functions/core/errors.ts';
import { auditPathOf, openAudit } from '../../../../functions/replay/apply/audit-file.ts';
import type { AuditLine } from '../../../../functions/replay/apply/audit-line.ts';
import { pastOf, readAudit } from '../../../../functions/replay/apply/audit-text.ts';
import { SETTINGS } from './operator.ts';

const AT = '2026-03-01T12:00:00.000Z';
const BEGIN: AuditLine = { kind: 'begin', at: AT, version: 1, by: 'anna', command: 'apply', plan: 'f', settings: SETTINGS };
const PLACE = { cluster: 'east', group: 'g', version: 'v1', kind: 'Tenant', plural: 'tenants', name: 't' };
const intent = (envelope: string, ...letters: string[]): AuditLine => ({
  ...{ kind: 'intent', at: AT, batch: 1, envelope, object: PLACE, letters, reason: 'not-settled', before: { kind: 'absent' } },
  replay: { count: 1, of: letters[0] as string, by: 'anna', at: AT },
});
const result = (envelope: string, said: 'sent' | 'retry' | 'refused'): AuditLine => ({
  kind: 'result',
  at: AT,
  batch: 1,
  envelope,
  result: said,
});
const textOf = (...lines: AuditLine[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
const isCode = (code: string, says: RegExp) => (error: unknown) =>
  error instanceof ConfigError && error.code === code && says.test(error.message);

describe('pastOf', () => {
  it('knows what was accepted, by each of its letters, and what has no verdict', () => {
    const past = pastOf([BEGIN, intent('a', '1', '2'), intent('b', '3'), intent('c', '4'), result('a', 'sent'), result('b', 'retry')]);
    assert.deepEqual([...past.sent.keys()], ['1', '2']);
    assert.deepEqual(
      past.open.map(({ envelope }) => envelope),
      ['a'],
    );
  });

  it('takes an intent without a result for not sent', () => {
    assert.equal(pastOf([BEGIN, intent('a', '1')]).sent.size, 0);
  });

  it('adds letters that came later, and closes what has a verdict', () => {
    const verdict = (envelope: string, said: 'good' | 'unjudged'): AuditLine => ({
      kind: 'verdict',
      at: AT,
      envelope,
      verdict: said,
      reason: 'x',
    });
    const fold: AuditLine = { kind: 'fold', at: AT, batch: 2, envelope: 'a', letters: ['9'] };
    const past = pastOf([
      intent('a', '1'),
      intent('b', '2'),
      result('a', 'sent'),
      result('b', 'sent'),
      fold,
      verdict('a', 'good'),
      verdict('b', 'unjudged'),
    ]);
    assert.deepEqual([...past.sent.keys()], ['1', '2', '9']);
    assert.deepEqual(
      past.open.map(({ envelope }) => envelope),
      ['b'],
    );
  });
});

describe('readAudit', () => {
  it('reads back what was written, and kinds of line that it does not know', () => {
    const lines = [BEGIN, intent('a', '1'), result('a', 'sent')];
    assert.deepEqual(readAudit(textOf(...lines)), lines);
    assert.equal(readAudit(`${textOf(BEGIN)}{"kind":"newer"}\n`).length, 2);
    assert.deepEqual(readAudit(''), []);
  });

  it('forgives every end in the middle of a line, also once a next apply has written after it', () => {
    const text = textOf(BEGIN, intent('a', '1'), result('a', 'sent'));
    for (let length = 0; length <= text.length; length += 1) {
      const torn = text.slice(0, length);
      const whole = readAudit(torn).length;
      assert.ok(whole <= 3);
      assert.equal(readAudit(`${torn}${torn === '' || torn.endsWith('\n') ? '' : '\n'}${textOf(BEGIN)}`).length, whole + 1);
    }
  });

  it('refuses what is damaged elsewhere, and names the line', () => {
    const damaged = `${textOf(BEGIN)}{"kind":"result","envelope":7}\n${textOf(result('a', 'sent'))}`;
    assert.throws(() => readAudit(damaged), isCode('audit-damaged', /line 2 of the audit is damaged/));
    assert.throws(() => readAudit(`garbage\n${textOf(intent('a', '1'))}`), isCode('audit-damaged', /line 1/));
  });

  it('refuses an audit of another release', () => {
    assert.throws(() => readAudit(`${JSON.stringify({ ...BEGIN, version: 2 })}\n`), isCode('audit-version', /another release/));
  });
});

describe('openAudit', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-audit-'));
  after(() => rmSync(dir, { recursive: true, force: true }));
  let count = 0;
  const newPath = (): string => {
    count += 1;
    return join(dir, `${count}.audit.jsonl`);
  };

  it('stands beside its plan', () => {
    assert.equal(auditPathOf('/plans/night.json'), '/plans/night.audit.jsonl');
    assert.equal(auditPathOf('/plans/night'), '/plans/night.audit.jsonl');
  });

  it('keeps lines for the next, for its owner alone', async () => {
    const path = newPath();
    const first = openAudit(path);
    await first.append([BEGIN, intent('a', '1')], 'synced');
    await first.append([result('a', 'sent')], 'buffered');
    first.close();
    const second = openAudit(path);
    assert.deepEqual(second.past, [BEGIN, intent('a', '1'), result('a', 'sent')]);
    second.close();
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(existsSync(`${path}.lock`), false);
  });

  it('ends a torn line before it goes on', async () => {
    const path = newPath();
    writeFileSync(path, `${textOf(BEGIN)}{"kind":"res`);
    const audit = openAudit(path);
    await audit.append([BEGIN], 'synced');
    await audit.append([intent('a', '1')], 'synced');
    audit.close();
    assert.equal(readFileSync(path, 'utf8'), `${textOf(BEGIN)}{"kind":"res\n${textOf(BEGIN, intent('a', '1'))}`);
    const again = openAudit(path);
    assert.equal(again.past.length, 3);
    again.close();
  });

  it('is had by one process at a time, which is named', () => {
    const path = newPath();
    const audit = openAudit(path);
    assert.throws(() => openAudit(path), isCode('audit-locked', new RegExp(`process ${process.pid} on ${hostname()} works on this plan`)));
    audit.close();
    openAudit(path).close();
  });

  it('is taken over from a process that is dead', () => {
    const path = newPath();
    const { pid } = spawnSync(process.execPath, ['--version']);
    writeFileSync(`${path}.lock`, `${JSON.stringify({ pid, host: hostname() })}\n`);
    openAudit(path).close();
    // In a container every process has the same number.
    writeFileSync(`${path}.lock`, `${JSON.stringify({ pid: process.pid, host: hostname() })}\n`);
    openAudit(path).close();
    assert.equal(existsSync(`${path}.lock`), false);
  });

  for (const [name, lock] of [
    ['of another machine', JSON.stringify({ pid: 1, host: 'elsewhere' })],
    ['that is alive', JSON.stringify({ pid: process.ppid, host: hostname() })],
    ['that nobody can read', 'x'],
  ] as const) {
    it(`is not taken from a process ${name}`, () => {
      const path = newPath();
      writeFileSync(`${path}.lock`, lock);
      assert.throws(() => openAudit(path), isCode('audit-locked', /delete .*\.lock where you know that it is over/));
      assert.equal(readFileSync(`${path}.lock`, 'utf8'), lock);
    });
  }

  it('lets go of it where it is damaged', () => {
    const path = newPath();
    writeFileSync(path, `garbage\n${textOf(result('a', 'sent'))}`);
    assert.throws(() => openAudit(path), isCode('audit-damaged', /line 1/));
    assert.equal(existsSync(`${path}.lock`), false);
  });

  it('says where it cannot be written', () => {
    assert.throws(() => openAudit(join(dir, 'nowhere', 'x.audit.jsonl')), isCode('audit-unwritable', /ENOENT; nothing is sent without it/));
  });

  it('takes nothing more once a disk that was full had half of a line, so that the next can go on after it', async () => {
    const path = newPath();
    let isFull = false;
    const audit = openAudit(path, (file, bytes) => {
      if (!isFull) return writeSync(file, bytes, 0, bytes.length);
      writeSync(file, bytes, 0, bytes.length >> 1);
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    });
    await audit.append([BEGIN, intent('a', '1')], 'synced');
    isFull = true;
    await assert.rejects(audit.append([result('a', 'sent')], 'synced'), isCode('audit-unwritable', /ENOSPC/));
    isFull = false;
    await assert.rejects(audit.append([intent('b', '2')], 'synced'), isCode('audit-unwritable', /ENOSPC/));
    audit.close();
    const next = openAudit(path);
    assert.deepEqual(next.past, [BEGIN, intent('a', '1')]);
    await next.append([BEGIN], 'synced');
    next.close();
    assert.equal(readAudit(readFileSync(path, 'utf8')).length, 3);
  });

  it('takes nothing once it is closed', async () => {
    const audit = openAudit(newPath());
    audit.close();
    audit.close();
    await assert.rejects(audit.append([BEGIN], 'synced'), isCode('audit-unwritable', /closed/));
  });
});
