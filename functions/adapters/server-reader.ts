/** Where the entries of the registry lead, to be asked again and again: a kubeconfig may be replaced. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ClusterEntry } from './clusters.ts';
import { parseContext } from './kubernetes/kube-config-file.ts';
import { type ReadRemoteText, readRemoteText } from './remote-text.ts';

/** The API server's address, or undefined where it cannot be read now, or is not in a kubeconfig. */
export type ServerReader = (entry: Pick<ClusterEntry, 'access'>) => Promise<string | undefined>;

/** Reads each time, and does not parse again what is the same. */
export function createServerReader(readText: ReadRemoteText = readRemoteText): ServerReader {
  const known = new Map<string, { readonly digest: string; readonly server: string | undefined }>();
  return async ({ access }) => {
    if (access.kind !== 'file' && access.kind !== 'remote') return undefined;
    const at = access.kind === 'file' ? access.path : access.reference;
    const key = JSON.stringify([at, access.context]);
    try {
      const content = access.kind === 'file' ? readFileSync(at, 'utf8') : await readText(at);
      const digest = createHash('sha256').update(content).digest('base64');
      const before = known.get(key);
      if (before?.digest === digest) return before.server;
      known.set(key, { digest, server: undefined });
      const { server } = parseContext(content, at, access.context).cluster;
      known.set(key, { digest, server });
      return server;
    } catch {
      // Whoever connects says what is wrong; here it only means that there is no news.
      return undefined;
    }
  };
}
