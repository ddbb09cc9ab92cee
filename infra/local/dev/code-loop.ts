/** Builds the code at the start and after each change, one build at a time, and hands on what was built. */
import { join } from 'node:path';
import { DogwatchError } from '../../../functions/core/errors.ts';
import { buildCode, type Code } from './code.ts';
import type { DevEvent } from './dev-state.ts';

export interface CodeLoopOptions {
  /** Each build is a folder in it. */
  readonly dir: string;
  /** Absolute path of the module in place of functions/reconcilers/index.ts. */
  readonly reconcilers: string | undefined;
  readonly emit: (event: DevEvent) => void;
  /** Puts it to use. @throws DogwatchError of one line where it is of no use, and the code before goes on */
  readonly use: (code: Code) => Promise<void>;
}

export interface CodeLoop {
  /** Builds, after the build that is under way. */
  build(): void;
  /** Builds no more; resolves when none is under way. */
  stop(): Promise<void>;
}

export function createCodeLoop({ dir, reconcilers, emit, use }: CodeLoopOptions): CodeLoop {
  let count = 0;
  let isWanted = false;
  let isStopped = false;
  let underWay: Promise<void> | undefined;

  async function buildOnce(): Promise<void> {
    const startedMs = performance.now();
    count += 1;
    const folder = join(dir, `code-${count}`);
    emit({ kind: 'build', state: 'building' });
    try {
      const code = await buildCode(folder, reconcilers);
      if (isStopped) return;
      const builtMs = performance.now();
      await use(code);
      if (!isStopped)
        emit({
          kind: 'build',
          state: 'swapped',
          text: `built in ${seconds(builtMs - startedMs)} s, in use ${seconds(performance.now() - builtMs)} s later`,
        });
    } catch (error) {
      if (isStopped) return;
      const text = error instanceof DogwatchError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
      emit({ kind: 'build', state: 'failed', text });
    }
  }

  async function buildAll(): Promise<void> {
    while (isWanted && !isStopped) {
      isWanted = false;
      await buildOnce();
    }
    underWay = undefined;
  }

  return {
    build() {
      isWanted = true;
      underWay ??= buildAll();
    },
    async stop() {
      isStopped = true;
      await underWay;
    },
  };
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
