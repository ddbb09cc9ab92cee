/** The built watcher in its own process, with its memory as the kernel counts it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../real/api.ts';
import { type RunningProcess, startProcess } from '../real/process.ts';

/** What a container gives to Node. V8's own choice, 16 MB, is for garbage at a rate that a watcher does not have. */
const WATCHER_FLAGS: readonly string[] = ['--max-semi-space-size=1'];

/** A process's memory at one moment, in MB of a million bytes. */
export interface Memory {
  /** The most that was ever resident (VmHWM). */
  readonly peak: number;
  readonly resident: number;
  /** Live and dead objects of V8's heap. */
  readonly heap: number;
}

export interface MeasuredWatcher {
  /** Resolves when all its cells stream and together know so many objects. */
  knows(count: number): Promise<void>;
  /** Sum of a metric over all its labels that contain `labels`; 0 where there is none. */
  metric(name: string, labels?: string): Promise<number>;
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

const LISTED_WITHIN_MS = 180_000;

/** Starts `dist/watcher.cjs` with exactly this environment besides an address of its own. */
export async function startMeasuredWatcher(
  dist: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = WATCHER_FLAGS,
): Promise<MeasuredWatcher> {
  const settings = { DOGWATCH_HTTP_ADDRESS: '127.0.0.1:0', NODE_ENV: 'production' };
  const watcher: RunningProcess = startProcess([process.execPath, ...flags, join(dist, 'watcher.cjs')], { ...env, ...settings });
  const line = await watcher.line(/"address":"/);
  const url = `http://${/"address":"([^"]+)"/.exec(line)?.[1]}`;
  const read = async (path: string): Promise<string> => (await fetch(url + path)).text();
  const metric = async (name: string, labels = ''): Promise<number> => {
    const lines = (await read('/metrics')).split('\n').filter((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `));
    return lines.filter((one) => one.includes(labels)).reduce((sum, one) => sum + Number(one.split(' ').at(-1)), 0);
  };
  return {
    metric,
    async knows(count) {
      const isThere = async (): Promise<true | undefined> => {
        const cells = (await read('/readyz')).split('\n').filter((one) => one.startsWith('{'));
        const states = cells.map((one) => JSON.parse(one) as { readonly phase: string; readonly objects: number });
        const sum = states.reduce((all, { objects }) => all + objects, 0);
        return (sum === count && states.every(({ phase }) => phase === 'streaming')) || undefined;
      };
      try {
        await until(`the watcher streams ${count} objects`, isThere, LISTED_WITHIN_MS, 250);
      } catch (error) {
        throw new Error(`${error}\n${await read('/readyz')}\n${watcher.lines.slice(-10).join('\n')}`);
      }
    },
    async memory() {
      const heap = (await metric('nodejs_heap_size_used_bytes')) / 1e6;
      const status = readFileSync(`/proc/${watcher.pid}/status`, 'utf8');
      return { peak: megabytes(status, 'VmHWM'), resident: megabytes(status, 'VmRSS'), heap };
    },
    async stop() {
      await watcher.stop();
    },
  };
}

/** The kernel says kB and means 1024 bytes. */
function megabytes(status: string, field: string): number {
  return (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6;
}
