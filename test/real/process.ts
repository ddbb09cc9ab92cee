/** A process of the product under test: its output is kept by line, and it ends with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { until } from './api.ts';

export interface RunningProcess {
  readonly pid: number;
  /** Lines of stdout and stderr so far, in the order they came. */
  readonly lines: readonly string[];
  /** Exit code, or the signal's name, once it has ended. */
  readonly exited: Promise<number | string>;
  /** The first line that matches, also one that came before. */
  line(pattern: RegExp, withinMs?: number): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** SIGTERM, and SIGKILL after ten seconds; resolves when it has ended. */
  stop(): Promise<number | string>;
}

/** Starts `command` with exactly `env` and PATH. */
export function startProcess(command: readonly string[], env: Readonly<Record<string, string>>, cwd = process.cwd()): RunningProcess {
  const [file, ...words] = command as [string, ...string[]];
  const child: ChildProcess = spawn(file, words, {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  let ended: number | string | undefined;
  const exited = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      ended = code ?? signal ?? 'unknown';
      resolve(ended);
    });
  });
  const killWithParent = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', killWithParent);
  void exited.then(
    () => process.off('exit', killWithParent),
    () => process.off('exit', killWithParent),
  );
  const program = command.join(' ');
  return {
    pid: child.pid ?? -1,
    lines,
    exited,
    async line(pattern, withinMs = 60_000) {
      try {
        return await until(
          `a line like ${pattern} from ${program}`,
          () => {
            const found = lines.find((line) => pattern.test(line));
            if (found === undefined && ended !== undefined) throw new Error(`${program} ended (${ended}) before a line like ${pattern}`);
            return found;
          },
          withinMs,
          20,
        );
      } catch (error) {
        throw new Error(`${error instanceof Error ? error.message : error}\nits last lines:\n${lines.slice(-20).join('\n')}`);
      }
    },
    signal: (name) => {
      child.kill(name);
    },
    async stop() {
      if (ended !== undefined) return ended;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      const result = await exited;
      clearTimeout(timer);
      return result;
    },
  };
}
