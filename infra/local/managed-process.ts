/**
 * A server of somebody else as a child process: its output in a file, its end noticed, and never left behind.
 *
 * Each child runs in a session of its own, so that a Ctrl-C in the terminal reaches only us and we can stop things in order. It does
 * not outlive us: a clean-up kills it when this process ends, and a guard does so where no clean-up can run, after a SIGKILL.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { guardAgainstOrphan } from './orphan-guard.ts';
import { onParentExit } from './parent-exit.ts';

interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessOptions {
  /** For messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Standard output and standard error are appended to it. */
  readonly logPath: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface ManagedProcess {
  readonly name: string;
  readonly pid: number;
  readonly logPath: string;
  /** Fulfilled when the process has ended, for whatever reason. */
  readonly exited: Promise<ProcessExit>;
  readonly exit: ProcessExit | undefined;
  /** SIGTERM, and SIGKILL after `graceSeconds` (default 5). Resolves when it has ended; also when it had ended before. */
  stop(graceSeconds?: number): Promise<void>;
  /** SIGKILL, as in a crash. Resolves when it has ended. */
  kill(): Promise<void>;
  /** SIGSTOP: keeps its sockets and answers nothing until `resume`. */
  pause(): void;
  resume(): void;
  /** The last lines of its log, for messages. */
  lastLines(count?: number): string;
}

const DEFAULT_GRACE_SECONDS = 5;

/** Only what a server needs to run: variables that steer it (ETCD_..., proxies) would make a run here differ from one elsewhere. */
export function plainEnv(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'JAVA_HOME'];
  return Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/**
 * Starts a process that is killed when we end. It does not keep this process alive by itself.
 *
 * @throws the error of spawn, when there is no such program
 */
export async function startProcess(options: ProcessOptions): Promise<ManagedProcess> {
  const child = await spawnToLog(options);
  const pid = child.pid as number;
  guardAgainstOrphan(child);
  let exit: ProcessExit | undefined;
  const forget = onParentExit(() => signal('SIGKILL'));
  const exited = new Promise<ProcessExit>((resolve) => {
    child.on('exit', (code, bySignal) => {
      exit = { code, signal: bySignal };
      forget();
      resolve(exit);
    });
  });
  child.unref();

  function signal(name: NodeJS.Signals): void {
    if (exit === undefined) child.kill(name);
  }
  async function end(first: NodeJS.Signals, graceSeconds: number): Promise<void> {
    if (exit !== undefined) return;
    child.ref();
    signal(first);
    signal('SIGCONT'); // a paused process would sleep through a SIGTERM
    const timer = setTimeout(() => signal('SIGKILL'), graceSeconds * 1000);
    await exited;
    clearTimeout(timer);
  }

  return {
    name: options.name,
    pid,
    logPath: options.logPath,
    exited,
    get exit() {
      return exit;
    },
    stop: (graceSeconds = DEFAULT_GRACE_SECONDS) => end('SIGTERM', graceSeconds),
    kill: () => end('SIGKILL', DEFAULT_GRACE_SECONDS),
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    lastLines: (count = 5) => lastLines(options.logPath, count),
  };
}

async function spawnToLog(options: ProcessOptions): Promise<ChildProcess> {
  const log = openSync(options.logPath, 'a', 0o600);
  try {
    const child = spawn(options.program, options.args, {
      cwd: options.cwd,
      env: options.env ?? plainEnv(),
      stdio: ['ignore', log, log],
      detached: true,
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    return child;
  } finally {
    closeSync(log);
  }
}

function lastLines(path: string, count: number): string {
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
}
