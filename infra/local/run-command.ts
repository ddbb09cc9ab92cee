import { spawn } from 'node:child_process';
import { onParentExit } from './parent-exit.ts';

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Exit code; 128 + the signal's number is not imitated: a signal is `signal`, and then `code` is null. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Written to standard input, which is then closed; without it standard input is empty. */
  readonly input?: string;
  /** After this many seconds the command is killed and the promise rejects. Default: 60. */
  readonly timeoutSeconds?: number;
}

/**
 * Runs a program to its end and returns what it wrote; an exit code other than 0 is a result, not an error. It is told to end (SIGTERM)
 * when we end first.
 *
 * @throws the error of spawn (its `code` is ENOENT where there is no such program), or an Error at the time-out
 */
export function runCommand(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const timeoutSeconds = options.timeoutSeconds ?? 60;
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  const child = spawn(program, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: ['pipe', 'pipe', 'pipe'] });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A program that ends without reading its input breaks the pipe: its exit code tells more than EPIPE.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const forget = onParentExit(() => child.kill());
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
    reject(new Error(`${program} did not end within ${timeoutSeconds} s and was killed: ${args.join(' ')}`));
  }, timeoutSeconds * 1000);
  child.on('error', (error) => {
    clearTimeout(timer);
    forget();
    reject(error);
  });
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    forget();
    resolve({ stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString(), code, signal });
  });
  return promise;
}

/** Whether `error` says that there is no such program (or file). */
export function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
