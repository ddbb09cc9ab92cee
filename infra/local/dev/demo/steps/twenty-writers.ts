import { setTimeout as sleep } from 'node:timers/promises';
import { figuresOf } from '../ledger.ts';
import { storyTenant } from '../objects.ts';
import type { Stage, StageObject, Step } from '../story-step.ts';
import { counted } from '../summary.ts';

const harbor = storyTenant('harbor');
const WRITERS = 20;
/** Of each writer at least. */
const WRITES = 5;
/** And at most, where the machine is too busy to bring the spec into force meanwhile. */
const WRITES_MAX = 12;
const PAUSE_MS = 500;

/** Foreign writers on an object whose spec changes meanwhile. */
export const twentyWriters: Step = {
  name: 'twenty writers',
  text: 'annotations and conditions of harbor in east, while its spec changes',
  async play(stage) {
    const { east } = stage;
    const sentBefore = await stage.sentByWatcher(east);
    let isInForce = false;
    const writers = Array.from({ length: WRITERS }, (_, index) => write(stage, index, () => isInForce));
    const changed = east.apply(harbor, harbor.spec(50)).then(() => stage.ready(east, harbor));
    changed.finally(() => (isInForce = true)).catch(() => undefined);
    const counts = await Promise.all(writers);
    await changed;
    // The watcher sees what happens in its order: once it has sent this change, it has seen every write before it.
    await east.apply(harbor, harbor.spec(60));
    await stage.ready(east, harbor);
    await stage.quiet();
    const foreign = counts.reduce((sum, count) => sum + count, 0);
    const sent = (await stage.sentByWatcher(east)) - sentBefore;
    // A watcher that was begun anew, because its code was saved meanwhile, counts from nothing.
    if (sent >= 0) stage.tell(`of ${foreign} writes by others and 2 of the spec, the watcher has made ${sent} messages`);
    const { rereads, sentAgain } = figuresOf(stage.lines(east, harbor));
    return `${foreign} foreign writes, ${counted(rereads, 're-read')}, ${sentAgain} sent again`;
  },
};

/** One of them, until the spec is in force. @returns how often it has written */
async function write(stage: Stage, index: number, isOver: () => boolean): Promise<number> {
  const name = `writer-${String(index + 1).padStart(2, '0')}`;
  let count = 0;
  await sleep((index * PAUSE_MS) / WRITERS, undefined, { signal: stage.signal });
  while (count < WRITES || (count < WRITES_MAX && !isOver())) {
    count += 1;
    await (index % 2 === 0 ? annotate(stage, harbor, name, count) : report(stage, harbor, name, count));
    await sleep(PAUSE_MS, undefined, { signal: stage.signal });
  }
  return count;
}

function annotate({ east }: Stage, object: StageObject, name: string, count: number): Promise<void> {
  return east.patch(object, { body: { metadata: { annotations: { [`${name}.example/count`]: String(count) } } }, fieldManager: name });
}

function report({ east }: Stage, object: StageObject, name: string, count: number): Promise<void> {
  const condition = {
    ...{ type: `${name}.example/Seen`, status: 'True', reason: 'Looked', message: `${count} times` },
    lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  return east.applyStatus(object, { body: { conditions: [condition] }, fieldManager: name });
}
