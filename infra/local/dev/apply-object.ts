/** Applies objects of any kind to a cluster, as `kubectl apply --server-side` does: what a kind's path is, the cluster says. */
import { parseStatus } from '../../../functions/adapters/kubernetes/errors.ts';
import { APPLY_PATCH, objectPath } from '../../../functions/adapters/kubernetes/paths.ts';
import { oneLine, TerminalError } from '../../../functions/core/errors.ts';
import { type ClusterCalls, createClusterCalls, DEV_FIELD_MANAGER } from './cluster-calls.ts';
import type { ManifestObject } from './manifest.ts';

export interface Applier {
  /**
   * Applies it, by force, with every unknown field refused; without a namespace to that of the kubeconfig's context.
   *
   * @returns undefined, or in one line why not, with the field that the cluster names
   */
  apply(object: ManifestObject): Promise<string | undefined>;
  /** False while the last one failed for the cluster and not for the object: another one would fail too, after a while. */
  readonly isAnswering: boolean;
  close(): void;
}

interface ServedResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Returns at once; a kubeconfig that is not usable is what an apply fails for. */
export function createApplier(kubeconfigPath: string, context?: string): Applier {
  return applierOf(createClusterCalls({ kubeconfigPath, context }));
}

/** The same over calls that are there; closing it closes them. */
export function applierOf(calls: ClusterCalls): Applier {
  let isAnswering = true;

  /** @throws Unavailable @throws TerminalError for a name that no path can hold */
  async function refusalOf(object: ManifestObject): Promise<string | undefined> {
    const { apiVersion, kind } = object;
    const resource = await servedResource(apiVersion, kind);
    if (resource === undefined) return `no kind ${kind} of ${apiVersion} is served; apply its CRD first`;
    const path = pathOf(object, resource, calls.namespace);
    const { status, text } = await answerOf({ method: 'PATCH', path, contentType: APPLY_PATCH, body: JSON.stringify(object) });
    return status < 300 ? undefined : oneLine(parseStatus(text)?.message ?? `the cluster answers ${status}`);
  }

  async function servedResource(apiVersion: string, kind: string): Promise<ServedResource | undefined> {
    const answer = await answerOf({ method: 'GET', path: apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}` });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) {
      const said = oneLine(parseStatus(answer.text)?.message ?? '');
      throw new Unavailable(`which kinds of ${apiVersion} are served is not known: the cluster answers ${answer.status}: ${said}`, false);
    }
    const { resources } = JSON.parse(answer.text) as { resources: readonly ServedResource[] };
    return resources.find((resource) => resource.kind === kind && !resource.name.includes('/'));
  }

  async function answerOf(request: Parameters<ClusterCalls['send']>[0]): Promise<{ status: number; text: string }> {
    const answer = await calls.send(request);
    if (answer.kind === 'unavailable') throw new Unavailable(answer.problem, answer.isDenied);
    return answer;
  }

  return {
    async apply(object) {
      try {
        const refusal = await refusalOf(object);
        isAnswering = true;
        return refusal;
      } catch (error) {
        if (error instanceof TerminalError && error.code === 'bad-request') return `metadata.name: ${error.message}`;
        if (!(error instanceof Unavailable)) throw error;
        isAnswering = error.isDenied;
        return error.message;
      }
    },
    get isAnswering() {
      return isAnswering;
    },
    close: () => calls.close(),
  };
}

class Unavailable extends Error {
  readonly isDenied: boolean;

  constructor(problem: string, isDenied: boolean) {
    super(problem);
    this.isDenied = isDenied;
  }
}

function pathOf(
  { apiVersion, kind, metadata }: ManifestObject,
  { name: plural, namespaced }: ServedResource,
  defaultNamespace: string,
): string {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const { name, namespace = defaultNamespace } = metadata;
  const query = { fieldManager: DEV_FIELD_MANAGER, force: true, fieldValidation: 'Strict' };
  const type = { group, version, kind, plural, scope: namespaced ? 'Namespaced' : 'Cluster' } as const;
  return objectPath(type, namespaced ? { namespace, name } : { name }, query);
}
