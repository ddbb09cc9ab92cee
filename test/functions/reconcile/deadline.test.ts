/** A run that the author does not end in time: seen on the object, and never able to write any more. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps } from '../../../functions/core/kinds.ts';
import { Harness, planFor, widgets } from './harness.ts';
import { START } from './records.ts';

const NEVER = new Promise<never>(() => {});
const MESSAGE = 'the run took too long: pass `signal` to every call, or raise DOGWATCH_RECORD_DEADLINE_SECONDS';

function hanging(author: Harness['author'] = () => NEVER): Harness {
  const harness = new Harness();
  harness.createWidget();
  harness.author = author;
  return harness;
}

const usedMs = (harness: Harness): number => harness.clock.now().getTime() - START.getTime();

describe('an author that hangs', () => {
  it('shows on the object from the first deadline on, and the line says the same', async () => {
    const harness = hanging();
    assert.deepEqual(await harness.invoke(harness.recordFor({ reason: 'created' }, { messageId: 'm' })), ['m']);
    const { status, reason, message, observedGeneration } = harness.condition('Ready') ?? {};
    assert.deepEqual(
      { status, reason, message, observedGeneration },
      { status: 'False', reason: 'Deadline', message: MESSAGE, observedGeneration: 1 },
    );
    assert.equal(harness.status()['observedGeneration'], undefined);
    const line = harness.lastRun();
    assert.deepEqual([line['code'], line['stage'], line['error'], line['disposition']], ['deadline', 'author', MESSAGE, 'fail-item']);
    assert.deepEqual(
      harness.east.events.map((event) => event['reason']),
      ['Deadline'],
    );
    assert.equal(harness.clock.sleeperCount, 0);
  });

  it('can still not write when it goes on after that', async () => {
    const late = Promise.withResolvers<void>();
    const harness = hanging(async ({ object, read }) => {
      await late.promise;
      await read(configMaps, { namespace: 'x', name: 'y' }).catch(() => undefined);
      return planFor(object);
    });
    await harness.deliver({ reason: 'created' });
    harness.takeRequests();
    late.resolve();
    await harness.clock.settle();
    assert.deepEqual(harness.takeRequests(), []);
    assert.equal(harness.condition('Ready')?.['reason'], 'Deadline');
  });

  it('is not shown over what moved the object in the meantime', async () => {
    for (const change of [
      (at: Harness) => void at.label('x'),
      (at: Harness) => void at.setConfig(['two']),
      (at: Harness) => {
        at.east.delete(widgets, { name: 'a' });
        at.createWidget();
      },
    ]) {
      const harness: Harness = hanging(() => {
        change(harness);
        return NEVER;
      });
      await harness.deliver({ reason: 'created' });
      assert.deepEqual(harness.status(), {});
    }
  });

  it('goes with the success of the redelivery', async () => {
    const harness = hanging();
    const record = harness.recordFor({ reason: 'created' }, { receiveCount: '2' });
    await harness.invoke(harness.recordFor({ reason: 'created' }));
    harness.author = ({ object }) => planFor(object);
    await harness.invoke(record);
    assert.equal(harness.condition('Ready')?.['status'], 'True');
  });

  it('is not held up by an API server that does not take the status', async () => {
    const harness = hanging();
    harness.east.fault({ verb: 'applyStatus' }, { hang: true });
    assert.equal((await harness.deliver({ reason: 'created' }))['disposition'], 'fail-item');
    assert.equal(usedMs(harness), 22_000);
    assert.equal(harness.clock.sleeperCount, 0);
  });

  it('is given up with the invocation where that ends sooner', async () => {
    const harness = hanging();
    harness.remainingMs = 6_000;
    harness.east.fault({ verb: 'applyStatus' }, { hang: true });
    await harness.deliver({ reason: 'created' });
    assert.equal(usedMs(harness), 5_000);
  });

  it('is not blamed where it is the API server that does not answer', async () => {
    const harness = hanging(({ read }) => read(configMaps, { namespace: 'x', name: 'y' }));
    harness.east.fault({ verb: 'get', name: 'y' }, { hang: true });
    const line = await harness.deliver({ reason: 'created' });
    assert.deepEqual([line['code'], line['stage']], ['deadline', 'author']);
    assert.doesNotMatch(String(line['error']), /signal/);
    assert.deepEqual(harness.status(), {});
  });
});
