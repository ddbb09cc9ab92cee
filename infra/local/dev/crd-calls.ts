/** What a development run asks one cluster about CRDs. */
import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGER } from '../../../events/labels.ts';
import { parseStatus } from '../../../functions/adapters/kubernetes/errors.ts';
import { APPLY_PATCH, JSON_TYPE } from '../../../functions/adapters/kubernetes/paths.ts';
import { type ClusterAnswer, type ClusterCalls, DEV_FIELD_MANAGER } from './cluster-calls.ts';
import type { ManifestObject } from './manifest.ts';

/** A CRD as it is built from a definition, as far as it is looked at. */
export interface Crd extends ManifestObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly { readonly name: string }[];
  };
}

/** A CRD as a cluster has it. */
export interface StoredCrd {
  /** Of the spec: the same as long as nobody changes it. */
  readonly generation: number;
  readonly isDeleting: boolean;
  /** Who changed the spec last, as managedFields say. */
  readonly writer: string;
  /** Whether a Dogwatch has applied it at some time. */
  readonly isOurs: boolean;
  readonly spec: unknown;
}

type Problem = Extract<ClusterAnswer, { kind: 'unavailable' }>;
type Refusal = { readonly kind: 'refused'; readonly text: string };

/** Names of objects that are told; of a thousand nobody reads more. */
const NAMES_MAX = 5;
/** Objects that are tried. */
const TRIED_MAX = 50;

export interface CrdCalls {
  read(crd: Crd): Promise<{ readonly kind: 'stored'; readonly crd: StoredCrd } | { readonly kind: 'absent' } | Problem>;
  /** Applies it by force. @returns how it is then stored */
  apply(crd: Crd): Promise<{ readonly kind: 'stored'; readonly crd: StoredCrd } | Refusal | Problem>;
  /** Whether it says what is stored already, as far as the cluster sees a difference. False also where that cannot be found out. */
  isSame(crd: Crd, stored: StoredCrd): Promise<boolean>;
  isServed(crd: Crd): Promise<boolean>;
  /** `2 objects (default/a, default/b)`; undefined where there are none, or that cannot be found out. */
  objects(crd: Crd): Promise<string | undefined>;
  /** Objects that the cluster would not take as they are, with the field: `default/a (spec.size: Required value)`. Looks at some of them. */
  misfits(crd: Crd): Promise<readonly string[]>;
}

export function createCrdCalls(calls: ClusterCalls): CrdCalls {
  const pathOf = ({ metadata: { name } }: Crd): string =>
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${encodeURIComponent(name)}`;
  const patch = (crd: Crd, query: string): Promise<ClusterAnswer> => {
    const path = `${pathOf(crd)}?fieldManager=${DEV_FIELD_MANAGER}&force=true${query}`;
    return calls.send({ method: 'PATCH', path, contentType: APPLY_PATCH, body: JSON.stringify(crd) });
  };
  const refusalOf = async (crd: Crd, { apiVersion, kind, metadata: { namespace }, spec }: ListedObject): Promise<string | undefined> => {
    const within = namespace === undefined ? '' : `/namespaces/${namespace}`;
    // Under another name, as a new object: of one that is there a cluster lets pass what was wrong before.
    const body = JSON.stringify({ apiVersion, kind, metadata: { name: 'dogwatch-dry-run', namespace }, spec });
    const path = `${groupPath(crd)}${within}/${crd.spec.names.plural}?dryRun=All`;
    const answer = await calls.send({ method: 'POST', path, contentType: JSON_TYPE, body });
    if (answer.kind === 'unavailable' || answer.status !== 422) return undefined;
    return (parseStatus(answer.text)?.message ?? '').replace(/^.*? is invalid: /, '');
  };
  const groupPath = ({ spec: { group, versions } }: Crd): string => `/apis/${group}/${versions[0]?.name}`;

  return {
    async read(crd) {
      const answer = await calls.send({ method: 'GET', path: pathOf(crd) });
      if (answer.kind === 'unavailable') return answer;
      if (answer.status === 200) return { kind: 'stored', crd: storedOf(answer.text) };
      return { kind: 'absent' };
    },
    async apply(crd) {
      const answer = await patch(crd, '');
      if (answer.kind === 'unavailable') return answer;
      if (answer.status < 300) return { kind: 'stored', crd: storedOf(answer.text) };
      const said = parseStatus(answer.text)?.message ?? `the cluster answers ${answer.status}`;
      return { kind: 'refused', text: said.replace(/\s*\n\s*/g, ' ') };
    },
    async isSame(crd, stored) {
      const answer = await patch(crd, '&dryRun=All');
      return answer.kind === 'answer' && answer.status < 300 && isDeepStrictEqual(storedOf(answer.text).spec, stored.spec);
    },
    async isServed(crd) {
      const answer = await calls.send({ method: 'GET', path: groupPath(crd) });
      if (answer.kind === 'unavailable' || answer.status !== 200) return false;
      const { resources } = JSON.parse(answer.text) as { resources: readonly { readonly name: string; readonly kind: string }[] };
      const { plural, kind } = crd.spec.names;
      return resources.some((resource) => resource.name === plural && resource.kind === kind);
    },
    async objects(crd) {
      const answer = await calls.send({ method: 'GET', path: `${groupPath(crd)}/${crd.spec.names.plural}?limit=500` });
      if (answer.kind === 'unavailable' || answer.status !== 200) return undefined;
      const { items, metadata } = JSON.parse(answer.text) as ObjectList;
      if (items.length === 0) return undefined;
      const names = items.slice(0, NAMES_MAX).map(addressOf);
      const count = items.length + (metadata?.remainingItemCount ?? 0);
      return `${count} ${count === 1 ? 'object' : 'objects'} (${names.join(', ')}${count > names.length ? ', ...' : ''})`;
    },
    async misfits(crd) {
      const answer = await calls.send({ method: 'GET', path: `${groupPath(crd)}/${crd.spec.names.plural}?limit=${TRIED_MAX}` });
      if (answer.kind === 'unavailable' || answer.status !== 200) return [];
      const { items } = JSON.parse(answer.text) as ObjectList;
      const tried = await Promise.all(items.map(async (item) => ({ item, refusal: await refusalOf(crd, item) })));
      return tried.flatMap(({ item, refusal }) => (refusal === undefined ? [] : `${addressOf(item)} (${refusal})`));
    },
  };
}

function addressOf({ metadata: { namespace, name } }: ListedObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

interface ListedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly namespace?: string; readonly name: string };
  readonly spec?: unknown;
}

interface ObjectList {
  readonly items: readonly ListedObject[];
  readonly metadata?: { readonly remainingItemCount?: number };
}

interface StoredBody {
  readonly metadata: {
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly managedFields?: readonly { readonly manager?: string; readonly subresource?: string; readonly time?: string }[];
  };
  readonly spec?: unknown;
}

function storedOf(text: string): StoredCrd {
  const { metadata, spec } = JSON.parse(text) as StoredBody;
  const entries = (metadata.managedFields ?? []).filter(({ subresource }) => !subresource);
  const [last] = [...entries].sort((a, b) => (b.time ?? '').localeCompare(a.time ?? ''));
  return {
    generation: metadata.generation ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    writer: last?.manager ?? 'somebody',
    isOurs: entries.some(({ manager }) => manager === FIELD_MANAGER || manager === DEV_FIELD_MANAGER),
    spec,
  };
}
