/** What other terminals need for commands of dogwatch, such as `reconcile` and `replay`, and for kubectl. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../shell-word.ts';
import type { DevClusters } from './dev-clusters.ts';

/** Writes it into `dir`, as a file to source; returns its path. */
export function writeEnvFile(
  dir: string,
  env: Readonly<Record<string, string>>,
  { all, programs }: Pick<DevClusters, 'all' | 'programs'>,
): string {
  const { DOGWATCH_HTTP_ADDRESS: _, ...rest } = env;
  const path = join(dir, 'env');
  const kubeconfigs = new Set(all.map(({ kubeconfigPath }) => kubeconfigPath));
  const lines = Object.entries({ ...rest, KUBECONFIG: [...kubeconfigs].join(':') }).map(
    ([name, value]) => `export ${name}=${shellWord(value)}\n`,
  );
  if (programs !== undefined) lines.push(`export PATH=${shellWord(programs)}:"$PATH"\n`);
  writeFileSync(path, lines.join(''), { mode: 0o600 });
  return path;
}
