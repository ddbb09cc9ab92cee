import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SendGate } from '../../../functions/watcher/send-gate.ts';

/** The greatest that a random number can be, so that pauses are the longest possible. */
const MOST = 1 - Number.EPSILON;

interface Entry {
  readonly source: object;
  readonly mark: { readonly uid: string };
}

/** Two sources. */
const [east, west] = [{}, {}];

describe('SendGate', () => {
  it('pauses longer after each failure, from 250 ms to 30 s, and not at all after an answer', () => {
    const gate = new SendGate();
    const pauses = Array.from({ length: 8 }, () => {
      gate.failed(gate.ticket(), 1000, MOST);
      return Math.round(gate.notBeforeMs - 1000);
    });
    assert.deepEqual(pauses, [750, 2250, 6750, 20_250, 30_000, 30_000, 30_000, 30_000]);
    assert.equal(gate.isProbing, true);
    gate.succeeded();
    assert.deepEqual([gate.isProbing, gate.notBeforeMs], [false, 0]);
    gate.failed(gate.ticket(), 1000, 0);
    assert.equal(gate.notBeforeMs, 1250);
  });

  it('takes calls that fail together for one failure', () => {
    const gate = new SendGate();
    const tickets = [gate.ticket(), gate.ticket(), gate.ticket()];
    for (const ticket of tickets) gate.failed(ticket, 1000, MOST);
    assert.equal(Math.round(gate.notBeforeMs), 1750);
  });

  it('lets entries of a failed batch wait for the lane alone, a little behind the others', () => {
    const gate = new SendGate();
    for (let round = 0; round < 5; round += 1) {
      gate.failed(gate.ticket(), 1000, MOST);
      assert.equal(gate.retryAtMs(east, 'u', false, 1000, MOST), gate.notBeforeMs + 100);
    }
  });

  it('delays an entry more each time it fails beside others, until it is taken', () => {
    const gate = new SendGate();
    gate.succeeded();
    const delays = Array.from({ length: 4 }, () => Math.round(gate.retryAtMs(east, 'u', true, 1000, MOST) - 1000));
    assert.deepEqual(delays, [750, 2250, 6750, 20_250]);
    assert.equal(Math.round(gate.retryAtMs(east, 'v', true, 1000, MOST)), 1750);
    gate.forget(east, 'u');
    assert.equal(Math.round(gate.retryAtMs(east, 'u', true, 1000, MOST)), 1750);
  });

  it('knows an entry that fails alone, while the lane answers for others, as the cause', () => {
    const gate = new SendGate();
    for (const expected of [100, 750, 2250]) {
      gate.failed(gate.ticket(), 1000, MOST);
      assert.equal(Math.round(gate.retryAtMs(east, 'u', false, 1000, MOST) - gate.notBeforeMs), expected);
      gate.succeeded();
    }
  });

  it('does not pause for one entry, however often it fails, but for another one after it', () => {
    const gate = new SendGate();
    const fails = (...entries: Entry[]): boolean => {
      gate.failed(gate.ticket(), 1000, MOST, entries);
      for (const { source, mark } of entries) gate.retryAtMs(source, mark.uid, false, 1000, MOST);
      return gate.isProbing;
    };
    const [first, second, third] = ['u', 'v', 'w'].map((uid) => ({ source: east, mark: { uid } })) as [Entry, Entry, Entry];
    assert.deepEqual([fails(first), fails(first), gate.isSilent, gate.notBeforeMs], [false, false, true, 0]);
    assert.equal(Math.round(gate.retryAtMs(east, 'u', false, 1000, MOST) - 1000), 6750);
    assert.equal(fails({ source: west, mark: { uid: 'u' } }), true);
    gate.succeeded();
    assert.equal(fails(first), false, 'the queue took others while it failed');
    assert.equal(fails(second, third), true);
    gate.succeeded();
    assert.equal(fails(first, second, third), false);
    assert.equal(fails(first, second, third), false, 'what failed while the queue took others says nothing of it');
    gate.forget(east, 'v');
    gate.forget(east, 'w');
    assert.equal(fails(first, second), false);
    assert.equal(fails(third), true);
  });

  it('keeps equal uids of two sources apart', () => {
    const gate = new SendGate();
    gate.succeeded();
    for (let round = 0; round < 3; round += 1) gate.retryAtMs(east, 'u', true, 1000, MOST);
    assert.equal(Math.round(gate.retryAtMs(west, 'u', true, 1000, MOST)), 1750);
    gate.forget(west, 'u');
    assert.equal(Math.round(gate.retryAtMs(east, 'u', true, 1000, MOST)), 21_250);
  });
});
