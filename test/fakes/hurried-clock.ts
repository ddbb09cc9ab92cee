/** The system clock at many times its speed: for code that waits by its clock but talks over real sockets. */
import { type Clock, systemClock } from '../../functions/adapters/clock.ts';

/**
 * @param factor seconds that pass in one
 * @param start  what it shows at first. Random numbers are all 0.5, so that every wait is known
 */
export function hurriedClock(factor: number, start: Date): Clock {
  const beganMs = performance.now();
  return {
    ...systemClock,
    now: () => new Date(start.getTime() + (performance.now() - beganMs) * factor),
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
    random: () => 0.5,
  };
}
