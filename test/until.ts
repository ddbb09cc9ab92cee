/** For tests over real sockets: waits for a condition, not for a time. */
import { setTimeout as wait } from 'node:timers/promises';

/** Resolves once it is true. @throws Error that says what was waited for */
export async function until(what: string, isTrue: () => boolean, limitMs = 60_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await wait(2);
  }
}
