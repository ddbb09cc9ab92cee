import { setTimeout as sleep } from 'node:timers/promises';
import type { ManagedProcess } from './managed-process.ts';

const POLL_MS = 50;

/** A server ended before it was ready because somebody else listens on its port. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

/**
 * Resolves when `isReady` says true.
 *
 * @throws PortTakenError or Error, with the last lines of its log, as soon as one of `processes` has ended; Error after `seconds`
 */
export async function waitUntilReady(
  isReady: () => Promise<boolean>,
  processes: readonly ManagedProcess[],
  seconds: number,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const ready = await isReady();
    // Looked at after the answer: what answered may be a stranger on the port over which our process has just died.
    for (const one of processes) throwIfEnded(one);
    if (ready) return;
    const last = processes.at(-1);
    if (performance.now() > deadline) throw new Error(`${last?.name} is not ready after ${seconds} s; see ${last?.logPath}`);
    await sleep(POLL_MS);
  }
}

function throwIfEnded(one: ManagedProcess): void {
  if (one.exit === undefined) return;
  const how = one.exit.signal ?? `exit code ${one.exit.code}`;
  const message = `${one.name} ended before it was ready (${how}); last lines of ${one.logPath}:\n${one.lastLines(5)}`;
  throw /address already in use/i.test(one.lastLines(50)) ? new PortTakenError(message) : new Error(message);
}

const PORT_ATTEMPTS = 5;

/**
 * Runs `start` until it does not find its ports taken: between choosing a free port and listening on it, somebody else may
 * have taken it.
 */
export async function retryOnTakenPort<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}
