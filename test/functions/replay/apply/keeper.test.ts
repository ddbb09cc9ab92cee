import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Keeper } from '../../../../functions/replay/apply/keeper.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeLetterQueue } from '../../../fakes/letter-queue.ts';

const LETTERS = 5_000;
const VISIBILITY_SECONDS = 300;

describe('Keeper of very many letters', () => {
  let clock: FakeClock;
  let queue: FakeLetterQueue;
  let ended: AbortController;
  let keeper: Keeper;

  beforeEach(() => {
    clock = new FakeClock();
    queue = new FakeLetterQueue(clock);
    ended = new AbortController();
    keeper = new Keeper({ queue, clock, visibilitySeconds: VISIBILITY_SECONDS, ended: ended.signal, onLost: () => {} });
    for (let at = 0; at < LETTERS; at += 1) keeper.hold(`message-${at}`, `handle-${at}`, clock.steadyMs() + VISIBILITY_SECONDS * 1000);
  });

  it('gives up giving back where SQS takes nothing of a whole call', async () => {
    let calls = 0;
    queue.release = async (handles) => {
      calls += 1;
      return handles.map((_, place) => place);
    };
    assert.equal(await clock.finish(keeper.releaseAll()), LETTERS);
    assert.ok(calls <= 16, `${calls} calls`);
  });

  it('goes on giving back where SQS takes some', async () => {
    queue.release = async (handles) => handles.flatMap((handle, place) => (handle.endsWith('0') ? [place] : []));
    assert.equal(await clock.finish(keeper.releaseAll()), LETTERS / 10);
  });

  it('extends all before they come back, although each call takes its time', async () => {
    queue.extend = async () => {
      await clock.sleep(5_000);
      return [];
    };
    const kept = keeper.keep();
    await clock.advance(VISIBILITY_SECONDS * 1000 + 1);
    assert.equal((await keeper.heldOf(Array.from({ length: LETTERS }, (_, at) => `message-${at}`))).length, LETTERS);
    ended.abort();
    await clock.finish(kept);
  });
});
