/** How long the story of `dogwatch dev --demo --once` takes: one process of it without a terminal, from its begin to its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import type { DevReport } from './dev-start.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** What is promised. Seconds. */
const BOUND = 90;

/** @throws Error with what was printed, where the story does not end well within three times the bound */
export async function measureDemo(): Promise<DevReport> {
  const begunMs = performance.now();
  const child = spawn(process.execPath, [join(ROOT, 'functions/cli/bin.js'), 'dev', '--demo', '--once'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 3 * BOUND * 1000,
    killSignal: 'SIGKILL',
  });
  const ended = once(child, 'exit');
  let printed = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) printed += chunk;
  const [code] = await ended;
  if (code !== 0) throw new Error(`dogwatch dev --demo --once ended with ${code}:\n${printed}`);
  const seconds = (performance.now() - begunMs) / 1000;
  return {
    text: `dogwatch dev --demo --once, process begun to gone: ${seconds.toFixed(1)} s of ${BOUND} s allowed`,
    overruns: seconds <= BOUND ? [] : [`the story took ${seconds.toFixed(1)} s; at most ${BOUND} s are allowed`],
  };
}
