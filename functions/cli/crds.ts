/** `dogwatch crds`: the CustomResourceDefinitions of the reconcilers, printed, written or applied. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { ResourceType } from '../../events/resource.ts';
import { systemClock } from '../adapters/clock.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import { customResourceDefinition } from '../core/custom-resource-definition.ts';
import { ConfigError, TransientError } from '../core/errors.ts';
import type { ResourceDefinition } from '../core/resource-definition.ts';
import { reconcilers } from '../reconcilers/index.ts';
import type { ExitCode } from './main.ts';
import { findCluster, withCluster } from './registry.ts';

export interface CrdsOptions {
  readonly out?: string;
  readonly apply?: boolean;
  readonly cluster?: string;
}

const CUSTOM_RESOURCE_DEFINITIONS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
};

/** The same without an entry of the registry, as README.md deploys it. */
const AS_ADMINISTRATOR =
  'npm run -s dogwatch -- crds | kubectl --context CONTEXT apply --server-side --force-conflicts --field-manager dogwatch -f -';

/** How long a new kind may take until it is served; a real API server needs about a second. */
const SERVED_WITHIN_MS = 30_000;

export async function crds(env: NodeJS.ProcessEnv, options: CrdsOptions): Promise<ExitCode> {
  const resources = reconcilers.flatMap(({ resource }) => (resource.isDescribed ? [] : resource));
  if (options.apply !== true) {
    if (options.cluster !== undefined) throw new ConfigError('usage', '--cluster goes with --apply; add --apply or leave it out');
    if (options.out === undefined) console.log(resources.map(crdYaml).join('---\n').trimEnd());
    else writeCrds(options.out, resources);
    return 0;
  }
  if (options.cluster === undefined) throw new ConfigError('usage', '--apply needs --cluster NAME, the cluster to apply to');
  if (options.out !== undefined) throw new ConfigError('usage', '--apply and --out exclude each other; leave one out');
  await withCluster(await findCluster(env, options.cluster), async (client) => {
    for (const resource of resources) await applyCrd(client, resource);
  });
  return 0;
}

/** One CustomResourceDefinition as YAML, keys in the order they are built, so that a generated file does not flap. */
export function crdYaml(resource: ResourceDefinition): string {
  return dump(customResourceDefinition(resource), { lineWidth: 140, noRefs: true });
}

/** The file name of a CRD: `<plural>.<group>.yaml`, which is also its object's name. */
function crdFileName(resource: ResourceType): string {
  return `${resource.plural}.${resource.group}.yaml`;
}

function writeCrds(dir: string, resources: readonly ResourceDefinition[]): void {
  for (const resource of resources) {
    const path = join(dir, crdFileName(resource));
    try {
      mkdirSync(dir, { recursive: true });
      writeFileSync(path, crdYaml(resource));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      throw new ConfigError('not-writable', `${path} cannot be written (${code}); choose another --out`, { cause: error });
    }
    console.log(path);
  }
}

/** Applies one CRD and waits until it is in force: the kind is served, with the columns of this very definition. */
async function applyCrd(client: KubernetesClient, resource: ResourceDefinition): Promise<void> {
  const definition = customResourceDefinition(resource);
  await client.apply(CUSTOM_RESOURCE_DEFINITIONS, definition).catch((error: unknown) => {
    throw isForbidden(error) ? withOtherWay(error) : error;
  });
  const deadline = Date.now() + SERVED_WITHIN_MS;
  while (!(await isInForce(client, resource))) {
    if (Date.now() > deadline) {
      throw new TransientError('not-served', 'the CRD was applied but is not in force; look at its conditions with kubectl describe crd', {
        facts: { kind: resource.kind },
      });
    }
    await systemClock.sleep(250);
  }
  console.log(`${client.cluster}: ${resource.plural}.${resource.group} applied and served`);
}

function isForbidden(error: unknown): error is TransientError {
  return error instanceof TransientError && error.code === 'forbidden';
}

/** Neither the watcher's identity nor the function's has the right, and none should: it is an administrator's. */
function withOtherWay({ code, facts, cause }: TransientError): TransientError {
  return new TransientError(
    code,
    'the API server forbids this; grant the right to create and patch CustomResourceDefinitions, or have an administrator of the cluster ' +
      `apply them: ${AS_ADMINISTRATOR}`,
    { cause, facts },
  );
}

/** A list shows the columns of the definition that the API server uses, half a second or so after a change. */
async function isInForce(client: KubernetesClient, resource: ResourceDefinition): Promise<boolean> {
  try {
    const served = await client.servedKind(resource);
    const { columns } = await client.list(resource, { form: 'table', limit: 1 });
    const names = served?.printerColumns.map(({ name }) => name);
    return (
      names !== undefined &&
      names.join() ===
        columns
          .slice(1)
          .map(({ name }) => name)
          .join()
    );
  } catch (error) {
    if (error instanceof TransientError && error.code === 'not-served') return false;
    throw error;
  }
}
