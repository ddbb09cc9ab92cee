/** The cluster registry: which clusters there are, and how to reach each. A YAML file: see `infra/clusters.example.yml`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import * as z from 'zod';
import { type ClusterName, isDnsLabel } from '../../events/resource.ts';
import { closestName } from '../core/closest-name.ts';
import { ConfigError } from '../core/errors.ts';
import { createKubernetesClient, type KubernetesClientOptions } from './kubernetes/client.ts';
import type { KubeConfigSource } from './kubernetes/kube-config.ts';
import { readContext } from './kubernetes/kube-config-file.ts';
import type { KubernetesClient } from './kubernetes/port.ts';

/** One line of the registry. `access` has absolute paths. */
export interface ClusterEntry {
  readonly name: ClusterName;
  readonly access: KubeConfigSource;
  /** Where it stands, for messages: `clusters.yml: clusters[1] (west)`. */
  readonly where: string;
}

/** What a connection takes besides the entry. */
export type ConnectOptions = Omit<KubernetesClientOptions, 'cluster' | 'kubeConfig'>;

/** Stores that hold registries elsewhere than in a file; each is said to be missing instead of being taken for a path. */
const REMOTE = /^(ssm|secretsmanager):/;

const text = z.string().min(1);
const fileEntry = z.strictObject({ name: text, kubeconfig: text, context: text.optional() });
const inClusterEntry = z.strictObject({ name: text, inCluster: z.literal(true) });
/** A key further away than this from every known one is no slip of the pen. */
const HINT_MAX_EDITS = 3;
const registryKeys = ['clusters'];
const entryKeys = ['name', 'kubeconfig', 'context', 'inCluster'];

/**
 * The entries of the registry at `reference`, in order. kubeconfigs are not read here: see {@link connectCluster}.
 *
 * @param reference path of the file, relative to the working directory
 * @throws ConfigError of one line that names the file, the cluster and the key
 */
export function readClusters(reference: string): ClusterEntry[] {
  const [, store] = REMOTE.exec(reference) ?? [];
  if (store !== undefined) {
    throw new ConfigError(
      'registry-remote',
      `DOGWATCH_CLUSTERS: ${store}: references are not supported yet; name a file, in Lambda one in the package`,
    );
  }
  const file = basename(reference);
  const yaml = parseYaml(reference);
  const fail = (what: string): never => {
    throw new ConfigError('registry-invalid', `${file}: ${what}`);
  };
  if (!isRecord(yaml)) return fail('holds no mapping; begin it with clusters:');
  const unknown = Object.keys(yaml).find((key) => !registryKeys.includes(key));
  if (unknown !== undefined) return fail(unknownKey(unknown, registryKeys));
  const list = yaml['clusters'];
  if (!Array.isArray(list)) return fail('clusters is not a list');
  if (list.length === 0) return fail('clusters is empty; name at least one cluster');
  const seen = new Map<string, number>();
  return list.map((raw, index) => {
    const label = isRecord(raw) && typeof raw['name'] === 'string' ? ` (${raw['name']})` : '';
    const where = `clusters[${index}]${label}`;
    const entry = parseEntry(raw, (what) => fail(`${where}: ${what}`));
    const twin = seen.get(entry.name);
    if (twin !== undefined) return fail(`${where}: name ${entry.name} is taken by clusters[${twin}]`);
    seen.set(entry.name, index);
    const name = entry.name as ClusterName;
    if ('inCluster' in entry) return { name, access: { kind: 'in-cluster' }, where: `${file}: ${where}` };
    const path = resolve(dirname(reference), entry.kubeconfig);
    return { name, access: { kind: 'file', path, context: entry.context }, where: `${file}: ${where}` };
  });
}

/**
 * A client of the cluster. Reads its kubeconfig and sends nothing.
 *
 * @throws ConfigError of one line that names the registry's entry, the kubeconfig and its key
 */
export function connectCluster(entry: ClusterEntry, options: ConnectOptions = {}): KubernetesClient {
  try {
    return createKubernetesClient({ ...options, cluster: entry.name, kubeConfig: entry.access });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.code, `${entry.where}: ${error.message}`, { cause: error });
  }
}

/**
 * Asks entries where they lead: the API server's address, or undefined where that cannot be read now. To be asked again and
 * again, for a kubeconfig may be replaced; one whose content is the same is not parsed again.
 */
export function createServerReader(): (entry: ClusterEntry) => string | undefined {
  const known = new Map<string, { readonly digest: string; readonly server: string | undefined }>();
  return ({ access }) => {
    if (access.kind === 'in-cluster') return undefined;
    const { path, context } = access;
    const key = JSON.stringify([path, context]);
    try {
      const digest = createHash('sha256').update(readFileSync(path)).digest('base64');
      const before = known.get(key);
      if (before?.digest === digest) return before.server;
      known.set(key, { digest, server: undefined });
      const { server } = readContext(path, context).cluster;
      known.set(key, { digest, server });
      return server;
    } catch {
      // Whoever connects says what is wrong; here it only means that there is no news.
      return undefined;
    }
  };
}

function parseYaml(reference: string): unknown {
  const file = basename(reference);
  let content: string;
  try {
    content = readFileSync(reference, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigError('registry-unreadable', `${reference}: the cluster registry ${what}; set DOGWATCH_CLUSTERS`, { cause: error });
  }
  try {
    return load(content);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark === undefined ? '' : ` (line ${error.mark.line + 1})`;
    throw new ConfigError('registry-unparsable', `${file}: does not parse as YAML: ${error.reason}${line}`, { cause: error });
  }
}

function parseEntry(raw: unknown, fail: (what: string) => never): z.infer<typeof fileEntry> | z.infer<typeof inClusterEntry> {
  if (!isRecord(raw)) return fail('is not a mapping with name and kubeconfig');
  const unknown = Object.keys(raw).find((key) => !entryKeys.includes(key));
  if (unknown !== undefined) return fail(unknownKey(unknown, entryKeys));
  if (typeof raw['name'] !== 'string') return fail('name is missing, or not text');
  if (!isDnsLabel(raw['name'])) return fail('name is not a DNS label (a-z, 0-9, inner hyphens, at most 63)');
  const both = 'kubeconfig' in raw && 'inCluster' in raw;
  if (both) return fail('kubeconfig and inCluster exclude each other; take one out');
  if (!('kubeconfig' in raw) && !('inCluster' in raw)) return fail('kubeconfig or inCluster: true is missing');
  if ('inCluster' in raw && 'context' in raw) return fail('context goes with kubeconfig only; take it out');
  const parsed = ('inCluster' in raw ? inClusterEntry : fileEntry).safeParse(raw);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  return fail(`${issue?.path.join('.') || 'entry'}: ${issue?.message ?? 'is invalid'}`);
}

function unknownKey(key: string, known: readonly string[]): string {
  const nearest = closestName(key, known, HINT_MAX_EDITS);
  const hint = nearest === undefined ? `known: ${known.join(', ')}` : `did you mean ${nearest}?`;
  return `unknown key ${key}; ${hint}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
