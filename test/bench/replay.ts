/** What `replay plan` costs: how much memory for very many letters, and how long it takes beside what would be written by hand. */
import type { DevReport } from './dev-start.ts';
import { type MemoryOrder, measureReplayMemory } from './replay-memory.ts';
import { measureReplaySpeed, type SpeedOrder } from './replay-speed.ts';

export interface ReplayScale {
  /** A letter an object is the most that has to be remembered. */
  readonly memory: Omit<MemoryOrder, 'dist'>;
  readonly speed: Omit<SpeedOrder, 'dist'>;
}

export async function measureReplay({ memory, speed, dist }: ReplayScale & { readonly dist: string }): Promise<DevReport> {
  const reports = [await measureReplaySpeed({ ...speed, dist }), await measureReplayMemory({ ...memory, dist })];
  return { text: reports.map(({ text }) => text).join('\n'), overruns: reports.flatMap(({ overruns }) => overruns) };
}
