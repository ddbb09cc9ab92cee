/** What `dogwatch replay plan` keeps of many letters, in a process of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DevReport } from './dev-start.ts';

/** MB that may be kept of letters, receipt handles and objects at any time; the process has some 150 more without any letter. */
const KEPT_MAX_MB = 150;

export async function measureReplay(letters: number, objects: number): Promise<DevReport> {
  const script = join(import.meta.dirname, 'replay-memory.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, String(letters), String(objects)]);
  const { keptMb } = JSON.parse(stdout) as { keptMb: number };
  const text = `replay plan keeps ${keptMb.toFixed(0)} MB of ${letters} letters of ${objects} objects`;
  return { text, overruns: keptMb <= KEPT_MAX_MB ? [] : [`${text}; at most ${KEPT_MAX_MB} are allowed`] };
}
