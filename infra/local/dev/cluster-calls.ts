/** Calls to one cluster of a development run. What keeps it from answering is told by kubeconfig, context and field. */

import { parseStatus } from '../../../functions/adapters/kubernetes/errors.ts';
import { type KubeConfigContext, readContext } from '../../../functions/adapters/kubernetes/kube-config-file.ts';
import { JSON_TYPE } from '../../../functions/adapters/kubernetes/paths.ts';
import { createTransport, type Transport, type TransportRequest } from '../../../functions/adapters/kubernetes/transport.ts';
import { ConfigError, DogwatchError, oneLine } from '../../../functions/core/errors.ts';

/** One context of a kubeconfig; its current one where it names none. */
export interface ClusterAddress {
  readonly kubeconfigPath: string;
  readonly context?: string | undefined;
}

export type ClusterAnswer =
  /** A JSON object where the status is a success. */
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  /** It cannot be reached, does not let us in, is no API server, or has trouble of its own, in one line. Denied: another request may be allowed. */
  | { readonly kind: 'unavailable'; readonly problem: string; readonly isDenied: boolean };

type ClusterRequest = Pick<TransportRequest, 'method' | 'path' | 'contentType' | 'body'> & Partial<Pick<TransportRequest, 'accept'>>;

export interface ClusterCalls {
  /** Where an object goes that names none: as the context says, else `default`. */
  readonly namespace: string;
  /** @throws TerminalError for a path that cannot be; nothing else */
  send(request: ClusterRequest): Promise<ClusterAnswer>;
  close(): void;
}

/** Who the cluster says has written what we write. */
export const DEV_FIELD_MANAGER = 'dogwatch-dev';

/** One cluster that hangs holds up what is done in all of them no longer than this. */
const TIMEOUTS = { connectMs: 3_000, totalMs: 5_000 };

/** Returns at once, before anything is read. */
export function createClusterCalls(address: ClusterAddress): ClusterCalls {
  const opening = openTransport(address);
  opening.catch(() => undefined); // each call tells
  return {
    get namespace() {
      return contextOf(address)?.namespace ?? 'default';
    },
    async send(request) {
      try {
        const transport = await opening;
        const { status, text } = await transport.send({ accept: JSON_TYPE, ...request });
        const problem = problemOf(status, text, address);
        return problem === undefined ? { kind: 'answer', status, text } : { kind: 'unavailable', problem, isDenied: status === 403 };
      } catch (error) {
        if (error instanceof DogwatchError) return { kind: 'unavailable', problem: faultText(error, address), isDenied: false };
        throw error;
      }
    },
    close: () =>
      void opening.then(
        (transport) => transport.close(),
        () => undefined,
      ),
  };
}

/** What reads kubeconfigs takes a second to load, in which the code can be built. */
async function openTransport({ kubeconfigPath, context }: ClusterAddress): Promise<Transport> {
  const { openCredentials } = await import('../../../functions/adapters/kubernetes/credentials.ts');
  const credentials = openCredentials({ kind: 'file', path: kubeconfigPath, context });
  return createTransport({ credentials, userAgent: DEV_FIELD_MANAGER, timeouts: TIMEOUTS });
}

/** Undefined for an answer to what was asked. */
function problemOf(status: number, text: string, address: ClusterAddress): string | undefined {
  const said = oneLine(parseStatus(text)?.message ?? '');
  if (status === 401) return `${placeOf(address, 'user')} is not accepted by ${serverOf(address)} (401)`;
  if (status === 403) return `${placeOf(address, 'user')} is not allowed to do it (403)${said === '' ? '' : `: ${said}`}`;
  // A 500 with a Status is what an apply of a field of another type is answered with.
  if (status === 429 || status > 500 || (status === 500 && said === ''))
    return `${placeOf(address, 'server')} answers ${status}${said === '' ? '' : `: ${said}`}`;
  if (status >= 300 && status < 400)
    return `${placeOf(address, 'server')} answers ${status}: it is no API server, or something stands before it`;
  if (status < 300 && !isJsonObject(text))
    return `${placeOf(address, 'server')} answers ${status} with what is no JSON object: it is no API server`;
  return undefined;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function faultText(error: DogwatchError, address: ClusterAddress): string {
  if (error instanceof ConfigError) return error.message; // it names file and key
  const facts = Object.values(error.facts).join(', ');
  switch (error.code) {
    case 'unauthorized':
      return `${placeOf(address, 'user')} gives no access: ${error.message}${facts === '' ? '' : ` (${facts})`}`;
    case 'unreachable': {
      const { errorCode } = error.facts;
      const isTrust = typeof errorCode === 'string' && /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(errorCode);
      return isTrust
        ? `${placeOf(address, 'certificate-authority-data')} does not vouch for ${serverOf(address)} (${errorCode})`
        : `${placeOf(address, 'server')} cannot be reached (${errorCode})`;
    }
    case 'timeout':
      return `${placeOf(address, 'server')} does not answer within ${TIMEOUTS.totalMs / 1000} s`;
    default:
      return `${placeOf(address, 'server')}: ${error.message}${facts === '' ? '' : ` (${facts})`}`;
  }
}

/** `config: context admin@prod: clusters[prod].cluster.server https://10.0.0.1` */
function placeOf(address: ClusterAddress, field: 'user' | 'server' | 'certificate-authority-data'): string {
  const found = contextOf(address);
  const where = `${address.kubeconfigPath}: context ${address.context ?? 'that is current'}`;
  if (found === undefined) return `${where}: ${field}`;
  const { names, cluster } = found;
  if (field === 'user') return `${where}: users[${names.user}].user`;
  return `${where}: clusters[${names.cluster}].cluster.${field}${field === 'server' ? ` ${cluster.server}` : ''}`;
}

function serverOf(address: ClusterAddress): string {
  return contextOf(address)?.cluster.server ?? 'the API server';
}

function contextOf({ kubeconfigPath, context }: ClusterAddress): KubeConfigContext | undefined {
  try {
    return readContext(kubeconfigPath, context);
  } catch {
    return undefined; // The file has changed since: the message has to do without.
  }
}
