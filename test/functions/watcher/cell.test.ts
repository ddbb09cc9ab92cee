import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import { Scene, tenants } from './scene.ts';

describe('a cell that starts', () => {
  it('sends what is unsettled as a sweep on the bulk lane, and nothing for settled objects', async () => {
    const scene = new Scene();
    scene.create('settled', 1);
    scene.create('behind', 0);
    scene.create('never');
    await scene.start();
    const marks = scene.takeMarks();
    assert.deepEqual(
      marks.map(({ name, reason, lane, mustRun }) => ({ name, reason, lane, mustRun })),
      [
        { name: 'behind', reason: 'sweep', lane: 'bulk', mustRun: false },
        { name: 'never', reason: 'sweep', lane: 'bulk', mustRun: false },
      ],
    );
    const { phase, objectCount, unsettledCount } = scene.cell.status();
    assert.deepEqual({ phase, objectCount, unsettledCount }, { phase: 'streaming', objectCount: 3, unsettledCount: 2 });
    await scene.stop();
  });

  it('reads pages of 500 with no resourceVersion, and watches from the version of the first', async () => {
    const scene = new Scene();
    for (let index = 0; index < 1_001; index += 1) scene.create(`t-${index}`, 1);
    const before = String(scene.cluster.store.resourceVersion);
    scene.cluster.fault({ verb: 'list' }, { first: () => undefined });
    scene.cluster.fault({ verb: 'list' }, { first: () => void scene.create('late') });
    await scene.start();
    const lists = scene.cluster.requestsOf('list').map(({ detail }) => [detail['limit'], detail['resourceVersion'], detail['form']]);
    assert.deepEqual(lists, Array(3).fill([500, undefined, 'table']));
    assert.equal(scene.openWatch.options.resourceVersion, before);
    assert.deepEqual(scene.sent(), ['created late']);
    await scene.stop();
  });

  it('asks for metadata, and says so once, where the CRD cannot be read', async () => {
    const scene = new Scene();
    scene.cluster.serve(tenants, []);
    scene.create('a', 1);
    await scene.start();
    scene.cluster.restart();
    await scene.clock.advance(60_000);
    const forms = scene.cluster.requestsOf('list').map(({ detail }) => detail['form']);
    assert.deepEqual(forms, ['metadata', 'metadata']);
    assert.equal(scene.openWatch.options.form, 'metadata');
    assert.equal(scene.log.lines.filter(({ level }) => level === 'warn').length, 1);
    await scene.stop();
  });

  it('runs once', async () => {
    const scene = new Scene();
    await scene.start();
    await assert.rejects(scene.cell.run(new AbortController().signal), ConfigError);
    assert.equal(scene.count('watch'), 1);
    await scene.stop();
  });

  it('does nothing under a signal that has aborted already', async () => {
    const scene = new Scene();
    await scene.cell.run(AbortSignal.abort());
    await scene.clock.settle();
    assert.deepEqual([scene.cluster.requests.length, scene.cell.status().phase], [0, 'stopped']);
  });
});

describe('a cell that streams', () => {
  it('sends creations, changes of the generation and deletions, and nothing for labels and status', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    await scene.start();
    const uid = scene.create('b');
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), ['created b']);
    scene.change('a');
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), ['generation-changed a']);
    scene.cluster.edit(tenants, { name: 'a' }, (draft) => {
      draft['status'] = { observedGeneration: 2 };
    });
    scene.cluster.edit(tenants, { name: 'a' }, (draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), labels: { team: 'x' } };
    });
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), []);
    scene.cluster.delete(tenants, { name: 'b' });
    const deletedAt = String(scene.cluster.store.resourceVersion);
    await scene.clock.settle();
    const marks = scene.takeMarks();
    assert.deepEqual(
      marks.map((mark) => [mark.reason, mark.uid, mark.resourceVersion]),
      [['deleted', uid, deletedAt]],
    );
    await scene.stop();
  });

  it('sends the deletion and the new object when a name is used again (B08)', async () => {
    const scene = new Scene();
    const old = scene.create('a', 1);
    await scene.start();
    scene.cluster.delete(tenants, { name: 'a' });
    const young = scene.create('a');
    await scene.clock.settle();
    const marks = scene.takeMarks();
    assert.deepEqual(
      new Map(marks.map(({ uid, reason }) => [uid, reason])),
      new Map([
        [old, 'deleted'],
        [young, 'created'],
      ]),
    );
    await scene.stop();
  });

  it('keeps one pending mark an object however much happens while nothing is sent', async () => {
    const scene = new Scene();
    for (let index = 0; index < 50; index += 1) scene.create(`t-${index}`, 1);
    await scene.start();
    for (let change = 0; change < 5_000; change += 1) scene.change(`t-${change % 50}`);
    scene.cluster.delete(tenants, { name: 't-7' });
    scene.create('t-7');
    await scene.clock.advance(1_000);
    const marks = scene.takeMarks();
    assert.equal(marks.length, 51);
    assert.equal(marks.filter(({ generation }) => generation === 101).length, 50);
    assert.deepEqual(
      marks
        .filter(({ name }) => name === 't-7')
        .map(({ reason }) => reason)
        .sort(),
      ['created', 'deleted'],
    );
    await scene.stop();
  });

  it('moves its position with a bookmark, which is no message (B06)', async () => {
    const scene = new Scene();
    await scene.start();
    scene.openWatch.bookmark('5000');
    await scene.clock.settle();
    await scene.clock.advance(2_000);
    scene.openWatch.end();
    await scene.clock.settle();
    assert.deepEqual([scene.openWatch.options.resourceVersion, scene.sent(), scene.count('list')], ['5000', [], 1]);
    assert.equal(scene.cell.status().reconnectCount, 1);
    await scene.stop();
  });

  it('resumes behind a frame that is cut off, and reads it again (B06)', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    await scene.start();
    const watch = scene.openWatch;
    watch.paused = true;
    scene.change('a');
    watch.end();
    await scene.clock.advance(1_000);
    assert.deepEqual([scene.sent(), scene.count('list')], [['generation-changed a'], 1]);
    await scene.stop();
  });

  it('probes a quiet stream and leaves it open when all is well', async () => {
    const scene = new Scene();
    await scene.start();
    await scene.clock.advance(300_000);
    const lists = scene.cluster.requestsOf('list').map(({ detail }) => detail['limit']);
    assert.deepEqual([lists, scene.count('watch')], [[500, 1], 1]);
    await scene.clock.advance(299_000);
    assert.equal(scene.count('list'), 2);
    await scene.stop();
  });

  it('lists again when the columns of the stream are not those of the list', async () => {
    const scene = new Scene();
    await scene.start();
    const row = { cells: ['a', 'x'], metadata: { name: 'a', uid: 'u', resourceVersion: '1002', generation: 1 } };
    const columns = [
      { name: 'Name', type: 'string' },
      { name: 'Observed', type: 'string' },
    ];
    scene.openWatch.push({ type: 'BOOKMARK', resourceVersion: '1001' });
    await scene.clock.settle();
    scene.openWatch.push({ type: 'MODIFIED', row, columns });
    await scene.clock.advance(1_000);
    assert.deepEqual([scene.count('list'), scene.cell.status().phase, scene.sent()], [2, 'streaming', []]);
    await scene.stop();
  });
});

describe('a cell that is stopped', () => {
  it('closes an open stream and hears nothing of it any more', async () => {
    const scene = new Scene();
    await scene.start();
    const watch = scene.openWatch;
    await scene.stop();
    watch.push({ type: 'ADDED', row: { cells: [], metadata: { name: 'x', uid: 'u', resourceVersion: '9' } } });
    await scene.clock.settle();
    assert.deepEqual([watch.open, scene.clock.sleeperCount, scene.marks.size, scene.cell.status().phase], [false, 0, 0, 'stopped']);
  });

  for (const verb of ['servedKind', 'list', 'watch'] as const) {
    it(`gives up a call of ${verb} that never answers`, async () => {
      const scene = new Scene();
      scene.cluster.fault({ verb }, { hang: true });
      await scene.start();
      const count = scene.cluster.requests.length;
      await scene.stop();
      await scene.clock.advance(600_000);
      assert.deepEqual([scene.cluster.requests.length, scene.clock.sleeperCount], [count, 0]);
    });
  }

  it('opens no watch after a stop during a backoff', async () => {
    const scene = new Scene();
    scene.cluster.unserve(tenants);
    await scene.start();
    await scene.stop();
    const count = scene.cluster.requests.length;
    await scene.clock.advance(600_000);
    assert.deepEqual([scene.cluster.requests.length, scene.clock.sleeperCount], [count, 0]);
  });
});
