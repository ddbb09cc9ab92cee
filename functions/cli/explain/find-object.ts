/** Which object is meant: one GET in each cluster that may be. */
import { clusterName } from '../../../events/resource.ts';
import type { ClusterEntry } from '../../adapters/clusters.ts';
import type { KubernetesClient } from '../../adapters/kubernetes/port.ts';
import { mapBounded } from '../../core/bounded.ts';
import { closestName } from '../../core/closest-name.ts';
import { ConfigError, DogwatchError } from '../../core/errors.ts';
import type { Elsewhere, Place } from '../../core/explain/facts.ts';
import type { KubernetesObject, Reconciler } from '../../core/reconciler.ts';
import { defaultNamespace } from '../registry.ts';
import type { ExplainPorts } from './ports.ts';

const CLUSTERS_AT_ONCE = 20;
/** Names among which the nearest is looked for. */
const NAMES_MAX = 500;
const HINT_MAX_EDITS = 3;

/** What is asked for. */
export interface Wanted {
  readonly reconciler: Reconciler;
  /** KIND/NAME, the kind being no other's. */
  readonly words: string;
  readonly name: string;
  /** Undefined: the one that kubectl would take. */
  readonly namespace: string | undefined;
}

/** An object in a cluster, or why there is none. */
export type Reading = { readonly entry: ClusterEntry; readonly place: Place } & (
  | { readonly kind: 'found'; readonly client: KubernetesClient; readonly object: KubernetesObject }
  | { readonly kind: 'absent'; readonly client: KubernetesClient }
  | { readonly kind: 'unread'; readonly code: string; readonly says: string }
);

/** The object in each cluster, in order. Clients are open. */
export function readEverywhere(entries: readonly ClusterEntry[], wanted: Wanted, ports: Pick<ExplainPorts, 'connect'>): Promise<Reading[]> {
  return mapBounded(entries, CLUSTERS_AT_ONCE, (entry) => readIn(entry, wanted, ports));
}

async function readIn(entry: ClusterEntry, wanted: Wanted, { connect }: Pick<ExplainPorts, 'connect'>): Promise<Reading> {
  const { reconciler, words, name } = wanted;
  const type = reconciler.resource;
  let place: Place = { cluster: entry.name, type, words, namespace: wanted.namespace, name };
  let client: KubernetesClient | undefined;
  try {
    if (type.scope === 'Namespaced') place = { ...place, namespace: wanted.namespace ?? (await defaultNamespace(entry)) };
    client = connect(entry);
    const object = await client.get(type, addressOf(place));
    return object === undefined ? { kind: 'absent', entry, place, client } : { kind: 'found', entry, place, client, object };
  } catch (error) {
    client?.close();
    if (!(error instanceof DogwatchError)) throw error;
    return { kind: 'unread', entry, place, code: error.code, says: saysOf(error) };
  }
}

/** Our sentence, and what the server or the socket said. */
export function saysOf({ code, message, facts }: DogwatchError): string {
  const detail = facts['serverMessage'] ?? facts['errorCode'] ?? facts['detail'];
  return detail === undefined ? `${code}: ${message}` : `${code}: ${String(detail)}`;
}

function addressOf({ namespace, name }: Pick<Place, 'namespace' | 'name'>): { readonly name: string; readonly namespace?: string } {
  return namespace === undefined ? { name } : { namespace, name };
}

/**
 * The one reading that is meant: the object where just one cluster has it; else a cluster that did not answer, since it may be there; else
 * one where it is not.
 *
 * @throws ConfigError `usage` where several have it
 */
export function meantReading(readings: readonly Reading[], words: string): Reading {
  const found = readings.filter(({ kind }) => kind === 'found');
  if (found.length > 1) {
    const names = found.map(({ entry }) => entry.name).join(', ');
    throw new ConfigError('usage', `${words} is in several clusters: say which with --cluster NAME; it is in: ${names}`);
  }
  return (found[0] ?? readings.find(({ kind }) => kind === 'unread') ?? readings[0]) as Reading;
}

/** Where else the object may be; what cannot be asked is a note. */
export async function lookElsewhere(
  { client, place }: Extract<Reading, { readonly kind: 'absent' }>,
  others: readonly ClusterEntry[],
  wanted: Wanted,
  ports: Pick<ExplainPorts, 'connect'>,
): Promise<{ readonly elsewhere: Elsewhere; readonly notes: readonly string[] }> {
  const { type, namespace, name } = place;
  const notes: string[] = [];
  const listed = async (fieldSelector: string | undefined) => {
    try {
      return (await client.list(type, { form: 'metadata', fieldSelector, limit: NAMES_MAX })).rows.map(({ metadata }) => metadata);
    } catch (error) {
      if (!(error instanceof DogwatchError)) throw error;
      notes.push(`${clusterName(place.cluster)}: ${type.plural} could not be listed (${saysOf(error)})`);
      return [];
    }
  };
  const readings = await readEverywhere(others, wanted, ports);
  for (const reading of readings) {
    if (reading.kind === 'unread') notes.push(unreadNote(reading));
    else reading.client.close();
  }
  const clusters = readings.filter(({ kind }) => kind === 'found').map(({ entry }) => entry.name);
  const namespaces = namespace === undefined ? [] : (await listed(`metadata.name=${name}`)).flatMap((metadata) => metadata.namespace ?? []);
  const names = await listed(namespace === undefined ? undefined : `metadata.namespace=${namespace}`);
  const nearest = closestName(
    name,
    names.map((metadata) => metadata.name),
    HINT_MAX_EDITS,
  );
  return { elsewhere: { clusters, namespaces, closestName: nearest }, notes };
}

export function unreadNote({ entry, says }: Extract<Reading, { readonly kind: 'unread' }>): string {
  return `${entry.name} was asked as well and did not answer (${says})`;
}
