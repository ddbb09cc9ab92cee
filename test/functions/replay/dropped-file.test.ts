import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import { type DropLine, droppedPathOf, openDropFile } from '../../../functions/replay/dropped-file.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-dropped-'));
  path = join(dir, 'night.dropped.jsonl');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const letter = (messageId: string, body = 'body'): DropLine => ({
  ...{ kind: 'letter', at: '2026-03-01T12:00:00.000Z', messageId, attributes: {}, body, class: 'gone', reason: 'gone' },
});
const linesIn = (): DropLine[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as DropLine);

describe('openDropFile', () => {
  it('lies beside the plan', () => {
    assert.deepEqual([droppedPathOf('/a/night.json'), droppedPathOf('/a/night')], ['/a/night.dropped.jsonl', '/a/night.dropped.jsonl']);
  });

  it('keeps what is appended to it, in order, for its owner only', async () => {
    const file = await openDropFile(path);
    const appended = Array.from({ length: 20 }, (_, at) => file.append([letter(`message-${at}`), letter(`other-${at}`)]));
    await Promise.all(appended);
    await file.close();
    assert.deepEqual(linesIn(), Array.from({ length: 20 }, (_, at) => [letter(`message-${at}`), letter(`other-${at}`)]).flat());
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('has appended what it says it has', async () => {
    const file = await openDropFile(path);
    for (let at = 0; at < 5; at += 1) {
      const pair = [file.append([letter(`first-${at}`)]), file.append([letter(`second-${at}`)])];
      await pair[0];
      assert.ok(linesIn().some((line) => line.kind === 'letter' && line.messageId === `first-${at}`));
      await pair[1];
      assert.ok(linesIn().some((line) => line.kind === 'letter' && line.messageId === `second-${at}`));
    }
    await file.close();
  });

  it('knows what was kept before, whatever is in the letters', async () => {
    const bodies = ['a\nb', 'line\u2028separator\u2029', '\ud83d\ude00 é', '"', 'x'.repeat(200_000)];
    const first = await openDropFile(path);
    await first.append(bodies.map((body, at) => letter(`message-${at}`, body)));
    await first.append([{ kind: 'deleted', at: '', letters: ['message-9'] }]);
    await first.close();
    const second = await openDropFile(path);
    await second.close();
    assert.deepEqual([...second.past], ['message-0', 'message-1', 'message-2', 'message-3', 'message-4']);
    assert.equal(second.unreadableCount, 0);
    assert.deepEqual(
      linesIn().flatMap((line) => (line.kind === 'letter' ? line.body : [])),
      bodies,
    );
  });

  it('takes no letter for kept whose line a process left unfinished, and writes below it', async () => {
    const first = await openDropFile(path);
    await first.append([letter('message-1')]);
    await first.close();
    const torn = JSON.stringify(letter('message-2', 'é'));
    for (let length = 1; length < Buffer.byteLength(torn); length += 7) {
      writeFileSync(path, `${JSON.stringify(letter('message-1'))}\n`);
      appendFileSync(path, Buffer.from(torn).subarray(0, length));
      const file = await openDropFile(path);
      await file.append([letter('message-3')]);
      await file.close();
      const again = await openDropFile(path);
      await again.close();
      assert.deepEqual([[...again.past], again.unreadableCount], [['message-1', 'message-3'], 1], String(length));
    }
  });

  it('is of one process at a time', async () => {
    const first = await openDropFile(path);
    await assert.rejects(
      openDropFile(path),
      (error) => error instanceof ConfigError && error.code === 'audit-locked' && error.message.includes(`process ${process.pid}`),
    );
    await first.close();
    await (await openDropFile(path)).close();
    assert.ok(!existsSync(`${path}.lock`));
  });

  /** A file whose disk fails at the nth call of a kind, having written as much as it says. */
  const failing =
    (kind: 'appendFile' | 'datasync', at: number, writtenBytes: number): typeof open =>
    async (...given) => {
      const file = await open(...given);
      let calls = 0;
      const fail = async (text = ''): Promise<void> => {
        calls += 1;
        if (calls !== at) return kind === 'appendFile' ? file.appendFile(text) : file.datasync();
        await file.write(Buffer.from(text).subarray(0, writtenBytes));
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      };
      return new Proxy(file, {
        get: (_, name) => {
          const value: unknown = Reflect.get(file, name);
          return name === kind ? fail : typeof value === 'function' ? value.bind(file) : value;
        },
      }) as FileHandle;
    };

  for (const kind of ['appendFile', 'datasync'] as const) {
    for (const at of [1, 2, 3]) {
      it(`says of nothing that it is kept from the failure of ${kind} number ${at} on`, async () => {
        const file = await openDropFile(path, failing(kind, at, 40));
        const kept: string[] = [];
        for (let count = 1; count <= 5; count += 1) {
          const append = file.append([letter(`message-${count}`)]).then(() => kept.push(`message-${count}`));
          if (count < at) await append;
          else await assert.rejects(append, (error) => error instanceof ConfigError && /: ENOSPC; nothing is deleted/.test(error.message));
        }
        await file.close();
        assert.equal(kept.length, at - 1);
        const again = await openDropFile(path);
        await again.append([letter('message-9')]);
        await again.close();
        const last = await openDropFile(path);
        await last.close();
        for (const messageId of [...kept, 'message-9']) assert.ok(last.past.has(messageId), messageId);
      });
    }
  }

  for (const [name, prepare] of [
    ['a folder in its place', () => mkdirSync(path)],
    ['a link in its place, which leads elsewhere', () => symlinkSync('/dev/full', path)],
    ['no folder for it', () => rmSync(dir, { recursive: true })],
  ] as const) {
    it(`cannot be opened with ${name}, and leaves no lock`, async () => {
      prepare();
      await assert.rejects(openDropFile(path), (error) => error instanceof ConfigError && error.code === 'out-unwritable');
      assert.ok(!existsSync(`${path}.lock`));
    });
  }
});
