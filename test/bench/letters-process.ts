/** The scripted letters in a process of their own, as whoever measures sees it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LettersReady, LettersReport } from './scripted-letters.ts';

export interface LettersProcess extends LettersReady {
  report(): Promise<LettersReport>;
  stop(): void;
}

/** Starts a queue of so many letters, and the cluster with their objects. It ends with this process at the latest. */
export async function startScriptedLetters(letters: number, objects: number): Promise<LettersProcess> {
  const child = fork(join(import.meta.dirname, 'scripted-letters.ts'), [String(letters), String(objects)]);
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the scripted letters ended: ${code}`)));
  ended.catch(() => undefined);
  const [ready] = (await Promise.race([once(child, 'message'), ended])) as [LettersReady];
  return {
    ...ready,
    async report() {
      const answer = once(child, 'message');
      child.send({});
      const [report] = (await Promise.race([answer, ended])) as [LettersReport];
      return report;
    },
    stop: () => child.kill(),
  };
}
