/** The system clock at many times its speed: for code that waits by its clock but talks over real sockets. */
import { type Clock, systemClock } from '../../functions/adapters/clock.ts';

/**
 * @param factor seconds that pass in one
 * @param start  what it shows at first. Random numbers are all 0.5, so that every wait is known
 */
export function hurriedClock(factor: number, start: Date): Clock {
  const beganMs = performance.now();
  const steadyMs = (): number => Math.floor(start.getTime() + (performance.now() - beganMs) * factor);
  return {
    ...systemClock,
    now: () => new Date(steadyMs()),
    steadyMs,
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
    random: () => 0.5,
  };
}
