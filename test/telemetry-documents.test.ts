/** What ARCHITECTURE.md says that the watcher and the function tell is what they tell: every state, reason, log line and metric, and no other. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { CHILD_SKIP_REASONS } from '../events/known-children.ts';
import { SKIP_REASONS } from '../events/predicate.ts';
import { WATCH_PHASES } from '../events/watch-phase.ts';
import { createMetrics } from '../functions/watcher/metrics.ts';
import { OWNER_SKIP_REASONS } from '../functions/watcher/owners.ts';
import { type LogLine, literalLinesOf, logLinesOf } from './log-lines.ts';

const root = resolve(import.meta.dirname, '..');
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

/** Rows of the table under that head, cell by cell. */
function tableOf(head: string): string[][] {
  const lines = page.split('\n');
  const at = lines.indexOf(head);
  assert.ok(at >= 0, `no table ${head}`);
  const rows = lines.slice(at + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The names in backquotes in the first column. */
function namesIn(head: string): string[] {
  return tableOf(head).flatMap(([first = '']) => [...first.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

const SPREADS = {
  'this.#fields': ['cluster', 'kind', 'role'],
  // Whatever the error has to say: told by the row's text.
  'error.facts': [],
};

function watcherLines(): LogLine[] {
  const dir = join(root, 'functions/watcher');
  return readdirSync(dir).flatMap((name) => {
    const source = readFileSync(join(dir, name), 'utf8');
    const warnings = literalLinesOf(source, 'warn').map((line) => ({ ...line, fields: [...SPREADS['this.#fields'], ...line.fields] }));
    return [...logLinesOf(source, SPREADS), ...warnings];
  });
}

describe('ARCHITECTURE.md, of what the watcher tells', () => {
  it('lists every phase of a cell', () => {
    assert.deepEqual(namesIn('| phase | what it means |'), [...WATCH_PHASES]);
  });

  it('lists every reason for which a change of an object is skipped', () => {
    assert.deepEqual(namesIn('| a change of an object that is skipped | why |').sort(), [...SKIP_REASONS].sort());
  });

  it('lists every reason for which a change of a child wakes nobody', () => {
    const known = new Set<string>([...CHILD_SKIP_REASONS, ...OWNER_SKIP_REASONS]);
    assert.deepEqual(namesIn('| a change of a child that wakes nobody | why |').sort(), [...known].sort());
  });

  it('lists every line of the log with its level and fields', () => {
    const code = watcherLines().map(({ level, message, fields }) => `${level} | ${message} | ${fields.toSorted().join(', ')}`);
    const listed = tableOf('| level | message | fields | when |').map(([level = '', message = '', fields = '']) => {
      const names = fields.split(',').flatMap((field) => field.trim() || []);
      return `${level} | ${message} | ${names.sort().join(', ')}`;
    });
    assert.ok(code.length > 20);
    assert.deepEqual(listed.sort(), code.sort());
  });

  it('lists every line about a circuit', () => {
    const source = readFileSync(join(root, 'functions/reconcile/circuits.ts'), 'utf8');
    const code = logLinesOf(source, {}).map(({ level, message, fields }) => [level, message, fields.join(', ')]);
    const listed = tableOf('| level | message of the function | fields | when |').map((cells) => cells.slice(0, 3));
    assert.deepEqual(
      listed.filter(([, message]) => message?.startsWith('circuit')),
      code,
    );
  });

  it('lists every metric with its type and labels', async () => {
    const cluster = 'east' as never;
    const type = { group: 'g', version: 'v1', kind: 'K', plural: 'ks', scope: 'Cluster' } as const;
    const status = {
      kind: 'K.g',
      role: 'primary',
      phase: 'streaming',
      sinceMs: 0,
      lastEventMs: 0,
      objectCount: 0,
      unsettledCount: 0,
    } as const;
    const counts = { oldestUnsettledSeconds: 0, relistCount: 0, reconnectCount: 0 };
    const marks = { size: 0, inFlightCount: 0 } as never;
    const metrics = createMetrics({
      statuses: () => [{ cluster, ...status, ...counts }],
      sources: () => [{ cluster, type, marks, hasListed: () => true, resyncsPerSecond: () => 0 }],
      nowMs: () => 0,
    });
    const text = await metrics.text();
    const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].filter(([, name = '']) => !/^(process|nodejs)_/.test(name));
    const code = types.map(([, name = '', kind = '']) => {
      const series = new RegExp(`^${name}(?:\\{(.*)\\})? `, 'm').exec(text);
      assert.ok(series !== null, `${name} has no series`);
      return `${name} | ${kind} | ${[...(series[1] ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label).join(', ')}`;
    });
    const listed = tableOf('| metric | type | labels | meaning |').map(
      ([name = '', kind, labels]) => `${name.replaceAll('`', '')} | ${kind} | ${labels}`,
    );
    assert.deepEqual(listed, code);
  });
});

describe('logLinesOf', () => {
  it('reads literals, spreads, conditions and names defined nearby', () => {
    const source = `
      const facts = { lane, code: failure };
      const stack = isOurs ? {} : { error };
      log.warn('one', facts);
      this.#log.info('two, with a comma', { ...this.#fields, a: f(1, 2), b, ...(x ? { c } : {}), ...stack });
      log?.error('three');
      (log ?? all.createLog()).error('four', { error });
      catalog.info('not a log');
      log.warn(text, { d });`;
    assert.deepEqual(
      logLinesOf(source, SPREADS).map(({ level, message, fields }) => [level, message, ...fields]),
      [
        ['warn', 'one', 'lane', 'code'],
        ['info', 'two, with a comma', 'cluster', 'kind', 'role', 'a', 'b', 'c', 'error'],
        ['error', 'three'],
        ['error', 'four', 'error'],
      ],
    );
  });

  it('throws at what it cannot read', () => {
    for (const call of ["log.info('one', facts)", "log.info('one', { ...more })", "log.info('one', f(x))"]) {
      assert.throws(() => logLinesOf(call, SPREADS), call);
    }
  });
});
