/** Clusters of a development run that are somebody's: contexts of a kubeconfig. The run is a guest there. */
import { resolve } from 'node:path';
import { load } from 'js-yaml';
import { type ClusterFields, readContext, readText } from '../../../functions/adapters/kubernetes/kube-config-file.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { ClusterSource, DevCluster } from './dev-clusters.ts';
import { copyForPlugin } from './plugin-kubeconfig.ts';
import { sameClusterText } from './session-clusters.ts';

export interface KubeconfigOptions {
  readonly file: string;
  /** At least one: what is current somewhere is not to be reconciled by accident. */
  readonly contexts: readonly string[];
  /** Whether they are used also where another Dogwatch may be at work. */
  readonly takeOver?: boolean;
}

/** What whoever shares the cluster would ask. */
const GUEST_RULES = [
  'CRDs are applied there where they are missing, or where only a development run has applied them before; samples are not',
  'at the end nothing is deleted: objects keep their finalizers, and one that is deleted afterwards goes once a Dogwatch runs again',
  'objects of these kinds that are there are reconciled by the code of this run, for which AWS is the embedded queues: a cluster where somebody else has applied one of the CRDs, or that does not say it at the start, is left out',
];
const TAKEN_OVER =
  '--take-over: no cluster is left out for what is deployed there; a Dogwatch that still runs there and this run write over each other, and what an object stands for in AWS is not deleted with it';

const DNS_LABEL_MAX = 63;

/**
 * The contexts, each as a cluster of its name. One with files or fields that cannot be used, or that has the address of one before, is told
 * of and left out, unless none is left; whether one answers shows when something is asked of it. `start` throws a ConfigError for a file
 * that cannot be read, and where no context is named, or one that is not in it, with those that are.
 */
export function kubeconfigClusters({ file, contexts, takeOver = false }: KubeconfigOptions): ClusterSource {
  return {
    async start(dir, emit) {
      const kubeconfigPath = resolve(file);
      if (contexts.length === 0) throw contextMissing(kubeconfigPath);
      const wanted = [...new Set(contexts)];
      const addresses = wanted.map((context) => readContext(kubeconfigPath, context).cluster);
      const names = clusterNames(wanted);
      const { loadAccess } = await import('../../../functions/adapters/kubernetes/kube-config.ts');
      const all: DevCluster[] = [];
      const faults: ConfigError[] = [];
      const taken = new Map<string, string>();
      for (const [index, context] of wanted.entries()) {
        const name = names[index] ?? context;
        const address = addresses[index];
        const place = address === undefined ? '' : placeOf(address);
        try {
          const twin = taken.get(place);
          if (twin !== undefined) throw new ConfigError('same-cluster', sameClusterText(twin));
          loadAccess({ kind: 'file', path: kubeconfigPath, context });
          const accessPath = copyForPlugin({ path: kubeconfigPath, context, name }, dir, process.env);
          const more = { ...(accessPath === undefined ? {} : { accessPath }), ...(takeOver ? { isTakenOver: true } : {}) };
          all.push({ name, kubeconfigPath, context, isOwn: false, ...more });
          taken.set(place, context);
          emit({ kind: 'step', text: `cluster ${name}: context ${context} of ${kubeconfigPath}, ${address?.server}` });
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          faults.push(error);
          emit({ kind: 'notice', level: 'error', text: `context ${context} is left out: ${error.message}` });
        }
      }
      const [fault] = faults;
      if (all.length === 0 && fault !== undefined) throw fault;
      for (const text of takeOver ? [...GUEST_RULES, TAKEN_OVER] : GUEST_RULES) emit({ kind: 'step', text });
      return { all, stop: async () => undefined };
    },
  };
}

function contextMissing(path: string): ConfigError {
  const { contexts } = mappingIn(path);
  const names = (Array.isArray(contexts) ? contexts : []).map((entry: { readonly name?: unknown } | null) => entry?.name);
  const known = names.filter((name) => typeof name === 'string').join(', ') || 'none';
  return new ConfigError(
    'usage',
    `--kubeconfig needs --context NAME: everything of its kinds in a cluster is reconciled (there: ${known})`,
  );
}

/** Where the requests go: behind one address there may be another cluster for each name, or path. */
function placeOf({ server, 'tls-server-name': tlsName = '' }: ClusterFields): string {
  const url = URL.canParse(server) ? new URL(server).href.replace(/\/+$/, '') : server;
  return JSON.stringify([url, tlsName]);
}

/** What is wrong with the file, readContext says better: here it is only without contexts then. */
function mappingIn(path: string): Readonly<Record<string, unknown>> {
  try {
    const value = load(readText(path, '--kubeconfig'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch (error) {
    readContext(path, undefined);
    throw error;
  }
}

/** A DNS label for each context, which may be a URL or an ARN; all different. */
export function clusterNames(contexts: readonly string[]): string[] {
  const taken = new Set<string>();
  return contexts.map((context) => {
    const words = context.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    // The end of an ARN tells more than its beginning.
    const label = words.slice(-DNS_LABEL_MAX).replace(/^-+|-+$/g, '');
    const base = label === '' ? 'cluster' : label;
    let name = base;
    for (let count = 2; taken.has(name); count += 1) name = `${base.slice(0, DNS_LABEL_MAX - 4)}-${count}`;
    taken.add(name);
    return name;
  });
}
