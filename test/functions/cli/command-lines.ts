/**
 * As a process: runs command lines one after the other, since a process for each costs half a second. Takes `CommandLine`s as JSON on stdin,
 * and leaves `Ended`s on stdout.
 */
import { spawn } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { main } from '../../../functions/cli/main.ts';

export interface CommandLine {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number | null;
  /** Of stdout and stderr. */
  readonly output: string;
}

/** What comes of each command line, all in one process that has no other environment than theirs. */
export async function endsOf(lines: readonly CommandLine[]): Promise<Ended[]> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(lines));
  return (await json(child.stdout)) as Ended[];
}

async function endOf({ words, env }: CommandLine): Promise<Ended> {
  const before = { ...process.env };
  let output = '';
  const write = (text: string): boolean => {
    output += text;
    return true;
  };
  const real = [process.stdout.write, process.stderr.write] as const;
  [process.stdout.write, process.stderr.write] = [write, write];
  Object.assign(process.env, env);
  try {
    const code = await main(words);
    return { code, output };
  } finally {
    [process.stdout.write, process.stderr.write] = real;
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

async function runAll(): Promise<void> {
  const ends: Ended[] = [];
  for (const line of (await json(process.stdin)) as CommandLine[]) ends.push(await endOf(line));
  process.stdout.write(JSON.stringify(ends));
}

if (import.meta.main) void runAll();
