/** No clean-up of ours runs after a SIGKILL, and a child in an endless loop does not notice that we are gone. Somebody else has to see to both. */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

/**
 * Kills the child when this process is gone, however it ended: a shell waits for the end of a pipe that only we hold open, which the
 * kernel closes. The guard ends with the child, and keeps neither of us alive.
 */
export function guardAgainstOrphan(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const guard = startGuard('kill -9 "$0"', String(child.pid));
  child.once('exit', () => guard.kill('SIGKILL'));
}

/**
 * Removes the folder, and all that is in it, when this process is gone without having called what is returned: there may be credentials
 * in it. A moment later, so that children that are killed write nothing more.
 */
export function removeWhenOrphaned(folder: string): () => void {
  const guard = startGuard('sleep 1; rm -rf -- "$0"', resolve(folder));
  return () => void guard.kill('SIGKILL');
}

/** Runs the command when this process is gone. @param word  is `$0` in it */
function startGuard(command: string, word: string): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', `read -r _; ${command}`, word], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.on('error', () => undefined); // no shell: what is done at an orderly end remains
  guard.stdin.on('error', () => undefined); // the guard was ended
  guard.unref();
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  return guard;
}
