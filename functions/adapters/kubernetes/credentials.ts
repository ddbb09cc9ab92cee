/**
 * Who we are to one API server, kept current: rotated token files and certificates are picked up while running, and the
 * source is read anew when the server says 401.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { Environment } from '../../core/config.ts';
import { ConfigError, TransientError } from '../../core/errors.ts';
import { type ExecCredential, runExecPlugin } from './exec-plugin.ts';
import { type ClusterAccess, type KubeConfigSource, loadAccess } from './kube-config.ts';

/** Files are read again after this; the period of client-go's token source. */
const REREAD_AFTER_MS = 60_000;
/** After a 401 the source is read anew at most this often, so that a revoked account does not run its plugin for every call. */
const RELOAD_AFTER_MS = 10_000;
/** A plugin's credential is replaced this long before it expires. */
const EXPIRY_MARGIN_MS = 30_000;

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
  /** A newer identity than `refused`, or undefined where the source was read anew only just now. */
  renew(refused: Identity): Promise<Identity | undefined>;
}

export interface CredentialsOptions {
  readonly environment?: Environment | undefined;
  /** The wall clock, which goes on while Lambda freezes the process; where it was set back, what it cannot tell is read again. */
  readonly nowMs?: (() => number) | undefined;
}

/** @throws ConfigError if the source is not usable now */
export function openCredentials(source: KubeConfigSource, options: CredentialsOptions = {}): Credentials {
  const nowMs = options.nowMs ?? Date.now;
  let access = loadAccess(source, options.environment);
  let plugin: ExecCredential | undefined;
  let known: Identity | undefined;
  let resolvedAtMs = Number.NEGATIVE_INFINITY;
  let dueAtMs = Number.NEGATIVE_INFINITY;
  let reloadedAtMs = Number.NEGATIVE_INFINITY;
  let pending: Promise<Identity> | undefined;
  /** Why the plugin gave nothing, until it is due again: while there is no identity, every call asks for one. */
  let pluginFailure: TransientError | undefined;

  async function resolve(): Promise<Identity> {
    if (access.exec !== undefined && (plugin === undefined || isExpiring(plugin, nowMs()))) {
      plugin = await runExecPlugin(access.exec).catch((error: unknown) => {
        pluginFailure = unusable(error);
        throw pluginFailure;
      });
      pluginFailure = undefined;
    }
    return identityOf(access, plugin);
  }

  /** One resolution at a time, shared by all callers. */
  function resolveOnce(): Promise<Identity> {
    pending ??= resolve()
      .then((identity) => {
        known = identity;
        const expiringAtMs = (plugin?.expiresAtMs ?? Number.POSITIVE_INFINITY) - EXPIRY_MARGIN_MS;
        // Also a plugin whose credentials last for seconds, or that fails, is not run for every call.
        dueAtMs = Math.max(nowMs() + RELOAD_AFTER_MS, Math.min(nowMs() + REREAD_AFTER_MS, expiringAtMs));
        return identity;
      })
      .catch((error: unknown) => {
        dueAtMs = nowMs() + RELOAD_AFTER_MS;
        throw error;
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
        if (pluginFailure !== undefined) throw pluginFailure;
      }
      try {
        return await resolveOnce();
      } catch (error) {
        // A file that is being replaced right now: what we have may still be good, and the server has the last word.
        if (known !== undefined) return known;
        throw unusable(error);
      }
    },
    async renew(refused) {
      if (known !== undefined && known !== refused) return known;
      if (pending === undefined) {
        if (isWithin(nowMs(), reloadedAtMs, reloadedAtMs + RELOAD_AFTER_MS)) return undefined;
        reloadedAtMs = nowMs();
        plugin = undefined;
        try {
          access = loadAccess(source, options.environment);
        } catch (error) {
          throw unusable(error);
        }
      }
      try {
        return await resolveOnce();
      } catch (error) {
        throw unusable(error);
      }
    },
  };
}

function isWithin(ms: number, fromMs: number, untilMs: number): boolean {
  return ms >= fromMs && ms < untilMs;
}

function isExpiring({ expiresAtMs }: ExecCredential, nowMs: number): boolean {
  return expiresAtMs !== undefined && nowMs >= expiresAtMs - EXPIRY_MARGIN_MS;
}

async function identityOf(access: ClusterAccess, plugin: ExecCredential | undefined): Promise<Identity> {
  const options: RequestOptions = { headers: {} };
  await access.kubeConfig.applyToHTTPSOptions(options);
  const { ca, cert = plugin?.cert, key = plugin?.key, servername, rejectUnauthorized, auth } = options;
  const tls = dropUndefined({ ca, cert, key, servername, rejectUnauthorized });
  const headers = { ...(options.headers as OutgoingHttpHeaders) };
  const token = access.tokenFile === undefined ? plugin?.token : readToken(access.tokenFile);
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
  const detail = error instanceof ConfigError ? error.message : 'a file of the kubeconfig cannot be read';
  return new TransientError('unauthorized', 'the cluster credentials cannot be read at the moment; mend the kubeconfig', {
    cause: error,
    facts: { detail },
  });
}

function dropUndefined(options: { [K in keyof TlsOptions]: TlsOptions[K] | undefined }): TlsOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as TlsOptions;
}
