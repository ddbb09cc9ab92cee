/** Credentials from a plugin of the kubeconfig (`aws eks get-token` and the like), run as client-go runs it. */
import { execFile } from 'node:child_process';
import * as z from 'zod';
import { TransientError } from '../../core/errors.ts';
import type { ExecPlugin, IssuedCredential } from './kube-config.ts';

/** How long a plugin may run before it is killed: in a way that it cannot refuse, or it would run on beside its successors. */
const PLUGIN_TIMEOUT_MS = 30_000;

const credential = z.looseObject({
  kind: z.literal('ExecCredential'),
  status: z.looseObject({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

/** Its credential is replaced this long before it expires. */
const EXPIRY_MARGIN_MS = 30_000;

/**
 * Runs the plugin once. Its output is never quoted: it is a credential.
 *
 * @throws TransientError `unauthorized` if it cannot be started, fails, takes over 30 s or answers no ExecCredential
 */
export async function runExecPlugin(plugin: ExecPlugin, timeoutMs: number = PLUGIN_TIMEOUT_MS): Promise<IssuedCredential> {
  const info = {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(plugin.clusterInfo === undefined ? {} : { cluster: plugin.clusterInfo }) },
  };
  const env = { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  const facts = { command: plugin.command };
  const output = await new Promise<string>((resolve, reject) => {
    const options = { env, timeout: timeoutMs, killSignal: 'SIGKILL', encoding: 'utf8' } as const;
    const child = execFile(plugin.command, [...plugin.args], options, (error, stdout) => {
      if (error === null) return resolve(stdout);
      const { code, killed } = error;
      reject(
        new TransientError('unauthorized', 'the credential plugin of the kubeconfig failed; run it by hand to see why', {
          // Not the error itself: its message repeats arguments and stderr.
          facts: { ...facts, exit: killed ? `killed after ${timeoutMs / 1000} s` : String(code ?? 'unknown') },
        }),
      );
    });
    child.stdin?.end();
  });
  const parsed = credential.safeParse(parseJson(output));
  if (!parsed.success) {
    throw new TransientError('unauthorized', 'the credential plugin of the kubeconfig printed no ExecCredential; run it by hand', {
      facts,
    });
  }
  const { status } = parsed.data;
  const expires = status.expirationTimestamp === undefined ? Number.NaN : Date.parse(status.expirationTimestamp);
  return {
    token: status.token?.trim(),
    cert: status.clientCertificateData,
    key: status.clientKeyData,
    renewAtMs: Number.isNaN(expires) ? undefined : expires - EXPIRY_MARGIN_MS,
  };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
