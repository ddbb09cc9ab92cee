import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReplaceableFunction, type RunningCode } from '../../../../infra/local/dev/replaceable-function.ts';
import type { InvocationResult } from '../../../../infra/local/function-host/invocation.ts';

const EVENT = { Records: [] };

/** Code whose invocations end when told. */
function code(name: string) {
  const running: (() => void)[] = [];
  const seen = { invoked: 0, stopped: 0 };
  const run = (): Promise<InvocationResult> => {
    seen.invoked += 1;
    return new Promise((resolve) => {
      running.push(() => resolve({ kind: 'answer', payload: name, requestId: 'r', coldStart: false, initMs: undefined, durationMs: 1 }));
    });
  };
  const own: RunningCode = {
    timeoutMs: 1_000,
    invoke: run,
    async stop() {
      seen.stopped += 1;
    },
  };
  return { own, seen, endOne: () => running.shift()?.() };
}

const payloadOf = async (result: Promise<InvocationResult>): Promise<unknown> => {
  const ended = await result;
  return ended.kind === 'answer' ? ended.payload : ended;
};

describe('ReplaceableFunction', () => {
  it('lets what runs end on the code that began it, and gives what comes to the new one', async () => {
    const [old, next] = [code('old'), code('next')];
    const replaceable = new ReplaceableFunction(1_000);
    await replaceable.replace(old.own);
    const before = [replaceable.invoke(EVENT), replaceable.invoke(EVENT)];
    const replaced = replaceable.replace(next.own);
    const after = replaceable.invoke(EVENT);
    next.endOne();
    assert.equal(await payloadOf(after), 'next');
    old.endOne();
    assert.equal(await payloadOf(before[0] as Promise<InvocationResult>), 'old');
    assert.equal(old.seen.stopped, 0);
    old.endOne();
    assert.equal(await payloadOf(before[1] as Promise<InvocationResult>), 'old');
    await replaced;
    assert.deepEqual(old.seen, { invoked: 2, stopped: 1 });
    assert.deepEqual(next.seen, { invoked: 1, stopped: 0 });
  });

  it('stops code that does nothing at once', async () => {
    const [old, next] = [code('old'), code('next')];
    const replaceable = new ReplaceableFunction(1_000);
    await replaceable.replace(old.own);
    const ended = replaceable.invoke(EVENT);
    old.endOne();
    await ended;
    await replaceable.replace(next.own);
    assert.equal(old.seen.stopped, 1);
  });

  it('stops all code at the end, also that which was replaced and still runs', async () => {
    const [old, next] = [code('old'), code('next')];
    const replaceable = new ReplaceableFunction(1_000);
    await replaceable.replace(old.own);
    void replaceable.invoke(EVENT);
    void replaceable.replace(next.own);
    await replaceable.stop();
    assert.deepEqual([old.seen.stopped, next.seen.stopped], [1, 1]);
  });

  it('refuses to run without code', async () => {
    await assert.rejects(new ReplaceableFunction(1_000).invoke(EVENT), /no code yet/);
  });
});
