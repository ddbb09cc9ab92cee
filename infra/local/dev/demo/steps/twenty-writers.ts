import { setTimeout as sleep } from 'node:timers/promises';
import { figuresOf } from '../ledger.ts';
import { storyTenant } from '../objects.ts';
import type { Stage, StageObject, Step } from '../story-step.ts';
import { counted } from '../summary.ts';
import { countSent } from './sent-messages.ts';

const harbor = storyTenant('harbor');
const WRITERS = 20;
/** Pods of each spec; each is a change, and each change is a message. */
const SPECS = [50, 60] as const;
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
    const sentSince = await countSent(stage, east);
    const [meanwhile, afterwards] = SPECS;
    let isInForce = false;
    const writers = Array.from({ length: WRITERS }, (_, index) => write(stage, index, () => isInForce));
    const changed = east.apply(harbor, harbor.spec(meanwhile)).then(() => stage.ready(east, harbor));
    changed.finally(() => (isInForce = true)).catch(() => undefined);
    const counts = await Promise.all(writers);
    await changed;
    // The watcher sees what happens in its order: once it has sent this change, it has seen every write before it.
    await east.apply(harbor, harbor.spec(afterwards));
    await stage.ready(east, harbor);
    await stage.quiet();
    const foreign = counts.reduce((sum, count) => sum + count, 0);
    const what = `${foreign} writes by others and ${SPECS.length} of the spec`;
    const sent = await sentSince.checkAtMost(SPECS.length, harbor, what);
    if (sent !== undefined) stage.tell(`of ${what}, the watcher has made ${sent} messages`);
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
