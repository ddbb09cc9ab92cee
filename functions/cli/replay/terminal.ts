/** The person at the terminal, if there is one. */
import { createInterface } from 'node:readline/promises';

export interface Terminal {
  /** Somebody can read a question and answer it. */
  readonly isInteractive: boolean;
  /** The line that was typed; undefined where the input ended, or the signal came first. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

/** Questions go to stderr: stdout is the result's. */
export const processTerminal: Terminal = {
  get isInteractive() {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
  },
  async ask(question, signal) {
    // Not as a terminal, which would take Ctrl-C for itself.
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
    const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
    try {
      const answer = await Promise.race([lines.question(question, { signal }), ended]);
      if (answer === undefined) process.stderr.write('\n'); // Ctrl-D leaves the cursor behind the question
      return answer;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    } finally {
      lines.close();
    }
  },
};
