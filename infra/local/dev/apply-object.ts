/** Applies objects of any kind to a cluster, as `kubectl apply --server-side` does: what a kind's path is, the cluster says. */
import { parseStatus } from '../../../functions/adapters/kubernetes/errors.ts';
import { APPLY_PATCH, JSON_TYPE, objectPath } from '../../../functions/adapters/kubernetes/paths.ts';
import { createTransport, type Transport } from '../../../functions/adapters/kubernetes/transport.ts';
import { DogwatchError, TerminalError } from '../../../functions/core/errors.ts';
import type { ManifestObject } from './manifest.ts';

export interface Applier {
  /**
   * Applies it, by force, with every unknown field refused; without a namespace to `default`.
   *
   * @returns undefined, or in one line why not, with the field that the cluster names
   */
  apply(object: ManifestObject): Promise<string | undefined>;
  close(): void;
}

/** Who the cluster says has written it. */
const FIELD_MANAGER = 'dogwatch-dev';

interface ServedResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Returns at once; a kubeconfig that is not usable is what an apply fails for. */
export function createApplier(kubeconfigPath: string): Applier {
  const opening = openTransport(kubeconfigPath);
  opening.catch(() => undefined); // each apply tells

  async function pathOf({ apiVersion, kind, metadata }: ManifestObject, transport: Transport): Promise<string | undefined> {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const answer = await transport.send({
      method: 'GET',
      path: group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
      accept: JSON_TYPE,
    });
    if (answer.status !== 200) return undefined;
    const { resources } = JSON.parse(answer.text) as { resources: readonly ServedResource[] };
    const served = resources.find((resource) => resource.kind === kind && !resource.name.includes('/'));
    if (served === undefined) return undefined;
    const { name: plural, namespaced } = served;
    const { name, namespace = 'default' } = metadata;
    const query = { fieldManager: FIELD_MANAGER, force: true, fieldValidation: 'Strict' };
    const type = { group, version, kind, plural, scope: namespaced ? 'Namespaced' : 'Cluster' } as const;
    return objectPath(type, namespaced ? { namespace, name } : { name }, query);
  }

  return {
    async apply(object) {
      try {
        const transport = await opening;
        const path = await pathOf(object, transport);
        if (path === undefined) return `no kind ${object.kind} of ${object.apiVersion} is served; apply its CRD first`;
        const request = { method: 'PATCH', path, accept: JSON_TYPE, contentType: APPLY_PATCH, body: JSON.stringify(object) } as const;
        const { status, text } = await transport.send(request);
        return status < 300 ? undefined : oneLine(parseStatus(text)?.message ?? `the cluster answers ${status}`);
      } catch (error) {
        if (error instanceof TerminalError && error.code === 'bad-request') return `metadata.name: ${error.message}`;
        if (error instanceof DogwatchError) return error.message;
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
async function openTransport(kubeconfigPath: string): Promise<Transport> {
  const { openCredentials } = await import('../../../functions/adapters/kubernetes/credentials.ts');
  const credentials = openCredentials({ kind: 'file', path: kubeconfigPath, context: undefined });
  return createTransport({ credentials, userAgent: FIELD_MANAGER });
}

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ');
