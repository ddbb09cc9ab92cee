/** No clean-up of ours runs after a SIGKILL, and a child in an endless loop does not notice that we are gone. Somebody else has to. */
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Kills the child when this process is gone, however it ended: a shell waits for the end of a pipe that only we hold open, which the
 * kernel closes. The guard ends with the child, and keeps neither of us alive.
 */
export function guardAgainstOrphan(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const guard = spawn('/bin/sh', ['-c', 'read -r _; kill -9 "$0"', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => undefined); // no shell: what the owner of the child does at an orderly end remains
  guard.stdin.on('error', () => undefined); // the guard was ended
  child.once('exit', () => guard.kill('SIGKILL'));
  guard.unref();
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
}
