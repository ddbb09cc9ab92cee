/** Objects that are run again because their Plan asks: one chain of wake-ups an object, whatever comes in between. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ConflictError, TerminalError, TransientError } from '../../../functions/core/errors.ts';
import { configMaps, namespaces } from '../../../functions/core/kinds.ts';
import { envelopeOf } from '../../fakes/queue.ts';
import { at, branches, Deliveries } from './deliveries.ts';
import { Harness, planFor, widgets } from './harness.ts';
import { LIVE_ARN, QUEUE_URLS, rawRecord, recordOf } from './records.ts';

let h: Harness;
let sqs: Deliveries;
/** What the Plan asks for. */
let requeueAfterSeconds: unknown;

beforeEach(() => {
  h = new Harness();
  sqs = new Deliveries(h);
  requeueAfterSeconds = 5;
  h.author = ({ object }) => ({ ...planFor(object), requeueAfterSeconds });
  h.createWidget();
});

const stored = (): unknown => h.status()['nextReconcileTime'];
const childEvent = () => h.deliver({ reason: 'child-changed', mustRun: true });

describe('a Plan with requeueAfterSeconds', () => {
  it('stores the time with the confirm, and sends for it what the confirm answered', async () => {
    const line = await h.deliver({ attempt: 3, failures: { transient: 2 } });
    assert.deepEqual([line['branch'], line['disposition'], line['delaySeconds']], ['requeue-after', 'requeue', 5]);
    assert.equal(stored(), at(5));
    assert.deepEqual(h.condition('Ready')?.['reason'], 'Reconciled');
    const [sent] = h.queue.accepted;
    assert.equal(sent?.queueUrl, QUEUE_URLS.live);
    const { data } = envelopeOf(sent.message);
    const { uid, resourceVersion, generation } = h.widget()?.metadata ?? {};
    assert.deepEqual([data.uid, data.resourceVersion, data.generation], [uid, resourceVersion, generation]);
    assert.deepEqual([data.reason, data.mustRun, data.attempt, data.notBefore, data.failures], ['requeue', true, 1, at(5), undefined]);
  });

  it('runs at that time, and from then on', async () => {
    await h.deliver();
    const lines = await sqs.pass(50);
    assert.deepEqual(branches(lines), Array(10).fill('requeue-after'));
    assert.deepEqual(sqs.chains(), [at(55)]);
    assert.equal(stored(), at(55));
  });

  it('keeps exactly one chain through 20 child events, which neither put it off nor write', async () => {
    await h.deliver();
    let kept = 0;
    for (let event = 0; event < 20; event += 1) {
      await sqs.pass(1);
      const before = h.widget()?.metadata.resourceVersion;
      const line = await childEvent();
      if (line['branch'] === 'reconciled') {
        kept += 1;
        assert.equal(h.widget()?.metadata.resourceVersion, before, 'an equal status is not stored again');
      }
      assert.deepEqual(sqs.chains(), [stored()], `after child event ${event}`);
    }
    assert.equal(kept, 20);
    assert.equal(h.inputs.length, 25, 'one run for the change, 20 for the children, 4 wake-ups');
  });

  it('reaches a time that is further than SQS can wait, by hops that do nothing', async () => {
    requeueAfterSeconds = 2000;
    await h.deliver();
    const hops = await sqs.pass(1999);
    assert.deepEqual(branches(hops), ['not-due', 'not-due']);
    assert.deepEqual(sqs.chains(), [at(2000)]);
    assert.equal(h.inputs.length, 1);
    assert.deepEqual(branches(await sqs.pass(1)), ['requeue-after']);
    assert.deepEqual(sqs.chains(), [at(4000)]);
  });

  for (const nonsense of [0, -1, 0.4, Number.NaN, Number.POSITIVE_INFINITY, '5', 1e12])
    it(`refuses ${JSON.stringify(nonsense)} (${nonsense}) before anything is written`, async () => {
      requeueAfterSeconds = nonsense;
      const line = await h.deliver();
      assert.deepEqual([line['branch'], line['code'], h.configNames()], ['author-error', 'invalid-plan', []]);
    });
});

describe('a Plan that asks for something else than before', () => {
  it('takes an earlier time at once; the message of the later one is stale', async () => {
    requeueAfterSeconds = 60;
    await h.deliver();
    requeueAfterSeconds = 25;
    await childEvent();
    assert.equal(stored(), at(25));
    const lines = await sqs.pass(70);
    assert.deepEqual(branches(lines), ['requeue-after', 'requeue-after', 'requeue-stale']);
    assert.deepEqual(sqs.chains(), [at(75)]);
  });

  it('waits for the earlier time that is stored before it takes a later one', async () => {
    await h.deliver();
    requeueAfterSeconds = 60;
    await childEvent();
    assert.equal(stored(), at(5));
    await sqs.pass(5);
    assert.deepEqual([sqs.chains(), stored()], [[at(65)], at(65)]);
  });

  it('ends the chain where it asks for nothing any more', async () => {
    await h.deliver();
    requeueAfterSeconds = undefined;
    await childEvent();
    assert.equal(stored(), undefined);
    assert.deepEqual(branches(await sqs.pass(100)), ['requeue-stale']);
    assert.deepEqual(sqs.pending, []);
  });
});

describe('a run that dies', () => {
  it('after the confirm and before the send: its record comes again and sends', async () => {
    sqs.isTaken = () => false;
    const record = h.recordFor({}, { messageId: 'first' });
    assert.deepEqual(await h.invoke(record), ['first']);
    assert.deepEqual([stored(), sqs.chains()], [at(5), []]);
    sqs.isTaken = () => true;
    const again = { ...record, attributes: { ...record.attributes, ApproximateReceiveCount: '2' } };
    assert.deepEqual(await h.invoke(again), []);
    assert.deepEqual([stored(), sqs.chains()], [at(5), [at(5)]]);
  });

  it('after the send: two messages of one time, of which the next time leaves one', async () => {
    await h.deliver();
    await h.deliver({}, { receiveCount: '2' });
    assert.deepEqual(sqs.chains(), [at(5), at(5)]);
    assert.deepEqual(branches(await sqs.pass(5)), ['requeue-after', 'requeue-stale']);
    assert.deepEqual(sqs.chains(), [at(10)]);
  });

  it('as a wake-up after it stored the next time: its record is not stale although its time is another', async () => {
    await h.deliver();
    sqs.isTaken = () => false;
    await sqs.pass(5);
    assert.deepEqual([stored(), h.inputs.length], [at(10), 2]);
    sqs.isTaken = () => true;
    await sqs.pass(30);
    assert.deepEqual([stored(), sqs.chains()], [at(40), [at(40)]]);
  });

  for (const [name, fault, branch] of [
    ['fails', { throw: new TransientError('server-error', 'no') }, 'transient'],
    ['is overtaken', { throw: new ConflictError('resource-version-conflict', 'moved') }, 'overtaken-newer-run'],
  ] as const)
    it(`and whose record ${name} when it comes again: it sends for the stored time beside its retry`, async () => {
      requeueAfterSeconds = 60;
      sqs.isTaken = () => false;
      await h.deliver();
      sqs.isTaken = () => true;
      // Whoever overtakes it has stored a time that this run would not: the one it finds counts.
      const overtake = async (): Promise<void> => {
        const { name, resourceVersion = '' } = h.widget()?.metadata ?? {};
        const status = { ...h.status(), nextReconcileTime: at(50) };
        const body = { apiVersion: 'platform.example/v1', kind: 'Widget', metadata: { name: String(name), resourceVersion }, status };
        await h.east.client.applyStatus(widgets, body);
      };
      if (branch === 'transient') h.east.fault({ verb: 'applyStatus' }, fault);
      else h.east.fault({ verb: 'applyStatus' }, { first: overtake });
      const line = await h.deliver({}, { receiveCount: '2' });
      assert.equal(line['branch'], branch);
      const time = branch === 'transient' ? at(60) : at(50);
      assert.deepEqual([sqs.pending.map(({ data }) => data.reason).sort(), sqs.chains()], [['requeue', 'retry'], [time]]);
      const lines = await sqs.pass(20);
      assert.deepEqual(branches(lines), ['reconciled']);
      assert.deepEqual([stored(), sqs.chains()], [time, [time]], 'the retry keeps the time, for which somebody has sent');
    });

  it('and whose record becomes a letter when it comes again: it sends for the stored time beside it', async () => {
    requeueAfterSeconds = 60;
    sqs.isTaken = () => false;
    await h.deliver();
    sqs.isTaken = () => true;
    h.author = () => {
      throw new TerminalError('impossible', 'no');
    };
    assert.equal((await h.deliver({}, { receiveCount: '2' }))['disposition'], 'dead-letter');
    assert.deepEqual(sqs.chains(), [at(60)]);
  });

  it('as a wake-up, and whose record fails when it comes again: the stored time has come, so the retry is enough', async () => {
    await h.deliver();
    await h.clock.advance(5000);
    const [wakeUp] = sqs.pending.splice(0);
    h.east.fault({ verb: 'apply' }, { throw: new TransientError('server-error', 'no') });
    await h.invoke(rawRecord(wakeUp?.body ?? '', { receiveCount: '2' }));
    assert.deepEqual(
      sqs.pending.map(({ data }) => data.reason),
      ['retry'],
    );
  });

  it('keeps its record until SQS has both messages', async () => {
    sqs.isTaken = () => false;
    await h.deliver();
    h.east.fault({ verb: 'applyStatus' }, { throw: new TransientError('server-error', 'no') }, 3);
    sqs.isTaken = ({ reason }) => reason === 'retry';
    const record = h.recordFor({}, { messageId: 'first', receiveCount: '2' });
    assert.deepEqual(await h.invoke(record), ['first']);
    sqs.isTaken = ({ reason }) => reason === 'requeue';
    assert.deepEqual(await h.invoke(record), ['first']);
    sqs.isTaken = () => true;
    assert.deepEqual(await h.invoke(record), []);
  });
});

describe('a confirm whose answer is lost', () => {
  for (const [name, fault] of [
    ['was done', { lose: new TransientError('timeout', 'no answer') }],
    ['was not done', { throw: new TransientError('timeout', 'no answer') }],
  ] as const)
    it(`and which ${name}: one chain goes on after the retry`, async () => {
      requeueAfterSeconds = 60;
      h.east.fault({ verb: 'applyStatus' }, fault);
      assert.equal((await h.deliver())['branch'], 'transient');
      await sqs.pass(50);
      assert.ok(sqs.chains().includes(stored() as string));
      await sqs.pass(50);
      assert.deepEqual(sqs.chains(), [stored()]);
      assert.equal(h.inputs.length, 3, 'the change, its retry and one wake-up');
    });
});

describe('a finalizer that is not done', () => {
  beforeEach(async () => {
    h.finalizer = 'platform.example/widget';
    requeueAfterSeconds = undefined;
    await h.deliver();
    h.finalize = () => ({ done: false, requeueAfterSeconds: 5 });
    h.east.delete(widgets, { name: 'a' });
  });
  const deleting = (record = {}) => h.deliver({ reason: 'deleting' }, record);

  it('is asked again in one chain, whatever comes in between, until it is done', async () => {
    await deleting();
    for (let event = 0; event < 10; event += 1) {
      await sqs.pass(1);
      await h.deliver({ reason: 'child-changed', mustRun: true });
      assert.deepEqual(sqs.chains(), [stored()]);
    }
    h.finalize = () => ({ done: true });
    assert.ok(branches(await sqs.pass(5)).includes('finalized'));
    assert.equal(h.widget(), undefined);
    assert.deepEqual(sqs.chains(), []);
  });

  for (const [name, fault] of [
    ['lost', { lose: new TransientError('timeout', 'no answer') }],
    ['an error', { throw: new TransientError('timeout', 'no answer') }],
  ] as const)
    it(`keeps one chain where the answer to the stored time is ${name}`, async () => {
      h.east.fault({ verb: 'applyStatus' }, fault);
      assert.equal((await deleting())['branch'], 'transient');
      await sqs.pass(60);
      assert.deepEqual(sqs.chains(), [stored()]);
    });

  it('sends for the stored time where the run that stored it died', async () => {
    sqs.isTaken = () => false;
    await deleting();
    sqs.isTaken = () => true;
    await deleting({ receiveCount: '2' });
    assert.deepEqual(sqs.chains(), [stored()]);
  });
});

describe('a record that comes again while the API server is away', () => {
  it('sends for the time that its first run stored, once it can be read', async () => {
    requeueAfterSeconds = 60;
    sqs.isTaken = () => false;
    await h.deliver();
    sqs.isTaken = () => true;
    h.east.fault({ verb: 'get' }, { throw: new TransientError('server-error', 'no') });
    assert.equal((await h.deliver({}, { receiveCount: '2' }))['branch'], 'transient');
    assert.deepEqual(branches(await sqs.pass(10)), ['requeue-after']);
    assert.deepEqual(sqs.chains(), [stored()]);
  });
});

describe('a wake-up', () => {
  it('whose run fails goes on as a retry, and the chain after it: not lost, not doubled', async () => {
    await h.deliver();
    h.east.fault({ verb: 'apply' }, { throw: new TransientError('server-error', 'no') }, 2);
    const lines = await sqs.pass(10);
    assert.deepEqual(branches(lines), ['transient', 'transient', 'requeue-after']);
    assert.deepEqual(sqs.chains(), [stored()]);
    await sqs.pass(60);
    assert.deepEqual([sqs.chains(), sqs.pending.length], [[stored()], 1]);
  });

  it('shows its failure without losing the stored time', async () => {
    await h.deliver();
    const author = h.author;
    h.author = () => {
      throw new Error('not today');
    };
    await sqs.pass(5);
    assert.equal(h.condition('Ready')?.['status'], 'False');
    assert.equal(stored(), at(5));
    h.author = author;
    await sqs.pass(60);
    assert.deepEqual([sqs.chains(), sqs.pending.length], [[stored()], 1]);
  });

  it('that is overtaken by a newer spec leaves the chain to whoever stored the next time', async () => {
    await h.deliver();
    await h.clock.advance(5000);
    h.east.fault({ verb: 'applyStatus' }, { first: () => void h.setConfig(['one', 'two']) });
    assert.deepEqual(branches(await sqs.pass(0)), ['overtaken-newer-spec']);
    await h.deliver();
    await sqs.pass(3);
    assert.deepEqual([sqs.chains(), sqs.pending.length], [[stored()], 1]);
    assert.deepEqual(h.configNames(), ['one', 'two']);
  });

  it('of an object that was re-created is stale for its successor', async () => {
    await h.deliver();
    h.east.delete(widgets, { name: 'a' });
    h.east.delete(configMaps, { namespace: 'widget-a', name: 'one' });
    h.east.delete(namespaces, { name: 'widget-a' });
    h.createWidget();
    assert.deepEqual(branches(await sqs.pass(5)), ['requeue-stale']);
    await h.deliver();
    assert.deepEqual(sqs.chains(), [at(10)]);
  });

  it('of an object that is gone ends', async () => {
    await h.deliver();
    h.east.delete(widgets, { name: 'a' });
    assert.deepEqual(branches(await sqs.pass(5)), ['gone']);
    assert.deepEqual(sqs.pending, []);
  });

  it('runs when one of several that arrive together is the one that is waited for', async () => {
    await h.deliver();
    await h.clock.advance(5000);
    const [right] = sqs.pending.splice(0);
    const wrong = recordOf({ ...right?.data, notBefore: at(3) });
    assert.deepEqual(await h.invoke(wrong, rawRecord(right?.body ?? '', { arn: LIVE_ARN })), []);
    assert.equal(h.lastRun()['branch'], 'requeue-after');
    assert.deepEqual(sqs.chains(), [at(10)]);
  });

  it('is no reason to skip what came with it', async () => {
    await h.deliver();
    const stale = recordOf({ ...sqs.pending[0]?.data, notBefore: at(0) });
    await h.invoke(stale, h.recordFor({ reason: 'child-changed', mustRun: true }));
    assert.deepEqual([h.lastRun()['branch'], h.inputs.length], ['reconciled', 2]);
  });

  it('that was a dead letter and was redriven runs, whatever is stored', async () => {
    await h.deliver();
    const { notBefore: _over, ...data } = { ...sqs.pending[0]?.data };
    await h.invoke(recordOf(data));
    assert.equal(h.lastRun()['branch'], 'reconciled');
  });
});
