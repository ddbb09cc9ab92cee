/** `dogwatch dev` as a process without a terminal, and what it prints. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const ROOT = resolve(import.meta.dirname, '../../..');

export interface DevProcessOptions {
  /** Where it writes its temporary files. */
  readonly tmpDir: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What anything may take that is waited for. Default: 60. */
  readonly withinSeconds?: number;
}

/** Kill it in `after`. */
export class DevProcess {
  /** Of both streams, up to now. */
  output = '';
  /** Its exit code, when all of its output is here. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #withinMs: number;

  /** @param words  after `dev` */
  constructor(words: readonly string[], { tmpDir, env = {}, withinSeconds = 60 }: DevProcessOptions) {
    this.#withinMs = withinSeconds * 1000;
    const child = spawn(process.execPath, ['functions/cli/bin.js', 'dev', ...words], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'] ?? '', TMPDIR: tmpDir, ...env },
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.ended = once(child, 'close').then(([code]) => code as number | null);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What `look` returns once that is there. Fails with what was printed where it does not come. */
  async until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
    const endMs = performance.now() + this.#withinMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      assert.ok(performance.now() < endMs, `not so within ${this.#withinMs / 1000} s: ${look}\n${this.output}`);
      await sleep(30);
    }
  }

  /** The first place in the output that matches. */
  seen(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(() => pattern.exec(this.output) ?? undefined);
  }

  /** As Ctrl-C does. */
  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
