/** An object that was deleted and made again while a message of the first one was being retried. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TerminalError, TransientError } from '../../../functions/core/errors.ts';
import { Harness, widgets } from './harness.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS, START } from './records.ts';

/** A cluster where `a` was made again, a record of the old one at attempt 7, and hours later. */
async function replaced(error: Error) {
  const harness = new Harness();
  harness.createWidget();
  harness.author = () => {
    throw error;
  };
  const record = harness.recordFor({
    ...{ reason: 'retry', attempt: 7, failures: { 'author-error': 6, transient: 6 }, mustRun: true, heldSeconds: 5 },
    history: [{ attempt: 6, at: START.toISOString(), code: 'author-error' }],
  });
  harness.east.delete(widgets, { name: 'a' });
  const { uid } = harness.createWidget().metadata;
  await harness.clock.advance(20_000_000);
  await harness.invoke(record);
  return { harness, uid, now: harness.clock.now().toISOString() };
}

describe('a retry that meets another object of the name', () => {
  it('is sent again with that one’s uid and a budget that begins now', async () => {
    const { harness, uid, now } = await replaced(new RangeError('boom'));
    const { data } = harness.queue.envelopes(QUEUE_URLS.live)[0] ?? {};
    assert.deepEqual([data?.uid, data?.attempt, data?.firstSeenAt, data?.heldSeconds], [uid, 2, now, undefined]);
    assert.deepEqual([data?.failures, data?.history], [{ 'author-error': 1 }, [{ attempt: 1, at: now, code: 'author-error' }]]);
    assert.equal(harness.lastRun()['attempt'], 1);
    assert.equal(harness.lastRun()['uid'], uid);
  });

  it('shows no failure that may pass before it has met that one thrice, and is not too old', async () => {
    const { harness } = await replaced(new TransientError('busy', 'wait'));
    assert.equal(harness.lastRun()['disposition'], 'requeue');
    await harness.redeliver();
    assert.equal(harness.condition('Ready'), undefined);
    await harness.redeliver();
    assert.equal(harness.condition('Ready')?.['reason'], 'Busy');
  });

  it('is a letter about that one where it is refused', async () => {
    const { harness, uid, now } = await replaced(new TerminalError('no-such-plan', 'choose another plan'));
    const { data } = harness.queue.envelopes(DEAD_LETTER_QUEUE_URL)[0] ?? {};
    assert.deepEqual([data?.uid, data?.diagnosis?.firstSeenAt], [uid, now]);
    assert.deepEqual(data?.diagnosis?.attempts, [{ attempt: 1, at: now, code: 'no-such-plan' }]);
  });
});
