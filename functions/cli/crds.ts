/** `dogwatch crds`: the CustomResourceDefinitions of the reconcilers, printed, written or applied. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { ResourceType } from '../../events/resource.ts';
import { systemClock } from '../adapters/clock.ts';
import { connectCluster, readClusters } from '../adapters/clusters.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import { customResourceDefinition } from '../core/custom-resource-definition.ts';
import { ConfigError, TransientError } from '../core/errors.ts';
import type { PlannedObject } from '../core/reconciler.ts';
import type { ResourceDefinition } from '../core/resource-definition.ts';
import { reconcilers } from '../reconcilers/index.ts';
import type { ExitCode } from './main.ts';

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

/** How long a new kind may take until it is served; a real API server needs about a second. */
const SERVED_WITHIN_MS = 30_000;

export async function crds(env: NodeJS.ProcessEnv, options: CrdsOptions): Promise<ExitCode> {
  const resources = reconcilers.map((reconciler) => reconciler.resource);
  if (options.apply !== true) {
    if (options.cluster !== undefined) throw new ConfigError('usage', '--cluster goes with --apply; add --apply or leave it out');
    if (options.out === undefined) console.log(resources.map(crdYaml).join('---\n').trimEnd());
    else writeCrds(options.out, resources);
    return 0;
  }
  if (options.cluster === undefined) throw new ConfigError('usage', '--apply needs --cluster NAME, the cluster to apply to');
  if (options.out !== undefined) throw new ConfigError('usage', '--apply and --out exclude each other; leave one out');
  const client = connect(env, options.cluster);
  try {
    for (const resource of resources) await applyCrd(client, resource);
  } finally {
    client.close();
  }
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
  mkdirSync(dir, { recursive: true });
  for (const resource of resources) {
    const path = join(dir, crdFileName(resource));
    writeFileSync(path, crdYaml(resource));
    console.log(path);
  }
}

function connect(env: NodeJS.ProcessEnv, name: string): KubernetesClient {
  const registry = env['DOGWATCH_CLUSTERS'];
  if (!registry) throw new ConfigError('missing-variable', 'DOGWATCH_CLUSTERS is not set; it names the cluster registry');
  const entries = readClusters(registry);
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) {
    const known = entries.map((candidate) => candidate.name).join(', ');
    throw new ConfigError('unknown-cluster', `${registry}: no cluster is named ${name}; there are: ${known}`);
  }
  return connectCluster(entry);
}

async function applyCrd(client: KubernetesClient, resource: ResourceDefinition): Promise<void> {
  await client.apply(CUSTOM_RESOURCE_DEFINITIONS, customResourceDefinition(resource) as PlannedObject);
  const deadline = Date.now() + SERVED_WITHIN_MS;
  while (!(await isServed(client, resource))) {
    if (Date.now() > deadline) {
      throw new TransientError(
        'not-served',
        'the CRD was applied but its kind is not served; look at its conditions with kubectl describe crd',
        {
          facts: { cluster: client.cluster, kind: resource.kind },
        },
      );
    }
    await systemClock.sleep(250);
  }
  console.log(`${client.cluster}: ${resource.plural}.${resource.group} applied and served`);
}

async function isServed(client: KubernetesClient, resource: ResourceDefinition): Promise<boolean> {
  try {
    await client.list(resource, { form: 'metadata', limit: 1 });
    return true;
  } catch (error) {
    if (error instanceof TransientError && error.code === 'not-served') return false;
    throw error;
  }
}
