/** What kinds a cluster serves, by the names that people use for them. */
import type { ResourceType } from '../../../events/resource.ts';
import type { Transport } from '../../../functions/adapters/kubernetes/transport.ts';
import { closestName } from '../../../functions/core/closest-name.ts';
import { BenchError } from './bench-error.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** A name further away than this from every known one is no slip of the pen. */
const HINT_MAX_EDITS = 3;

export interface ServedKind extends ResourceType {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly hasStatus: boolean;
}

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly DiscoveredResource[] }[];
  }[];
}

interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind: { readonly kind: string };
  readonly scope: 'Namespaced' | 'Cluster';
  readonly singularResource: string;
  readonly shortNames?: readonly string[];
  readonly subresources?: readonly unknown[];
}

/** All kinds that are served now. */
export async function readServedKinds(transport: Transport): Promise<readonly ServedKind[]> {
  const kinds: ServedKind[] = [];
  for (const path of ['/api', '/apis']) {
    const { text } = await transport.send({ method: 'GET', path, accept: AGGREGATED });
    for (const { metadata, versions } of (JSON.parse(text) as Discovery).items) {
      for (const { version, resources } of versions) {
        for (const found of resources) {
          kinds.push({
            ...{ group: metadata.name ?? '', version, kind: found.responseKind.kind, plural: found.resource, scope: found.scope },
            ...{ singular: found.singularResource, shortNames: found.shortNames ?? [], hasStatus: found.subresources !== undefined },
          });
        }
      }
    }
  }
  return kinds;
}

/** The kind that is meant by `Greeting`, `greetings`, `Greeting.platform.example` or a short name; undefined for none. */
export function findKind(kinds: readonly ServedKind[], name: string): ServedKind | undefined {
  const wanted = name.toLowerCase();
  const isMeant = ({ kind, plural, singular, shortNames, group }: ServedKind): boolean =>
    [kind.toLowerCase(), plural, singular, ...shortNames].some((each) => each === wanted || `${each}.${group}` === wanted);
  return kinds.find(isMeant);
}

/** @throws never; the error that says that there is no such kind, and what may be meant */
export function unknownKind(cluster: string, kinds: readonly ServedKind[], name: string): BenchError {
  const near = closestName(
    name,
    kinds.map(({ kind }) => kind),
    HINT_MAX_EDITS,
  );
  const hint = near === undefined ? 'give its CustomResourceDefinition to startBench, as one of `crds`' : `did you mean ${near}?`;
  return new BenchError('unknown-kind', `cluster ${cluster} serves no kind ${name}; ${hint}`);
}
