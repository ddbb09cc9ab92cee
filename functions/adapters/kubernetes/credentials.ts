/**
 * Who we are to one API server, kept current: rotated token files and certificates are picked up while running, and the
 * source is read anew when the server says 401.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '../../core/config.ts';
import { ConfigError, TransientError } from '../../core/errors.ts';
import type { ReadRemoteText } from '../remote-text.ts';
import { openSource } from './access-source.ts';
import { type ClusterAccess, type CredentialIssuer, type IssuedCredential, type KubeConfigSource, loadAccess } from './kube-config.ts';

/** Files are read again after this; the period of client-go's token source. */
const REREAD_AFTER_MS = 60_000;
/** After a 401 the source is read anew at most this often, so that a revoked account does not run its plugin for every call. */
const RELOAD_AFTER_MS = 10_000;

type TlsOptions = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;

/** What one request needs to be let in. Two that are not the same object were resolved at different times. */
export interface Identity {
  readonly server: URL;
  readonly tls: TlsOptions;
  /** Changes when an open connection would no longer be the right one. */
  readonly connectionKey: string;
  /** Authorization and impersonation. */
  readonly headers: OutgoingHttpHeaders;
}

export interface Credentials {
  /** The identity to use now. @throws TransientError `unauthorized` if it cannot be made */
  current(): Promise<Identity>;
  /**
   * Another identity than `refused`, or undefined where the source was read anew only just now. What is made again from time to time
   * and turns out to be the same, is none.
   *
   * @param serverMs  what the clock of who refused it said, in milliseconds since 1970
   */
  renew(refused: Identity, serverMs?: number): Promise<Identity | undefined>;
}

export interface CredentialsOptions {
  readonly environment?: Environment | undefined;
  /** The wall clock, which goes on while Lambda freezes the process; where it was set back, what it cannot tell is read again. */
  readonly nowMs?: (() => number) | undefined;
  readonly readText?: ReadRemoteText | undefined;
  /** Also what is on this machine is first read by the first call, which is refused then. What lies elsewhere always is. */
  readonly isDeferred?: boolean | undefined;
}

/** @throws ConfigError if the source can be read at once and is not usable now */
export function openCredentials(from: KubeConfigSource, options: CredentialsOptions = {}): Credentials {
  const { environment = process.env, nowMs = Date.now, readText, isDeferred = false } = options;
  const source = openSource(from, { environment, nowMs, readText });
  const isAtHand = from.kind !== 'remote' && from.kind !== 'eks';
  let access = isAtHand && !isDeferred ? loadAccess(from, environment) : undefined;
  let readAtMs = nowMs();
  /** The server refused what was read last: it is read again, and not used where that fails. */
  let mustRead = false;
  let issued: IssuedCredential | undefined;
  let known: Identity | undefined;
  let resolvedAtMs = Number.NEGATIVE_INFINITY;
  let dueAtMs = Number.NEGATIVE_INFINITY;
  let reloadedAtMs = Number.NEGATIVE_INFINITY;
  let pending: Promise<Identity> | undefined;
  /** Why there is no identity, until it is looked for again: while there is none, every call asks for one. */
  let failure: TransientError | undefined;

  async function accessNow(): Promise<ClusterAccess> {
    const rereadMs = source.rereadMs ?? Number.POSITIVE_INFINITY;
    if (access !== undefined && !mustRead && isWithin(nowMs(), readAtMs, readAtMs + rereadMs)) return access;
    try {
      access = await source.read();
      mustRead = false;
      readAtMs = nowMs();
      return access;
    } catch (error) {
      if (access === undefined || mustRead) throw error;
      // What was read before is still what the server takes; its store is asked again in a minute.
      readAtMs = nowMs() - rereadMs + REREAD_AFTER_MS;
      return access;
    }
  }

  async function resolve(): Promise<Identity> {
    const now = await accessNow();
    const issuer = issuerOf(now);
    if (issuer !== undefined && (issued === undefined || isDue(issued, nowMs()))) issued = await issuer.issue();
    const identity = await identityOf(now, issued);
    // Also a plugin whose credentials last for seconds is not run for every call.
    const leastMs = nowMs() + (issuer?.floorMs ?? RELOAD_AFTER_MS);
    dueAtMs = Math.max(leastMs, Math.min(nowMs() + REREAD_AFTER_MS, issued?.renewAtMs ?? Number.POSITIVE_INFINITY));
    return identity;
  }

  /** One resolution at a time, shared by all callers. */
  function resolveOnce(): Promise<Identity> {
    pending ??= resolve()
      .then((identity) => {
        failure = undefined;
        known = identity;
        return identity;
      })
      .catch((error: unknown) => {
        failure = unusable(error);
        dueAtMs = nowMs() + RELOAD_AFTER_MS;
        throw failure;
      })
      .finally(() => {
        resolvedAtMs = nowMs();
        pending = undefined;
      });
    return pending;
  }

  return {
    async current() {
      if (isWithin(nowMs(), resolvedAtMs, dueAtMs)) {
        if (known !== undefined) return known;
        if (failure !== undefined) throw failure;
      }
      try {
        return await resolveOnce();
      } catch (error) {
        // A file that is being replaced right now: what we have may still be good, and the server has the last word.
        if (known !== undefined) return known;
        throw error;
      }
    },
    async renew(refused, serverMs) {
      if (known !== undefined && !isSame(known, refused)) return known;
      if (pending !== undefined) {
        const found = await pending;
        if (!isSame(found, refused)) return found;
      }
      if (pending === undefined) {
        if (isWithin(nowMs(), reloadedAtMs, reloadedAtMs + RELOAD_AFTER_MS)) return undefined;
        reloadedAtMs = nowMs();
        access?.issuer?.refused?.(serverMs);
        issued = undefined;
        mustRead = true;
      }
      return resolveOnce();
    },
  };
}

/** Who makes the credentials: a plugin costs a process, and is run no more often than every ten seconds. */
function issuerOf({ issuer, exec }: ClusterAccess): CredentialIssuer | undefined {
  // In the bundle a file of its own, since functions never run one.
  return issuer ?? (exec && { issue: async () => (await import('./exec-plugin.ts')).runExecPlugin(exec), floorMs: RELOAD_AFTER_MS });
}

/** Whether who refuses the one would refuse the other. */
function isSame(one: Identity, other: Identity): boolean {
  return one.connectionKey === other.connectionKey && isDeepStrictEqual(one.headers, other.headers);
}

function isWithin(ms: number, fromMs: number, untilMs: number): boolean {
  return ms >= fromMs && ms < untilMs;
}

function isDue({ renewAtMs }: IssuedCredential, nowMs: number): boolean {
  return renewAtMs !== undefined && nowMs >= renewAtMs;
}

async function identityOf(access: ClusterAccess, issued: IssuedCredential | undefined): Promise<Identity> {
  const options: RequestOptions = { headers: {} };
  await access.kubeConfig.applyToHTTPSOptions(options);
  const { ca, cert = issued?.cert, key = issued?.key, servername, rejectUnauthorized, auth } = options;
  const tls = dropUndefined({ ca, cert, key, servername, rejectUnauthorized });
  const headers = { ...(options.headers as OutgoingHttpHeaders) };
  const token = access.tokenFile === undefined ? issued?.token : readToken(access.tokenFile);
  if (token !== undefined) headers['Authorization'] = `Bearer ${token}`;
  else if (auth) headers['Authorization'] = `Basic ${Buffer.from(auth).toString('base64')}`;
  if (access.impersonateGroups.length > 0) headers['Impersonate-Group'] = [...access.impersonateGroups];
  return { server: access.server, tls, headers, connectionKey: keyOf(access.server, tls) };
}

/** The trimmed token: files end in a newline, which node:http refuses in a header. */
function readToken(path: string): string {
  const token = readFileSync(path, 'utf8').trim();
  if (token === '') throw new TransientError('unauthorized', 'the token file is empty; wait for its writer', { facts: { path } });
  return token;
}

function keyOf(server: URL, tls: TlsOptions): string {
  const hash = createHash('sha256').update(server.origin);
  for (const part of [tls.ca, tls.cert, tls.key, tls.servername, String(tls.rejectUnauthorized)]) {
    hash.update('\0').update(part === undefined ? '' : String(part));
  }
  return hash.digest('base64');
}

/** A fault of the source at run time stops no process: it counts as being refused, until it is mended. */
function unusable(error: unknown): TransientError {
  if (error instanceof TransientError) return error;
  const { code = 'unclassified', path } = error as NodeJS.ErrnoException;
  const what = path === undefined ? 'what the kubeconfig names cannot be used' : `${path} cannot be read`;
  const detail = error instanceof ConfigError ? error.message : `${what} (${code})`;
  return new TransientError('unauthorized', 'the credentials for the cluster cannot be had at the moment; mend what the detail names', {
    cause: error,
    facts: { detail },
  });
}

function dropUndefined(options: { [K in keyof TlsOptions]: TlsOptions[K] | undefined }): TlsOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as TlsOptions;
}
