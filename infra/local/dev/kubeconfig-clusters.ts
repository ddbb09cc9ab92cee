/** Clusters of a development run that are somebody's: contexts of a kubeconfig. The run is a guest there. */
import { resolve } from 'node:path';
import { load } from 'js-yaml';
import { readContext, readText } from '../../../functions/adapters/kubernetes/kube-config-file.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { ClusterSource, DevCluster } from './dev-clusters.ts';
import { copyForPlugin } from './plugin-kubeconfig.ts';

export interface KubeconfigOptions {
  readonly file: string;
  /** Without any the current one. */
  readonly contexts: readonly string[];
}

/** What whoever shares the cluster would ask. */
const GUEST_RULES = [
  'CRDs are applied there where they are missing, or where only a development run has applied them before; samples are not',
  'at the end nothing is deleted: objects keep their finalizers, and one that is deleted afterwards goes once a Dogwatch runs again',
  'objects of these kinds that are there are reconciled by the code of this run, for which AWS is the embedded queues: end it where another Dogwatch reconciles them',
];

const DNS_LABEL_MAX = 63;

/**
 * The contexts, each as a cluster of its name. One with files or fields that cannot be used is told of and left out, unless none is
 * left; whether one answers shows when something is asked of it. `start` throws a ConfigError for a file that cannot be read, and for a
 * context that is not in it, with those that are.
 */
export function kubeconfigClusters({ file, contexts }: KubeconfigOptions): ClusterSource {
  return {
    async start(dir, emit) {
      const kubeconfigPath = resolve(file);
      const wanted = contexts.length > 0 ? [...new Set(contexts)] : [currentContext(kubeconfigPath)];
      const servers = wanted.map((context) => readContext(kubeconfigPath, context).cluster.server);
      const names = clusterNames(wanted);
      const { loadAccess } = await import('../../../functions/adapters/kubernetes/kube-config.ts');
      const all: DevCluster[] = [];
      const faults: ConfigError[] = [];
      for (const [index, context] of wanted.entries()) {
        const name = names[index] ?? context;
        try {
          loadAccess({ kind: 'file', path: kubeconfigPath, context });
          const accessPath = copyForPlugin({ path: kubeconfigPath, context, name }, dir, process.env);
          all.push({ name, kubeconfigPath, context, isOwn: false, ...(accessPath === undefined ? {} : { accessPath }) });
          emit({ kind: 'step', text: `cluster ${name}: context ${context} of ${kubeconfigPath}, ${servers[index]}` });
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          faults.push(error);
          emit({ kind: 'notice', level: 'error', text: `context ${context} is left out: ${error.message}` });
        }
      }
      const [fault] = faults;
      if (all.length === 0 && fault !== undefined) throw fault;
      for (const text of GUEST_RULES) emit({ kind: 'step', text });
      return { all, stop: async () => undefined };
    },
  };
}

/** @throws ConfigError that says which contexts there are, for a file without a current one */
function currentContext(path: string): string {
  const { 'current-context': current, contexts } = mappingIn(path);
  if (typeof current === 'string' && current !== '') return current;
  const names = (Array.isArray(contexts) ? contexts : []).map((entry: { readonly name?: unknown } | null) => entry?.name);
  const known = names.filter((name) => typeof name === 'string').join(', ') || 'none';
  throw new ConfigError('kubeconfig-invalid', `${path}: current-context is not set; name one with --context (there: ${known})`);
}

/** What is wrong with the file, readContext says better: here it is only without a current context then. */
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
