/**
 * How long `dogwatch dev` lets somebody wait: processes of it without a terminal, one after another, each stopped by Ctrl-C once
 * every sample is reconciled in both clusters. Times by the lines that it prints.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { tableOf } from './report-table.ts';

interface DevStart {
  /** Of the process, until its first line. */
  readonly firstLine: number;
  readonly build: number;
  /** From the end of the build to the next line. */
  readonly output: number;
  /** From the end of the build until an object is reconciled, and until all samples are. */
  readonly outcome: number;
  readonly all: number;
  /** From Ctrl-C until the process is gone. */
  readonly stop: number;
}

export interface DevReport {
  readonly text: string;
  /** One line for each bound that was not kept. */
  readonly overruns: readonly string[];
}

const ROOT = resolve(import.meta.dirname, '../..');
const RUN_MAX_MS = 60_000;
/** Two samples in two clusters. */
const SAMPLES = 4;

/** In seconds; a row with a bound fails the bench where the median run, of an even number the lower one, is over it. */
const ROWS: readonly { readonly figure: keyof DevStart; readonly what: string; readonly max?: number }[] = [
  { figure: 'firstLine', what: 'process begun, first line', max: 2 },
  { figure: 'build', what: 'build' },
  { figure: 'output', what: 'built, next line', max: 2 },
  { figure: 'outcome', what: 'built, first object reconciled', max: 5 },
  { figure: 'all', what: 'built, all samples reconciled' },
  { figure: 'stop', what: 'Ctrl-C, process gone', max: 3 },
];

/** Runs it `runs` times. The first may find a cold disk and an empty compile cache, which is why no bound is for the slowest. */
export async function measureDevStart(runs: number): Promise<DevReport> {
  const starts: DevStart[] = [];
  for (let run = 0; run < runs; run += 1) starts.push(await runDev());
  const rows = ROWS.map(({ figure, what, max }) => {
    const seconds = starts.map((start) => start[figure]).sort((a, b) => a - b);
    const [least = 0, median = 0, most = 0] = [seconds[0], seconds[Math.floor((seconds.length - 1) / 2)], seconds.at(-1)];
    return { what, least, median, most, max };
  });
  const head = [`dogwatch dev, ${runs} runs`, 'least s', 'median s', 'most s', 'allowed s'];
  return {
    text: tableOf([
      head,
      ...rows.map(({ what, least, median, most, max }) => [what, least, median, most, max === undefined ? '-' : String(max)]),
    ]),
    overruns: rows.flatMap(({ what, median, max = Number.POSITIVE_INFINITY }) =>
      median <= max ? [] : [`dogwatch dev: ${what}: ${median.toFixed(1)} s; at most ${max} s are allowed`],
    ),
  };
}

async function runDev(): Promise<DevStart> {
  const begunMs = performance.now();
  const child = spawn(process.execPath, [join(ROOT, 'functions/cli/bin.js'), 'dev'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MAX_MS);
  const lines: { readonly atMs: number; readonly text: string }[] = [];
  let stopMs: number | undefined;
  try {
    for await (const text of createInterface({ input: child.stdout })) {
      lines.push({ atMs: performance.now(), text });
      if (stopMs !== undefined || lines.filter(isReconciled).length < SAMPLES) continue;
      stopMs = performance.now();
      child.kill('SIGINT');
    }
    const [code] = await gone;
    const goneMs = performance.now();
    if (stopMs === undefined || code !== 0)
      throw new Error(`dogwatch dev ended with ${code}:\n${lines.map(({ text }) => text).join('\n')}`);
    return figuresOf({ begunMs, lines, stopMs, goneMs });
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

interface DevRun {
  readonly begunMs: number;
  readonly lines: readonly { readonly atMs: number; readonly text: string }[];
  readonly stopMs: number;
  readonly goneMs: number;
}

function figuresOf({ begunMs, lines, stopMs, goneMs }: DevRun): DevStart {
  // The line comes when the function is in use, and says when the build was done.
  const swapped = lines.findIndex(({ text }) => text.startsWith('build swapped: '));
  const { atMs = Number.NaN, text = '' } = lines[swapped] ?? {};
  const [, build = 'NaN', later = 'NaN'] = /built in ([\d.]+) s, in use ([\d.]+) s later/.exec(text) ?? [];
  const builtMs = atMs - Number(later) * 1000;
  const reconciled = lines.filter(isReconciled);
  const seconds = (fromMs: number, toMs = Number.NaN): number => Math.max(0, (toMs - fromMs) / 1000);
  return {
    firstLine: seconds(begunMs, lines[0]?.atMs),
    build: Number(build),
    output: seconds(builtMs, atMs),
    outcome: seconds(builtMs, reconciled[0]?.atMs),
    all: seconds(builtMs, reconciled.at(SAMPLES - 1)?.atMs),
    stop: seconds(stopMs, goneMs),
  };
}

function isReconciled({ text }: { readonly text: string }): boolean {
  return /^outcome .* {2}reconciled {2}/.test(text);
}
