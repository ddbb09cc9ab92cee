import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether `pid` is gone; a zombie, for which nobody has waited yet, is. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  try {
    return /^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** What `look` returns once that is truthy; a throw counts as not yet. Fails after ten seconds. */
export async function untilFound<T>(look: () => T): Promise<NonNullable<T>> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      const found = look();
      if (found) return found;
    } catch {
      // Not there yet.
    }
    assert.ok(performance.now() < deadline, `not so within 10 s: ${look}`);
    await sleep(20);
  }
}
