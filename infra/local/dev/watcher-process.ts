/** The watcher of a development run: a process on the built bundle, begun anew when its code changes or when it ends by itself. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../../functions/core/errors.ts';
import { type ManagedProcess, plainEnv, startProcess } from '../managed-process.ts';

export interface WatcherProcessOptions {
  /** Everything that it is configured by; DOGWATCH_HTTP_ADDRESS with the port. */
  readonly env: Readonly<Record<string, string>>;
  readonly logPath: string;
  /** It ended by itself, and is begun again. One line. */
  readonly onEnd: (text: string) => void;
  /** It refuses its configuration, and is not begun again. */
  readonly onRefusal: (error: ConfigError) => void;
}

export interface WatcherProcess {
  /** Runs the watcher.cjs of that folder, in place of the one before. */
  run(codeDir: string): Promise<void>;
  /** Resolves when it is ready, also when it does not become so within a few seconds, or the signal comes. */
  ready(signal: AbortSignal): Promise<void>;
  /** Ends it. @param graceSeconds  what it may take to send what it has */
  stop(graceSeconds: number): Promise<void>;
}

/** Before one that ended by itself is begun again. */
const AGAIN_MS = 2_000;
/** What is not sent by then is sent by the next one, which lists. */
const REPLACE_GRACE_SECONDS = 3;
const READY_MS = 5_000;

export function createWatcherProcess({ env, logPath, onEnd, onRefusal }: WatcherProcessOptions): WatcherProcess {
  let current: ManagedProcess | undefined;
  let isStopped = false;

  async function begin(codeDir: string): Promise<void> {
    const started = await startProcess({
      name: 'watcher',
      program: process.execPath,
      args: ['--enable-source-maps', join(codeDir, 'watcher.cjs')],
      logPath,
      cwd: codeDir,
      env: { ...plainEnv(), ...env },
    });
    current = started;
    void started.exited.then(async ({ code, signal }) => {
      if (current !== started || isStopped) return;
      const last = started.lastLines(1);
      if (code === 2) return onRefusal(new ConfigError('watcher', last.replace(/^dogwatch: /, '')));
      onEnd(`the watcher ended ${signal === null ? `with code ${code}` : `by ${signal}`} and is started again: ${last}`);
      await sleep(AGAIN_MS, undefined, { ref: false });
      if (current === started && !isStopped) await begin(codeDir);
    });
  }

  return {
    async run(codeDir) {
      const before = current;
      current = undefined;
      await before?.stop(REPLACE_GRACE_SECONDS);
      if (!isStopped) await begin(codeDir);
    },
    async ready(signal) {
      const endMs = performance.now() + READY_MS;
      while (!signal.aborted && performance.now() < endMs) {
        const answer = await fetch(`http://${env['DOGWATCH_HTTP_ADDRESS']}/readyz`, { signal }).catch(() => undefined);
        if (answer?.status === 200) return;
        await sleep(50, undefined, { signal }).catch(() => undefined);
      }
    },
    async stop(graceSeconds) {
      isStopped = true;
      await current?.stop(graceSeconds);
    },
  };
}
