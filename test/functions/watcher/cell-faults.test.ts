import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DogwatchError, TerminalError, TransientError } from '../../../functions/core/errors.ts';
import { Scene, tenants } from './scene.ts';

const unreachable = (): DogwatchError => new TransientError('unreachable', 'the API server cannot be reached; it is tried again');

describe('an expired position', () => {
  it('told inside the stream leads to one list, whose difference is sent (B02)', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    const gone = scene.create('b', 1);
    await scene.start();
    const watch = scene.openWatch;
    watch.paused = true;
    scene.change('a');
    scene.cluster.delete(tenants, { name: 'b' });
    scene.create('c');
    const listed = String(scene.cluster.store.resourceVersion);
    watch.push({ type: 'ERROR', code: 410, reason: 'Expired', message: 'too old', retryAfterSeconds: undefined });
    await scene.clock.settle();
    const marks = scene.takeMarks();
    assert.deepEqual(marks.map(({ reason, name }) => `${reason} ${name}`).sort(), ['created c', 'deleted b', 'generation-changed a']);
    const deleted = marks.find(({ reason }) => reason === 'deleted');
    assert.deepEqual([deleted?.uid, deleted?.resourceVersion], [gone, listed]);
    assert.deepEqual([scene.count('list'), scene.openWatch.options.resourceVersion, watch.open], [2, listed, false]);
    assert.equal(scene.cell.status().relistCount, 1);
    await scene.stop();
  });

  it('told over and over leads to lists with growing waits (B02)', async () => {
    const scene = new Scene();
    scene.cluster.fault({ verb: 'watch' }, { throw: new TransientError('expired', 'too old') }, 1_000);
    await scene.start();
    await scene.clock.advance(60_000);
    assert.ok(scene.count('list') > 3 && scene.count('list') < 15, `${scene.count('list')} lists in a minute`);
    await scene.stop();
  });
});

describe('a connection that breaks', () => {
  it('is opened again by one watch, with waits, and nothing is sent twice (B04)', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    await scene.start();
    for (let round = 0; round < 5; round += 1) {
      scene.openWatch.fail(unreachable());
      await scene.clock.advanceUntil(() => scene.cluster.openWatches().length === 1, 30_000);
    }
    scene.change('a');
    await scene.clock.settle();
    assert.deepEqual([scene.sent(), scene.count('watch')], [['generation-changed a'], 6]);
    await scene.stop();
  });

  it('delivers what happened meanwhile, without another list of the kind', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    await scene.start();
    scene.openWatch.fail(unreachable());
    scene.change('a');
    await scene.clock.advance(2_000);
    assert.deepEqual(scene.sent(), ['generation-changed a']);
    assert.deepEqual(
      scene.cluster.requestsOf('list').map(({ detail }) => detail['limit']),
      [500, 1],
    );
    await scene.stop();
  });

  it('that ends empty at once five times leads to a list', async () => {
    const scene = new Scene();
    await scene.start();
    for (let round = 0; round < 5; round += 1) {
      scene.openWatch.end();
      await scene.clock.settle();
      await scene.clock.advanceUntil(() => scene.cluster.openWatches().length === 1, 60_000);
    }
    assert.deepEqual([scene.count('list'), scene.count('watch')], [2, 6]);
    await scene.stop();
  });
});

describe('a list that fails', () => {
  it('is tried again with waits, and infers no deletion from half of it (B05)', async () => {
    const scene = new Scene();
    for (let index = 0; index < 600; index += 1) scene.create(`t-${index}`, 1);
    await scene.start();
    scene.change('t-1');
    const tries: DogwatchError[] = [
      unreachable(),
      unreachable(),
      new TransientError('server-error', '503'),
      new TransientError('unauthorized', '401'),
    ];
    for (const error of tries) scene.cluster.fault({ verb: 'list' }, { throw: error });
    scene.cluster.fault({ verb: 'list' }, { first: () => undefined });
    scene.cluster.fault({ verb: 'list' }, { throw: new TransientError('expired', 'the token is too old') });
    scene.cluster.restart();
    await scene.clock.settle();
    assert.equal(scene.cluster.openWatches().length, 0);
    await scene.clock.advanceUntil(() => scene.cluster.openWatches().length === 1, 120_000);
    assert.deepEqual(scene.sent(), ['generation-changed t-1']);
    await scene.stop();
  });

  it('for a conversion that fails is retried with waits, and ends by itself (B28)', async () => {
    const scene = new Scene();
    scene.create('a');
    const broken = new TerminalError('final-server-error', 'conversion webhook failed');
    scene.cluster.fault({ verb: 'list' }, { throw: broken }, 4);
    await scene.start();
    assert.deepEqual([scene.cell.status().phase, scene.cell.status().error?.code], ['failing', 'final-server-error']);
    await scene.clock.advance(60_000);
    assert.deepEqual([scene.sent(), scene.count('list'), scene.cell.status().phase], [['sweep a'], 5, 'streaming']);
    await scene.stop();
  });
});

describe('a page that is too large to be read', () => {
  it('is asked for again by half, and pages keep the size that was found', async () => {
    const scene = new Scene();
    for (let index = 0; index < 300; index += 1) scene.create(`t-${index}`, 1);
    const tooLarge = new TransientError('response-too-large', 'the answer is larger than we read into memory; ask for smaller pages');
    scene.cluster.fault({ verb: 'list' }, { throw: tooLarge }, 2);
    await scene.start();
    const limits = () => scene.cluster.requestsOf('list').map(({ detail }) => detail['limit']);
    assert.deepEqual([limits(), scene.cell.status().phase], [[500, 250, 125, 125, 125], 'streaming']);
    scene.cluster.restart();
    await scene.clock.advance(2_000);
    assert.deepEqual(limits().slice(5), [125, 125, 125]);
    assert.deepEqual([scene.sent(), scene.cell.status().objectCount, scene.log.count('watch failing')], [[], 300, 0]);
    const smaller = scene.log.lines.filter(({ message }) => message.startsWith('a page of the list was too large'));
    assert.deepEqual(
      smaller.map(({ fields }) => fields['pageSize']),
      [250, 125],
    );
    await scene.stop();
  });

  it('is a fault like others where one object alone is too large', async () => {
    const scene = new Scene();
    scene.create('huge', 1);
    const tooLarge = new TransientError('response-too-large', 'the answer is larger than we read into memory; ask for smaller pages');
    scene.cluster.fault({ verb: 'list' }, { throw: tooLarge }, 10);
    await scene.start();
    assert.deepEqual([scene.count('list'), scene.cell.status().error?.code], [9, 'response-too-large']);
    await scene.clock.advance(30_000);
    assert.deepEqual([scene.cell.status().phase, scene.cluster.requestsOf('list').at(-1)?.detail['limit']], ['streaming', 1]);
    await scene.stop();
  });
});

describe('a kind that is not served', () => {
  it('fails with that reason, is asked for with pauses, and is listed when it comes (B27)', async () => {
    const scene = new Scene();
    scene.cluster.unserve(tenants);
    await scene.start();
    await scene.clock.advance(5_000);
    assert.ok(scene.count('list') <= 6, `${scene.count('list')} lists in five seconds`);
    const { phase, error } = scene.cell.status();
    assert.deepEqual([phase, error?.code], ['failing', 'not-served']);
    scene.cluster.serve(tenants, [{ name: 'Observed', jsonPath: '.status.observedGeneration' }]);
    scene.create('a');
    await scene.clock.advance(31_000);
    assert.deepEqual([scene.sent(), scene.cell.status().phase, scene.cell.status().error], [['sweep a'], 'streaming', undefined]);
    assert.equal(scene.cluster.requestsOf('list').at(-1)?.detail['form'], 'table');
    await scene.stop();
  });

  it('under a silent stream is noticed by the probe; what is created with it again is news (B27)', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    await scene.start();
    scene.openWatch.paused = true;
    scene.cluster.delete(tenants, { name: 'a' });
    scene.cluster.unserve(tenants);
    await scene.clock.advance(301_000);
    assert.deepEqual([scene.cell.status().error?.code, scene.sent()], ['not-served', []]);
    scene.create('a');
    scene.cluster.serve(tenants, [{ name: 'Observed', jsonPath: '.status.observedGeneration' }]);
    await scene.clock.advance(31_000);
    assert.deepEqual(scene.sent(), ['created a', 'deleted a']);
    await scene.stop();
  });
});

describe('what a cell cannot handle', () => {
  it('is logged with its stack, the kind is listed again, and later events arrive', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    await scene.start();
    scene.openWatch.push({ type: 'MODIFIED', row: { cells: [], metadata: undefined as never } });
    await scene.clock.advance(2_000);
    const [line] = scene.log.lines.filter(({ level }) => level === 'error');
    assert.ok(line?.fields['error'] instanceof TypeError);
    assert.deepEqual([scene.count('list'), scene.cell.status().phase], [2, 'streaming']);
    scene.change('a');
    await scene.clock.settle();
    assert.deepEqual(scene.sent(), ['generation-changed a']);
    await scene.stop();
  });

  it('does not make it spin, nor is the object taken for sent', async () => {
    const scene = new Scene();
    scene.create('a');
    const { mark } = scene.marks;
    scene.marks.mark = () => {
      throw new RangeError('no mark');
    };
    await scene.start();
    await scene.clock.advance(60_000);
    assert.ok(scene.count('list') > 1 && scene.count('list') < 15, `${scene.count('list')} lists in a minute`);
    assert.equal(scene.count('watch'), 0);
    scene.marks.mark = mark;
    await scene.clock.advance(30_000);
    assert.deepEqual([scene.sent(), scene.cell.status().phase], [['sweep a'], 'streaming']);
    await scene.stop();
  });
});

describe('what a cell says of faults', () => {
  it('is one line when they begin, one for each new code, and one when they end', async () => {
    const scene = new Scene();
    await scene.start();
    const [one, other] = [unreachable(), new TransientError('unauthorized', 'the credentials were refused')];
    for (const error of [one, other, one, other, one]) scene.cluster.fault({ verb: 'list' }, { throw: error });
    scene.openWatch.fail(one);
    await scene.clock.advance(120_000);
    const told = scene.log.lines.filter(({ message }) => message.startsWith('watch '));
    const lines = told.map(({ message, fields }) => [message, fields['code']]);
    assert.deepEqual(lines, [
      ['watch failing', 'unreachable'],
      ['watch failing', 'unauthorized'],
      ['watch recovered', 'unreachable'],
    ]);
    assert.equal(scene.cell.status().phase, 'streaming');
    await scene.stop();
  });

  it('comes with one line for each change of its state', async () => {
    const scene = new Scene();
    await scene.start();
    scene.cluster.fault({ verb: 'list' }, { throw: unreachable() }, 2);
    scene.openWatch.fail(unreachable());
    await scene.clock.advance(400_000);
    scene.openWatch.end();
    await scene.clock.advance(1_000);
    await scene.stop();
    const told = scene.log.lines.filter(({ message }) => message === 'cell changed its state');
    assert.deepEqual(
      told.map(({ fields }) => [fields['phaseBefore'], fields['phase'], fields['code']]),
      [
        ['listing', 'streaming', undefined],
        ['streaming', 'recovering', 'unreachable'],
        ['recovering', 'failing', 'unreachable'],
        ['failing', 'streaming', undefined],
        ['streaming', 'stopped', undefined],
      ],
    );
    assert.deepEqual(
      told.map(({ fields: { cluster, kind, role } }) => [cluster, kind, role]),
      Array(5).fill(['east', 'Tenant.platform.example', 'primary']),
    );
  });

  it('shows in the status while it lasts', async () => {
    const scene = new Scene();
    scene.cluster.fault({ verb: 'list' }, { throw: unreachable() }, 3);
    await scene.start();
    const { phase, error, lastEventMs } = scene.cell.status();
    assert.deepEqual([phase, error?.code, lastEventMs], ['failing', 'unreachable', undefined]);
    await scene.clock.advance(60_000);
    assert.deepEqual([scene.cell.status().phase, scene.cell.status().error], ['streaming', undefined]);
    await scene.stop();
  });

  it('ends when a busy server answers the probe beside an open stream', async () => {
    const scene = new Scene();
    await scene.start();
    scene.cluster.fault({ verb: 'list' }, { throw: new TransientError('throttled', 'too many requests', { retryAfterSeconds: 2 }) });
    await scene.clock.advance(300_000);
    assert.deepEqual([scene.cell.status().error?.code, scene.count('watch')], ['throttled', 1]);
    await scene.clock.advance(3_000);
    assert.deepEqual([scene.cell.status().error, scene.count('watch')], [undefined, 1]);
    await scene.stop();
  });
});
