/** One child of a Plan, checked for its form: kind, place, name, labels, and that it is plain JSON. */
import { byteSize } from '../../events/envelope.ts';
import { isLabelValue, isQualifiedName, RESERVED_PREFIX } from '../../events/labels.ts';
import { apiVersionOf, groupKind, isDnsLabel, type ResourceType } from '../../events/resource.ts';
import { cutText } from './errors.ts';
import { nameProblem } from './object-names.ts';
import { isJsonObject, toPlainJson } from './plain-json.ts';
import type { PlannedObject } from './reconciler.ts';

export interface CheckedObject {
  readonly kind: 'checked';
  readonly type: ResourceType;
  /** A copy in plain JSON. */
  readonly body: PlannedObject;
  /** For messages: `RoleBinding team-a/member-1`. */
  readonly name: string;
}

/** Why a child cannot be applied. `name` is undefined where it is not even clear which child it is. */
export interface RefusedObject {
  readonly kind: 'refused';
  readonly name: string | undefined;
  readonly field: string;
  readonly problem: string;
}

const METADATA_FIELDS = ['name', 'namespace', 'labels', 'annotations'];

/** The API server's limit for all annotations of an object together, in bytes; ours fit into what this leaves of 256 KiB. */
const ANNOTATIONS_MAX_BYTES = 250_000;

/** The child as a copy that nobody else holds, or why it is refused. Never throws. */
export function checkPlannedObject(planned: unknown, owns: readonly ResourceType[]): CheckedObject | RefusedObject {
  if (!isJsonObject(planned)) return { kind: 'refused', name: undefined, field: 'the entry', problem: 'is not an object' };
  const name = displayName(planned);
  const refuse = (field: string, problem: string): RefusedObject => ({ kind: 'refused', name, field, problem });
  const copy = toPlainJson(planned, '');
  if (copy.kind === 'refused') return refuse(copy.path, `is ${copy.found}, which JSON cannot say`);
  const body = copy.value as PlannedObject;
  const type = owns.find((owned) => apiVersionOf(owned) === body.apiVersion && owned.kind === body.kind);
  if (type === undefined) return refuse('kind', kindProblem(body, owns));
  if ('status' in body) return refuse('status', 'is never applied to a child; leave it out');
  if (!isJsonObject(body.metadata)) return refuse('metadata', 'is missing');
  const fault = metadataFault(type, body.metadata);
  if (fault !== undefined) return refuse(`metadata.${fault.field}`, fault.problem);
  return { kind: 'checked', type, body, name: name ?? type.kind };
}

/** What an author calls the child. Cut: it goes into a condition. */
function displayName({ kind, metadata }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof kind !== 'string' || !isJsonObject(metadata) || typeof metadata['name'] !== 'string') return undefined;
  const place = typeof metadata['namespace'] === 'string' ? `${metadata['namespace']}/` : '';
  return cutText(`${kind} ${place}${metadata['name']}`, 160);
}

function kindProblem({ apiVersion, kind }: PlannedObject, owns: readonly ResourceType[]): string {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return 'or apiVersion is missing';
  const other = owns.find((owned) => groupKind({ group: groupOf(apiVersion), kind }) === groupKind(owned));
  return other === undefined
    ? `is not in the reconciler's owns (apiVersion ${cutText(apiVersion, 80)}); declare it there`
    : `is owned as ${apiVersionOf(other)}, not as ${cutText(apiVersion, 80)}; use one version`;
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

interface Fault {
  readonly field: string;
  readonly problem: string;
}

function metadataFault(type: ResourceType, metadata: Readonly<Record<string, unknown>>): Fault | undefined {
  const unknown = Object.keys(metadata).find((field) => !METADATA_FIELDS.includes(field));
  if (unknown !== undefined) return { field: unknown, problem: `cannot be planned; a Plan sets ${METADATA_FIELDS.join(', ')}` };
  const badName = nameProblem(type, metadata['name']);
  if (badName !== undefined) return { field: 'name', problem: badName };
  const { namespace, labels, annotations } = metadata;
  if (type.scope === 'Cluster' && namespace !== undefined) return { field: 'namespace', problem: 'is set on a cluster-scoped kind' };
  if (type.scope === 'Namespaced') {
    if (typeof namespace !== 'string' || namespace === '') return { field: 'namespace', problem: 'is missing' };
    if (!isDnsLabel(namespace)) return { field: 'namespace', problem: 'is not a DNS label' };
  }
  return textsFault('labels', labels) ?? labelsFault(labels) ?? textsFault('annotations', annotations) ?? annotationsFault(annotations);
}

function textsFault(field: string, texts: unknown): Fault | undefined {
  if (texts === undefined) return undefined;
  if (!isJsonObject(texts)) return { field, problem: 'is not an object' };
  for (const [key, value] of Object.entries(texts)) {
    if (key.startsWith(RESERVED_PREFIX)) return { field: `${field}[${cutText(key, 80)}]`, problem: `is reserved (${RESERVED_PREFIX})` };
    if (!isQualifiedName(key)) return { field: `${field}[${cutText(key, 80)}]`, problem: 'is not a valid key' };
    if (typeof value !== 'string') return { field: `${field}[${key}]`, problem: 'is not a string' };
  }
  return undefined;
}

function labelsFault(labels: unknown): Fault | undefined {
  const bad = Object.entries((labels ?? {}) as Record<string, string>).find(([, value]) => !isLabelValue(value));
  return bad === undefined ? undefined : { field: `labels[${bad[0]}]`, problem: 'is not a label value (at most 63 of A-Z a-z 0-9 - _ .)' };
}

function annotationsFault(annotations: unknown): Fault | undefined {
  const texts = Object.entries((annotations ?? {}) as Record<string, string>).flat();
  const size = texts.reduce((sum, text) => sum + byteSize(text), 0);
  return size > ANNOTATIONS_MAX_BYTES ? { field: 'annotations', problem: 'are over 250,000 bytes together' } : undefined;
}
