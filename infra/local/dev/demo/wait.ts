/** Waiting for what can be read, and for no time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Stage, StepFailure } from './story-step.ts';

const LOOK_MS = 50;

/** The waits of a stage, each of at most `boundSeconds`. @param signal  ends them with its reason */
export function waitsOf(boundSeconds: number, signal: AbortSignal): Stage['until'] {
  return async (what, look, state) => {
    const endMs = performance.now() + boundSeconds * 1000;
    for (;;) {
      signal.throwIfAborted();
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > endMs) {
        const now = await state?.();
        throw new StepFailure(`waited ${boundSeconds} s for ${what}${now === undefined ? '' : `; ${now}`}`);
      }
      await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  };
}
