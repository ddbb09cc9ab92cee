/** What ARCHITECTURE.md says that the watcher and the function tell is what they tell: every state, reason, log line and metric, and no other. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { buildHeartbeat } from '../events/heartbeat.ts';
import { CHILD_SKIP_REASONS } from '../events/known-children.ts';
import { SKIP_REASONS } from '../events/predicate.ts';
import { WATCH_PHASES } from '../events/watch-phase.ts';
import type { Disposition } from '../functions/core/disposition.ts';
import { BRANCHES, branchOf, FAILED_KINDS, type FailedKind, type Outcome, OVERTAKEN_BY } from '../functions/core/outcome.ts';
import { metricsOfHeartbeat, metricsOfNoRun, metricsOfSettled } from '../functions/core/run-metrics.ts';
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

/** Outcomes of which there is one each; the type says when one is missing. */
const SINGLE: { readonly [Kind in Exclude<Outcome['kind'], 'finished' | 'overtaken' | FailedKind>]: Extract<Outcome, { kind: Kind }> } = {
  'not-due': { kind: 'not-due', notBefore: new Date(0) },
  'requeue-after': { kind: 'requeue-after', notBefore: new Date(0) },
  'circuit-open': { kind: 'circuit-open', waitSeconds: 1 },
  'newer-type': { kind: 'newer-type', type: 't' },
};
const failure = { code: 'c', errorClass: 'E', message: 'm' };
const OUTCOMES: readonly Outcome[] = [
  ...BRANCHES.map((branch) => ({ kind: 'finished', branch }) as const),
  ...OVERTAKEN_BY.map((by) => ({ kind: 'overtaken', by }) as const),
  ...FAILED_KINDS.map((kind) => ({ kind, failure }) as const),
  ...Object.values(SINGLE),
];
const RECONCILE = join(root, 'functions/reconcile');

/** Branches of what is no run are written where they are told. */
function branchesOfNoRun(): string[] {
  const source = readFileSync(join(RECONCILE, 'report.ts'), 'utf8');
  return [...new Set([...source.matchAll(/branch: '([a-z-]+)'/g)].map(([, name = '']) => name))];
}

/** Those of one text are one row, with all that any of them may have. */
function functionLines(): string[] {
  const { lastEventAt: _, ...heartbeat } = buildHeartbeat('east', [], { id: '1', now: new Date(0) }).data;
  const spreads = { 'becauseOf(disposition)': ['because'], data: Object.keys(heartbeat) };
  const lines = readdirSync(RECONCILE).flatMap((name) => logLinesOf(readFileSync(join(RECONCILE, name), 'utf8'), spreads));
  const rows = Map.groupBy(lines, ({ level, message }) => `${level} | ${message}`);
  return [...rows].map(([row, group]) => `${row} | ${[...new Set(group.flatMap(({ fields }) => fields))].sort().join(', ')}`);
}

describe('ARCHITECTURE.md, of what the function tells', () => {
  it('lists every branch', () => {
    assert.ok(branchesOfNoRun().length >= 3);
    assert.deepEqual(namesIn('| branch | what it means |').sort(), [...OUTCOMES.map(branchOf), ...branchesOfNoRun()].sort());
  });

  it('lists every line of the log with its level and fields', () => {
    const listed = tableOf('| level | message of the function | fields | when |').map(([level = '', message = '', fields = '']) => {
      const names = fields.split(',').flatMap((field) => field.trim() || []);
      return `${level} | ${message} | ${names.sort().join(', ')}`;
    });
    assert.ok(functionLines().length > 10);
    assert.deepEqual(listed.sort(), functionLines().sort());
  });

  it('lists every metric with its unit and dimensions', () => {
    const now = new Date('2026-01-01T00:00:00.000Z');
    const cell = { kind: 'K', phase: 'p', objectCount: 1, unsettledCount: 1, oldestUnsettledSeconds: 1, lastEventAt: now.toISOString() };
    const dispositions: Disposition[] = [
      { kind: 'done' },
      { kind: 'requeue', delaySeconds: 1, attempt: 1 },
      { kind: 'dead-letter', failure, because: 'age' },
    ];
    const figures = { recordCount: 1, cost: { durationMs: 1, apiRequestCount: 1 } };
    const told = [
      ...OUTCOMES.flatMap((outcome) =>
        dispositions.flatMap((disposition) =>
          [true, false].flatMap((acknowledged) => metricsOfSettled('east', { outcome, disposition, acknowledged, ...figures })),
        ),
      ),
      ...metricsOfNoRun('east', { branch: 'foreign', recordCount: 1, acknowledged: true }),
      ...metricsOfHeartbeat('east', buildHeartbeat('east', [cell], { id: '1', now }), now),
    ];
    const code = new Set(told.map(({ name, unit, dimensions }) => `${name} | ${unit} | ${Object.keys(dimensions).join(', ')}`));
    const listed = tableOf('| metric | unit | dimensions | meaning |').map(
      ([name = '', unit, dimensions]) => `${name.replaceAll('`', '')} | ${unit} | ${dimensions}`,
    );
    assert.deepEqual(listed.sort(), [...code].sort());
  });
});

/** What Lambda itself writes into the log of a function. */
const OF_LAMBDA = ['Task timed out', 'Runtime exited', 'Invoke Error'];

describe('infra/RUNBOOK.md', () => {
  const filters = [...readFileSync(join(root, 'infra/RUNBOOK.md'), 'utf8').matchAll(/--filter-pattern '([^']+)'/g)].map(
    ([, text = '']) => text,
  );

  it('filters the log by fields and values that the function tells', () => {
    const values = {
      branch: [...OUTCOMES.map(branchOf), ...branchesOfNoRun()],
      disposition: ['done', 'requeue', 'dead-letter', 'fail-item'] satisfies Disposition['kind'][],
      level: ['DEBUG', 'INFO', 'WARN', 'ERROR'],
      lane: ['live', 'bulk'],
      key: ['<cluster>/*'],
    };
    const terms = filters.flatMap((text) => [...text.matchAll(/\$\.(\w+) = "([^"]+)"/g)]);
    assert.ok(terms.length > 5);
    for (const [term, field = '', value] of terms) {
      assert.ok((values as Record<string, readonly string[]>)[field]?.includes(value ?? ''), term);
      assert.ok(field === 'level' || functionLines().some((line) => line.split(' | ').at(-1)?.split(', ').includes(field)), term);
    }
  });

  it('looks for words that the function, or Lambda, writes', () => {
    const words = filters
      .filter((text) => !text.startsWith('{'))
      .flatMap((text) => [...text.matchAll(/"([^"]+)"/g)].map(([, word = '']) => word));
    assert.ok(words.length > 3);
    for (const word of words) assert.ok(OF_LAMBDA.includes(word) || functionLines().some((line) => line.includes(word)), word);
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
