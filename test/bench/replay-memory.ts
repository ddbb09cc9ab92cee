/** What a process takes that plans very many letters, each of which is as large as a real one. */
import type { DevReport } from './dev-start.ts';
import { startScriptedLetters } from './letters-process.ts';
import { measurePlan, type PlanOrder } from './replay-process.ts';

export interface MemoryOrder extends PlanOrder {
  /** MB that the process may have resident at any time. */
  readonly maxMb: number;
}

export async function measureReplayMemory({ maxMb, ...order }: MemoryOrder): Promise<DevReport> {
  const { letters, objects } = order;
  const scripted = await startScriptedLetters(letters, objects);
  try {
    const { peakMb, endSeconds } = await measurePlan(order, scripted, scripted);
    const { gets, hidden } = await scripted.report();
    const text = `replay plan takes ${peakMb.toFixed(0)} MB at most for ${letters} letters of ${objects} objects, with ${gets} GETs, in ${endSeconds.toFixed(1)} s`;
    const overruns = [
      ...(peakMb > 0 && peakMb <= maxMb ? [] : [`${text}; at most ${maxMb} MB are allowed`]),
      ...(gets <= objects ? [] : [`${text}; at most one an object is allowed`]),
      ...(hidden === 0 ? [] : [`replay plan ended with ${hidden} letters hidden`]),
    ];
    return { text, overruns };
  } finally {
    scripted.stop();
  }
}
