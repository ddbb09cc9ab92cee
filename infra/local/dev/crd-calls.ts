/** What a development run asks one cluster about CRDs. */
import { isDeepStrictEqual } from 'node:util';
import { parseStatus } from '../../../functions/adapters/kubernetes/errors.ts';
import { APPLY_PATCH, JSON_TYPE } from '../../../functions/adapters/kubernetes/paths.ts';
import { oneLine } from '../../../functions/core/errors.ts';
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
  /** Who else than development runs has written its spec, the last of them; undefined where nobody has. */
  readonly otherWriter: string | undefined;
  readonly spec: unknown;
}

type Problem = Extract<ClusterAnswer, { kind: 'unavailable' }>;
type Refusal = { readonly kind: 'refused'; readonly text: string };

/** A writer whom the cluster does not name. */
const SOMEBODY = 'somebody';
/** Names of objects that are told; of a thousand nobody reads more. */
const NAMES_MAX = 5;
/** Objects that are tried. */
const TRIED_MAX = 50;

export interface CrdCalls {
  /** Absent only where the cluster says so: what may be somebody's is not to be overwritten. */
  read(crd: Crd): Promise<{ readonly kind: 'stored'; readonly crd: StoredCrd } | { readonly kind: 'absent' } | Problem>;
  /** Applies it by force. @returns how it is then stored */
  apply(crd: Crd): Promise<{ readonly kind: 'stored'; readonly crd: StoredCrd } | Refusal | Problem>;
  /** Whether it says what is stored already, as far as the cluster sees a difference, by an apply that is not kept. */
  compare(crd: Crd, stored: StoredCrd): Promise<{ readonly kind: 'same' | 'different' } | Problem>;
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
      if (answer.status === 404) return { kind: 'absent' };
      const said = oneLine(parseStatus(answer.text)?.message ?? '');
      const problem = `whether ${crd.metadata.name} is there is not known, for it answers ${answer.status}${said === '' ? '' : `: ${said}`}`;
      return { kind: 'unavailable', problem, isDenied: false };
    },
    async apply(crd) {
      const answer = await patch(crd, '');
      if (answer.kind === 'unavailable') return answer;
      if (answer.status < 300) return { kind: 'stored', crd: storedOf(answer.text) };
      const said = parseStatus(answer.text)?.message ?? `the cluster answers ${answer.status}`;
      return { kind: 'refused', text: oneLine(said) };
    },
    async compare(crd, stored) {
      const answer = await patch(crd, '&dryRun=All');
      if (answer.kind === 'unavailable') return answer;
      const isSame = answer.status < 300 && isDeepStrictEqual(storedOf(answer.text).spec, stored.spec);
      return { kind: isSame ? 'same' : 'different' };
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

interface ManagedFields {
  readonly manager?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

interface StoredBody {
  readonly metadata: {
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly managedFields?: readonly ManagedFields[];
  };
  readonly spec?: unknown;
}

function storedOf(text: string): StoredCrd {
  const { metadata, spec } = JSON.parse(text) as StoredBody;
  const writers = (metadata.managedFields ?? [])
    .filter(({ subresource, fieldsV1 }) => !subresource && fieldsV1?.['f:spec'] !== undefined)
    .sort((a, b) => (b.time ?? '').localeCompare(a.time ?? ''))
    .map(({ manager = SOMEBODY }) => manager);
  const [last = SOMEBODY] = writers;
  return {
    generation: metadata.generation ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    writer: last,
    otherWriter: writers.length === 0 ? SOMEBODY : writers.find((manager) => manager !== DEV_FIELD_MANAGER),
    spec,
  };
}
