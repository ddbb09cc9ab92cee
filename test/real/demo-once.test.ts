/** `dogwatch dev --demo --once` as a process without a terminal: its exit code, and the figures of its summary. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

const ROOT = resolve(import.meta.dirname, '../..');
/** A story that hangs. How long it may take is measured by `npm run bench -- --only demo`. */
const RUN_MAX_MS = 240_000;
const STEPS = ['samples', 'create', 'change', 'drift and repair', 'twenty writers', 'cluster down', 'dead letter', 'replay'];

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A row of the summary. */
interface Row {
  readonly name: string;
  readonly seconds: number;
  readonly messages: number;
  readonly runs: number;
  readonly requests: number;
  readonly followed: string;
}

function rowsOf(stdout: string): Row[] {
  const lines = stdout.slice(stdout.indexOf('\nSTEP ')).split('\n');
  return lines.flatMap((line) => {
    const [, name = '', seconds, messages, runs, requests, followed = ''] =
      /^(\S+(?: \S+)*) +([0-9.]+) +(\d+) +(\d+) +(\d+) {2}(.+)$/.exec(line) ?? [];
    if (name === '') return [];
    return [{ name, seconds: Number(seconds), messages: Number(messages), runs: Number(runs), requests: Number(requests), followed }];
  });
}

describe('dogwatch dev --demo --once', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'dogwatch-demo-test-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  function run(...words: readonly string[]): Promise<Ended> {
    const args = ['functions/cli/bin.js', 'dev', '--demo', '--once', ...words];
    const options = { cwd: ROOT, env: { PATH: process.env['PATH'] ?? '', TMPDIR: root }, timeout: RUN_MAX_MS };
    return new Promise((done) => {
      execFile(process.execPath, args, options, (error, stdout, stderr) => done({ code: error === null ? 0 : error.code, stdout, stderr }));
    });
  }

  it('plays its story to the end, with figures that stay calm, and leaves nothing', { timeout: RUN_MAX_MS + 20_000 }, async () => {
    const { code, stdout, stderr } = await run();
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.match(stdout, /^ {4}DOGWATCH_RETRY_BASE_SECONDS=1 /m);
    for (const [index, name] of STEPS.entries())
      assert.match(stdout, new RegExp(`^${index + 1}/${STEPS.length} ${name}: .+\n {4}\\S`, 'm'));
    assert.match(stdout, /^8 of 8 steps well in [0-9.]+ s, \d+ messages, \d+ runs, 1 dead letter$/m);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 100, `wider than 100 columns: ${line}`);

    const rows = rowsOf(stdout);
    assert.deepEqual(
      rows.map(({ name }) => name),
      STEPS,
    );
    const row = (name: string): Row => rows.find((each) => each.name === name) as Row;
    assert.equal(row('samples').messages, 4);
    assert.equal(row('create').messages, 2);
    assert.equal(row('change').messages, 1);
    assert.equal(row('drift and repair').messages, 2);
    assert.equal(row('drift and repair').followed, `put right both times, by ${row('drift and repair').runs} runs`);

    const [, foreign, rereads, sentAgain] =
      /^(\d+) foreign writes, (\d+) re-reads?, (\d+) sent again$/.exec(row('twenty writers').followed) ?? [];
    assert.ok(Number(foreign) >= 100, stdout);
    assert.match(stdout, new RegExp(`^ {4}of ${foreign} writes by others and 2 of the spec, the watcher has made 2 messages$`, 'm'));
    // What is sent again is a message, and a run reads again three times at most (functions/reconcile/again.ts).
    assert.equal(row('twenty writers').messages, 2 + Number(sentAgain));
    assert.ok(Number(rereads) <= 3 * row('twenty writers').runs, stdout);
    assert.ok(row('twenty writers').requests < Number(foreign), stdout);

    assert.equal(row('cluster down').followed, '3 changes meanwhile, 0 lost; west went on');
    assert.equal(row('dead letter').followed, 'Stalled, 1 dead letter: child-not-owned');
    assert.equal(row('replay').followed, 'Ready, no longer Stalled; no dead letter left');
    assert.deepEqual(readdirSync(root), []);
  });

  it('ends with 1 where a step fails, and names the object', { timeout: RUN_MAX_MS + 20_000 }, async () => {
    const manifest = join(root, 'taken.yaml');
    writeFileSync(manifest, 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: tenant-harbor\n');
    const { code, stdout, stderr } = await run('--apply', manifest);
    assert.equal(code, 1, `${stdout}${stderr}`);
    assert.match(stdout, /^ {4}FAILED: Tenant\/harbor in (east|west) is Stalled; .*child-not-owned/m);
    assert.match(stdout, /^1 of 8 steps well in /m);
    assert.match(stdout, /^create failed: Tenant\/harbor in (east|west) is Stalled/m);
    assert.match(stdout, /^replay +- .* not played$/m);
  });
});
