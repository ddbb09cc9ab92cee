/** A cell whose reconciler wants to see a part of its kind. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DirtyMarks } from '../../../events/dirty-marks.ts';
import { describeResource } from '../../../functions/core/described-resource.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import { configMaps } from '../../../functions/core/kinds.ts';
import { all, annotationChanged, any, hasLabel, labelChanged } from '../../../functions/core/predicates.ts';
import { type WatchDeclaration, watchRules } from '../../../functions/core/watch-rules.ts';
import { createClusterCells } from '../../../functions/watcher/cells.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { FakeLog, Scene, tenants, UPKEEP } from './scene.ts';

function watching(watch: WatchDeclaration): Scene {
  return new Scene({}, watchRules('Tenant', watch, false));
}

function label(scene: Scene, name: string, labels: Record<string, string>): void {
  scene.cluster.edit(tenants, { name }, (draft) => {
    draft['metadata'] = { ...(draft['metadata'] as object), labels };
  });
}

function annotate(scene: Scene, name: string, annotations: Record<string, string>): void {
  scene.cluster.edit(tenants, { name }, (draft) => {
    draft['metadata'] = { ...(draft['metadata'] as object), annotations };
  });
}

function createLabelled(scene: Scene, name: string, labels: Record<string, string>): void {
  scene.cluster.create(tenants, { name }, { metadata: { labels }, spec: { size: 1 }, status: { observedGeneration: 1 } });
}

describe('a cell with selectors', () => {
  it('sends them with lists, watches and probes', async () => {
    const scene = watching({ labelSelector: 'tier=gold', fieldSelector: 'metadata.name!=b' });
    createLabelled(scene, 'a', { tier: 'gold' });
    createLabelled(scene, 'b', { tier: 'gold' });
    createLabelled(scene, 'c', {});
    await scene.start();
    assert.equal(scene.cell.status().objectCount, 1);
    await scene.clock.advance(300_000);
    const asked = [...scene.cluster.requestsOf('list'), ...scene.cluster.requestsOf('watch')].map(({ detail }) => detail);
    assert.ok(
      asked.some((detail) => detail['limit'] === 1),
      'a probe',
    );
    assert.ok(
      asked.some((detail) => detail['timeoutSeconds'] !== undefined),
      'a watch',
    );
    for (const detail of asked) assert.deepEqual([detail['labelSelector'], detail['fieldSelector']], ['tier=gold', 'metadata.name!=b']);
    await scene.stop();
  });

  it('tells of a live object that leaves as of a deleted one, and of its return once (B11)', async () => {
    const scene = watching({ labelSelector: 'tier=gold' });
    createLabelled(scene, 'a', { tier: 'gold' });
    await scene.start();
    assert.deepEqual(scene.sent(), []);
    label(scene, 'a', {});
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), ['deleted a']);
    assert.equal(scene.cell.status().objectCount, 0);
    label(scene, 'a', { tier: 'gold' });
    await scene.clock.settle();
    label(scene, 'a', { tier: 'gold', other: 'x' });
    await scene.clock.settle();
    const marks = scene.takeMarks();
    assert.deepEqual(
      marks.map(({ reason, mustRun, lane }) => ({ reason, mustRun, lane })),
      [{ reason: 'selected', mustRun: true, lane: 'live' }],
    );
    await scene.stop();
  });

  it('lets the return run where its mark folds with that of the leaving', async () => {
    const scene = watching({ labelSelector: 'tier=gold' });
    createLabelled(scene, 'a', { tier: 'gold' });
    await scene.start();
    label(scene, 'a', {});
    label(scene, 'a', { tier: 'gold' });
    await scene.clock.settle();
    const marks = scene.takeMarks();
    assert.deepEqual(
      marks.map(({ reason, mustRun }) => [reason, mustRun]),
      [['deleted', true]],
    );
    await scene.stop();
  });

  it('finds in a later list what left and what came back meanwhile', async () => {
    const scene = watching({ labelSelector: 'tier=gold' });
    createLabelled(scene, 'a', { tier: 'gold' });
    createLabelled(scene, 'b', {});
    await scene.start();
    scene.openWatch.fail(new Error('lost'));
    label(scene, 'a', {});
    label(scene, 'b', { tier: 'gold' });
    scene.cluster.restart();
    await scene.clock.advance(60_000);
    assert.deepEqual(scene.sent(), ['deleted a', 'selected b']);
    await scene.stop();
  });
});

describe('a cell whose last news was of an object that left its selection', () => {
  for (const selection of [{ labelSelector: 'tier=gold' }, { labelSelector: 'tier', fieldSelector: 'metadata.name!=b' }]) {
    it(`does not take its return in an outage for another history, with ${Object.keys(selection).join(' and ')}`, async () => {
      const scene = watching(selection);
      createLabelled(scene, 'a', { tier: 'gold' });
      createLabelled(scene, 'z', { tier: 'gold' });
      await scene.start();
      label(scene, 'a', {});
      await scene.clock.settle();
      assert.deepEqual(scene.sent(), ['deleted a']);
      scene.openWatch.fail(new TransientError('unreachable', 'the connection broke'));
      label(scene, 'a', { tier: 'gold' });
      await scene.clock.advance(2_000);
      assert.deepEqual(scene.sent(), ['selected a']);
      assert.equal(scene.log.count('the cluster went back in time; everything is read again'), 0);
      await scene.stop();
    });
  }
});

describe('a cell with a predicate', () => {
  it('sends changes of labels and annotations that it names, and of no others', async () => {
    const scene = watching({ predicate: any(labelChanged('tier'), annotationChanged('example.com/restart')) });
    createLabelled(scene, 'a', { tier: 'gold' });
    await scene.start();
    const changes: readonly [change: () => void, sent: string[]][] = [
      [() => label(scene, 'a', { tier: 'gold', other: 'x' }), []],
      [() => label(scene, 'a', { tier: 'silver' }), ['metadata-changed a']],
      [() => annotate(scene, 'a', { 'example.com/other': '1' }), []],
      [() => annotate(scene, 'a', { 'example.com/restart': '1' }), ['metadata-changed a']],
      [() => label(scene, 'a', {}), ['metadata-changed a']],
    ];
    for (const [change, sent] of changes) {
      change();
      await scene.clock.settle();
      assert.deepEqual(scene.sent(), sent);
    }
    await scene.stop();
  });

  it('holds back what it does not admit, until it does; a deletion passes', async () => {
    const scene = watching({ predicate: all(hasLabel('managed'), labelChanged('tier')) });
    createLabelled(scene, 'a', {});
    await scene.start();
    scene.change('a');
    label(scene, 'a', { tier: 'gold' });
    await scene.clock.settle();
    assert.deepEqual([scene.sent(), scene.cell.status().unsettledCount], [[], 0]);
    label(scene, 'a', { tier: 'gold', managed: '' });
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), ['selected a']);
    label(scene, 'a', {});
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), []);
    scene.cluster.delete(tenants, { name: 'a' });
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), ['deleted a']);
    await scene.stop();
  });
});

describe('a cell of a kind that is not ours', () => {
  it('asks for metadata without asking for a CRD and without a warning, and heals nothing', async () => {
    const [clock, log, marks] = [new FakeClock(), new FakeLog(), new DirtyMarks()];
    const cluster = new FakeCluster({ now: () => clock.now() });
    const described = {
      resource: describeResource(configMaps),
      revision: 1,
      watch: watchRules('ConfigMap', { labelSelector: 'a' }, false),
    };
    const { cells } = createClusterCells({
      client: cluster.client,
      reconcilers: [described],
      createMarks: () => marks,
      settings: { watchTimeoutSeconds: 300, watchGraceSeconds: 15, probeSeconds: 300, ...UPKEEP, resyncSeconds: 1e6 },
      clock,
      log,
    });
    const at = { namespace: 'team', name: 'source' };
    cluster.create(configMaps, at, { metadata: { labels: { a: 'b' } }, status: { observedGeneration: 1 } });
    cluster.create(configMaps, { ...at, name: 'other' });
    const stop = new AbortController();
    const run = cells[0]?.run(stop.signal);
    await clock.settle();
    const sent = (): string[] => {
      const taken = marks.take(100, clock.now().getTime());
      for (const mark of taken) marks.accepted(mark);
      return taken.map(({ reason, name }) => `${reason} ${name}`);
    };
    assert.deepEqual(sent(), ['sweep source']);
    assert.equal(cluster.requestsOf('list')[0]?.detail['form'], 'metadata');
    assert.equal(cluster.requestsOf('servedKind').length, 0);
    assert.deepEqual(
      log.lines.filter(({ level }) => level === 'warn' || level === 'error'),
      [],
    );
    await clock.advance(24 * 3_600_000);
    assert.deepEqual(sent(), []);
    stop.abort();
    await run;
  });
});
