/** The cluster registry: which clusters there are, and how to reach each. YAML: see `infra/clusters.example.yml`. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import { ConfigError } from '../core/errors.ts';
import { isRecord, type ParsedEntry, parseName, parseWay, shownName, unknownKey } from './cluster-entry.ts';
import { createKubernetesClient, type KubernetesClientOptions } from './kubernetes/client.ts';
import { entryFault, type KubeConfigSource } from './kubernetes/kube-config.ts';
import type { KubernetesClient } from './kubernetes/port.ts';
import { parseReference, type ReadRemoteText, readRemoteText, referenceProblem } from './remote-text.ts';

/** One line of the registry. */
export interface ClusterEntry extends ParsedEntry {
  /** Where it stands, for messages: `clusters.yml: clusters[1] (west)`. */
  readonly where: string;
}

/** What a connection takes besides the entry. */
export type ConnectOptions = Omit<KubernetesClientOptions, 'cluster' | 'kubeConfig'>;

const registryKeys = ['clusters'];

/**
 * The entries of the registry at `reference`, in order. kubeconfigs are not read here: see {@link connectCluster}. An entry that has a
 * name of its own, and is no good otherwise, is `faulty`: one bad cluster never stops the rest.
 *
 * @param reference path of a file, relative to the working directory, or `ssm:` or `secretsmanager:`
 * @throws ConfigError of one line that names the registry, and the entry and its key where one cannot be told from another
 */
export async function readClusters(reference: string, readText: ReadRemoteText = readRemoteText): Promise<ClusterEntry[]> {
  const problem = referenceProblem(reference);
  if (problem !== undefined) throw new ConfigError('registry-unreadable', `DOGWATCH_CLUSTERS: ${problem}`);
  const isRemote = parseReference(reference) !== undefined;
  const label = isRemote ? reference : basename(reference);
  const fail = (what: string): never => {
    throw new ConfigError('registry-invalid', `${label}: ${what}`);
  };
  const yaml = parseYaml(isRemote ? await readText(reference) : readFile(reference), label, isRemote);
  if (!isRecord(yaml)) return fail('holds no mapping; begin it with clusters:');
  const unknown = Object.keys(yaml).find((key) => !registryKeys.includes(key));
  if (unknown !== undefined) return fail(unknownKey(unknown, registryKeys));
  const list = yaml['clusters'];
  if (!Array.isArray(list)) return fail('clusters is not a list');
  if (list.length === 0) return fail('clusters is empty; name at least one cluster');
  const seen = new Map<string, number>();
  return list.map((raw, index) => {
    const named = isRecord(raw) && typeof raw['name'] === 'string' ? ` (${shownName(raw['name'])})` : '';
    const where = `clusters[${index}]${named}`;
    const name = parseName(raw, (what) => fail(`${where}: ${what}`));
    const twin = seen.get(name);
    if (twin !== undefined) return fail(`${where}: name ${name} is taken by clusters[${twin}]`);
    seen.set(name, index);
    return { name, access: wayOf(raw, reference, `${label}: ${where}`), where: `${label}: ${where}` };
  });
}

function wayOf(raw: unknown, registry: string, where: string): KubeConfigSource {
  try {
    return parseWay(raw, registry, (what) => {
      throw entryFault(`${where}: ${what}`);
    });
  } catch (error) {
    if (error instanceof ConfigError) return { kind: 'faulty', problem: error.message };
    throw error;
  }
}

/**
 * A client of the cluster. Reads a kubeconfig that is a file, and sends nothing.
 *
 * @throws ConfigError of one line that names the registry's entry and its key, or the kubeconfig and its key; what lies in AWS is read by the
 *         first call, which then is `unauthorized` for that
 */
export function connectCluster(entry: ClusterEntry, options: ConnectOptions = {}): KubernetesClient {
  try {
    return createKubernetesClient({ ...options, cluster: entry.name, kubeConfig: entry.access });
  } catch (error) {
    if (!(error instanceof ConfigError) || entry.access.kind === 'faulty') throw error;
    throw new ConfigError(error.code, `${entry.where}: ${error.message}`, { cause: error });
  }
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigError('registry-unreadable', `${path}: the cluster registry ${what}; set DOGWATCH_CLUSTERS`, { cause: error });
  }
}

/** Its fault goes without the parser's, which has the whole text; and of a text in a store, which may be another than was meant, without a word. */
function parseYaml(content: string, label: string, isRemote: boolean): unknown {
  try {
    return load(content);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const why = isRemote ? '' : `: ${error.reason}`;
    const line = error.mark === undefined ? '' : ` (line ${error.mark.line + 1})`;
    throw new ConfigError('registry-unparsable', `${label}: does not parse as YAML${why}${line}`);
  }
}
