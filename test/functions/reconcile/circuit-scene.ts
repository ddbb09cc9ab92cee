/** A cluster that stops answering, for the tests of its circuit. */
import assert from 'node:assert/strict';
import type { EnvelopeData } from '../../../events/envelope.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import { Harness } from './harness.ts';

export const down = (code = 'unreachable', retryAfterSeconds?: number) => new TransientError(code, 'down', { retryAfterSeconds });

/** Widgets w0, w1 ... in east. */
export function widgetsOf(count: number): { harness: Harness; names: string[] } {
  const harness = new Harness();
  const names = Array.from({ length: count }, (_, index) => `w${index}`);
  for (const name of names) harness.createWidget(name);
  return { harness, names };
}

/** What became of each record of one invocation: branch by name. */
export async function run(harness: Harness, names: readonly string[], over: Partial<EnvelopeData> = {}): Promise<string[]> {
  harness.lines.length = 0;
  await harness.invoke(...names.map((name) => harness.recordFor({ name, reason: 'created', ...over }, { messageId: name })));
  return names.map((name) => {
    const line = harness.lines.find(({ fields }) => (fields['messageIds'] as string[] | undefined)?.includes(name));
    return String(line?.fields['branch']);
  });
}

/** From now on every call to east throws its `error`, while there is one. */
export function breakEast(harness: Harness, error: Error): { error: Error | undefined } {
  const outage: { error: Error | undefined } = { error };
  const fail = (): void => {
    if (outage.error !== undefined) throw outage.error;
  };
  harness.east.fault({}, { first: fail }, 1e9);
  return outage;
}

/** A harness whose circuit of east has just opened: waits 10 s. */
export async function opened(count = 12): Promise<{ harness: Harness; names: string[]; outage: { error: Error | undefined } }> {
  const { harness, names } = widgetsOf(count);
  const outage = breakEast(harness, down());
  for (const name of names.slice(0, 5)) await run(harness, [name]);
  assert.deepEqual(await run(harness, ['w5']), ['circuit-open']);
  harness.queue.accepted.length = 0;
  harness.takeRequests();
  return { harness, names, outage };
}

export const circuitLines = (harness: Harness) => harness.lines.filter(({ message }) => message.startsWith('circuit'));
