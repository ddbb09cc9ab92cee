/** Runs a program in a pseudo-terminal and keeps what a reader would have seen. */
import { spawn } from 'node:child_process';
import { ConfigError } from '../../../../../functions/core/errors.ts';
import { plainEnv } from '../../../managed-process.ts';
import { onParentExit } from '../../../parent-exit.ts';
import { keepScreens, type ShownScreen } from './screen-keeper.ts';

export interface Recording {
  /** The last one is what the program left. */
  readonly screens: readonly ShownScreen[];
  readonly code: number | null;
}

export interface RecordOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  /** Besides PATH, HOME and the like. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

/** Of util-linux. */
const SCRIPT = 'script';

/**
 * Runs it to its end. Needs `script` of util-linux, which makes the pseudo-terminal.
 *
 * @throws ConfigError where there is no such program, or the time is over
 */
export async function recordTerminal(
  program: string,
  args: readonly string[],
  { columns, rows, cwd, env = {}, timeoutSeconds }: RecordOptions,
): Promise<Recording> {
  const keeper = keepScreens({ columns, rows });
  const command = `stty cols ${columns} rows ${rows}; exec ${[program, ...args].map(quoted).join(' ')}`;
  const child = spawn(SCRIPT, ['-qefc', command, '/dev/null'], {
    cwd,
    env: { ...plainEnv(), TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<number | null>();
  child.on('error', (cause) => fail(new ConfigError('no-script', 'a recording needs the program script of util-linux', { cause })));
  child.on('close', end);
  const forget = onParentExit(() => child.kill());
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
    fail(new ConfigError('recording-timeout', 'the program did not end in time', { facts: { timeoutSeconds } }));
  }, timeoutSeconds * 1000);

  const begunMs = performance.now();
  child.stdout.on('data', (chunk: Buffer) => keeper.write(chunk, performance.now() - begunMs));
  try {
    const code = await ended;
    return { screens: await keeper.end(), code };
  } finally {
    clearTimeout(timer);
    forget();
  }
}

/** For sh. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
