/** Where the access to one cluster is read from, again and again: see `credentials.ts` for when. */
import type { Environment } from '../../core/config.ts';
import type { Eks, EksEndpoint } from '../aws/eks.ts';
import { type ReadRemoteText, readRemoteText } from '../remote-text.ts';
import { type ClusterAccess, type EksSource, issuedAccess, type KubeConfigSource, loadAccess, parseAccess } from './kube-config.ts';

export interface AccessSource {
  /** At once where it is on this machine. @throws ConfigError that names source and key */
  read(): ClusterAccess | Promise<ClusterAccess>;
  /** Milliseconds after which it is read again though nothing was refused; undefined: never. */
  readonly rereadMs?: number;
}

export interface AccessSourceOptions {
  readonly environment: Environment;
  readonly nowMs: () => number;
  readonly readText?: ReadRemoteText | undefined;
}

/** A server that moved is found after this; what was revoked is found when it is refused. */
const REMOTE_REREAD_MS = 5 * 60_000;
/** What EKS said of a cluster is asked again after a refusal, unless it is younger than this. */
const DESCRIBED_MS = 60_000;
/**
 * And in any case after this: a cluster that was made again under its name has another address, and at its old one nobody is left who could
 * refuse. Seldom, since every execution environment of a function asks for itself.
 */
const DESCRIBED_REREAD_MS = 30 * 60_000;

export function openSource(source: KubeConfigSource, options: AccessSourceOptions): AccessSource {
  const { environment, readText = readRemoteText } = options;
  switch (source.kind) {
    case 'file':
    case 'in-cluster':
    case 'faulty':
      return { read: () => loadAccess(source, environment) };
    case 'remote':
      return {
        read: async () => parseAccess(await readText(source.reference), source, environment),
        rereadMs: REMOTE_REREAD_MS,
      };
    case 'eks':
      return openEksSource(source, options.nowMs);
  }
}

function openEksSource(source: EksSource, nowMs: () => number): AccessSource {
  const where = `EKS cluster ${source.cluster} in ${source.region}`;
  let opened: Promise<Eks> | undefined;
  let described: { readonly endpoint: EksEndpoint; readonly sinceMs: number } | undefined;
  return {
    async read() {
      opened ??= import('../aws.ts').then(({ openEks }) => openEks(source, nowMs));
      const { describe, issuer } = await opened;
      if (source.endpoint !== undefined) return issuedAccess(source.endpoint, issuer, where);
      if (described === undefined || Math.abs(nowMs() - described.sinceMs) >= DESCRIBED_MS)
        described = { endpoint: await describe(), sinceMs: nowMs() };
      return issuedAccess(described.endpoint, issuer, where);
    },
    ...(source.endpoint === undefined ? { rereadMs: DESCRIBED_REREAD_MS } : {}),
  };
}
