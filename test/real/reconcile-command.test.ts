/** `dogwatch reconcile` runs what nobody else would: the watcher is stopped, and the objects are settled. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from './api.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { type System, startSystem } from './system.ts';
import { createTenant, settled } from './tenants.ts';

const NAMES = ['ada', 'bob', 'cy', 'dee'];
const OWNER_LABEL = 'dogwatch.dev/owner';

interface MetricLine {
  readonly _aws: { readonly CloudWatchMetrics: readonly { readonly Namespace: string }[] };
  readonly cluster: string;
  readonly branch?: string;
  readonly Records?: number | readonly number[];
  readonly RunDuration?: number | readonly number[];
}

const readMetrics = (line: string): MetricLine => JSON.parse(line) as MetricLine;

describe('dogwatch reconcile', () => {
  let system: System;

  before(async () => {
    system = await startSystem({ env: { POWERTOOLS_METRICS_DISABLED: 'false' } });
    for (const name of NAMES) await createTenant(system.api, name);
    await Promise.all(NAMES.map((name) => settled(system.api, name)));
    assert.equal(await system.watcher.stop(), 0);
    await system.drained();
  });
  after(async () => {
    await system?.stop();
  });

  /** The command with no more of an environment than it needs. */
  function command(...words: string[]): RunningProcess {
    const all: Readonly<Record<string, string>> = system.lab.envFor('admin');
    const needed = Object.entries(all).filter(([name]) => /^AWS_|^DOGWATCH_(CLUSTERS|BULK_QUEUE_URL)$/.test(name));
    return startProcess([process.execPath, 'functions/cli/bin.js', 'reconcile', ...words], Object.fromEntries(needed));
  }

  /** Names of the Tenants that were run by hand so far. */
  function manualRuns(): string[] {
    const lines = system.functionHost.lines.filter((line) => line.includes('"reason":"manual"') && line.includes('"branch":"reconciled"'));
    return lines.map((line) => /Tenant\/\/([a-z]+)"/.exec(line)?.[1] ?? line);
  }

  it('runs a settled object: what was damaged is whole again', async () => {
    const namespace = '/api/v1/namespaces/tenant-ada';
    assert.equal((await system.api.merge(namespace, { metadata: { labels: { [OWNER_LABEL]: null } } })).status, 200);
    const sent = command('tenant/ada');
    assert.equal(await sent.exited, 0, sent.lines.join('\n'));
    assert.deepEqual(sent.lines, ['east: Tenant.platform.example ada is to be run']);
    await until('the run', () => manualRuns().includes('ada') || undefined);
    const { uid } = (await system.api.get('/apis/platform.example/v1/tenants/ada')).body.metadata;
    assert.equal((await system.api.get(namespace)).body.metadata.labels?.[OWNER_LABEL], uid);
  });

  it('is counted by the function, as everything is, where metrics are asked for', async () => {
    await system.drained();
    const readAll = (): MetricLine[] => system.functionHost.lines.filter((line) => line.includes('"CloudWatchMetrics"')).map(readMetrics);
    const durationsIn = (lines: readonly MetricLine[]): number => lines.flatMap(({ RunDuration = [] }) => RunDuration).length;
    const runCount = (): number => system.functionHost.lines.filter((line) => line.includes('"message":"record processed"')).length;
    await until('a duration of each run', () => durationsIn(readAll()) >= runCount() || undefined);
    const metrics = readAll();
    const ofRecords = metrics.filter(({ Records }) => Records !== undefined);
    assert.ok(
      ofRecords.some(
        ({ cluster, branch, _aws }) => cluster === 'east' && branch === 'reconciled' && _aws.CloudWatchMetrics[0]?.Namespace === 'Dogwatch',
      ),
    );
    assert.equal(durationsIn(metrics), runCount());
  });

  it('runs all of a kind, each once', async () => {
    await system.drained();
    const seen = manualRuns().length;
    const sent = command('--kind', 'Tenants', '--rate', '50', '--json');
    assert.equal(await sent.exited, 0, sent.lines.join('\n'));
    const told = JSON.parse(sent.lines.find((line) => line.startsWith('{')) ?? '{}') as Record<string, unknown>;
    assert.deepEqual([told['found'], told['sent'], told['stopped']], [4, 4, false]);
    await until('the runs', () => manualRuns().length >= seen + NAMES.length || undefined);
    await system.drained();
    assert.deepEqual(manualRuns().slice(seen).sort(), NAMES);
  });

  it('says so where there is no such object', async () => {
    const sent = command('tenant/nobody');
    assert.equal(await sent.exited, 1);
    assert.deepEqual(sent.lines, ['east: Tenant.platform.example nobody does not exist']);
  });

  it('stops at Ctrl-C and says how many were sent', async () => {
    const sent = command('--kind', 'tenant', '--rate', '1');
    await sent.line(/4 to be run/);
    sent.signal('SIGINT');
    assert.equal(await sent.exited, 1);
    assert.match(sent.lines.at(-1) ?? '', /^east: tenants: stopped: [123] of 4 sent$/);
  });
});
