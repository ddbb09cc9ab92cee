/** A function in an endless loop does not notice that its host is gone. Somebody else has to. */
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Kills the child when this process is gone, also after a SIGKILL: a shell waits for the end of a pipe that only we hold open.
 *
 * @returns a function that ends the guard; to be called when the child has ended
 */
export function guardAgainstOrphan(child: ChildProcess): () => void {
  if (child.pid === undefined) return () => undefined;
  const guard = spawn('/bin/sh', ['-c', 'read -r _; kill -9 "$0"', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => undefined); // no shell: the runtime still ends when it next talks to the host
  guard.stdin.on('error', () => undefined); // the guard was ended
  return () => guard.kill('SIGKILL');
}
