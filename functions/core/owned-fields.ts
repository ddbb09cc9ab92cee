/**
 * What of an object is ours, by the API server's own account: `metadata.managedFields`.
 *
 * An apply must repeat everything it owns (what it leaves out is removed) and must say nothing it does not own (what it says,
 * it takes). So before repeating our part of a status, or asking whether our part changed, we need to know which part that is; for
 * conditions, one list that several managers fill, names alone cannot tell.
 *
 * Notation: `f:name` is a field, `k:{"type":"Ready"}` an item of a list map, `v:"x"` a value of a set, `i:0` an item by
 * index, `.` the container itself. An empty object owns the whole value.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
import { FIELD_MANAGER } from '../../events/labels.ts';
import type { ManagedFields, ObjectMetadata } from '../../events/observed-object.ts';
import { canonicalJson, isJsonObject } from './plain-json.ts';
import type { KubernetesObject } from './reconciler.ts';

type FieldSet = Readonly<Record<string, unknown>>;

/** Fields of `.status` that we own by apply, in the API server's notation; undefined where managedFields name us nowhere. */
function ownStatusFields(metadata: ObjectMetadata): FieldSet | undefined {
  const fields = statusFields(metadata, (entry) => entry.manager === FIELD_MANAGER && entry.operation === 'Apply');
  return fields.length === 0 ? undefined : Object.assign({}, ...fields);
}

function statusFields(metadata: ObjectMetadata, isWanted: (entry: ManagedFields) => boolean): readonly FieldSet[] {
  return (metadata.managedFields ?? [])
    .filter((entry) => entry.subresource === 'status' && isWanted(entry))
    .map((entry) => entry.fieldsV1?.['f:status'])
    .filter(isJsonObject);
}

/**
 * The part of `.status` that we own, in the order it stands there. Undefined where managedFields name us nowhere: we never
 * wrote, or somebody wiped them.
 */
export function ownedStatus(object: KubernetesObject): Readonly<Record<string, unknown>> | undefined {
  const fields = ownStatusFields(object.metadata);
  if (fields === undefined) return undefined;
  const status = object['status'];
  return isJsonObject(status) ? (project(status, fields) as Readonly<Record<string, unknown>>) : {};
}

/** The owned part of a value. */
function project(value: unknown, fields: FieldSet): unknown {
  const keys = Object.keys(fields);
  if (keys.length === 0) return value;
  if (Array.isArray(value)) return projectList(value, fields, keys);
  if (!isJsonObject(value)) return value;
  const names = keys.filter((key) => key.startsWith('f:')).map((key) => key.slice(2));
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(value, name)).map((name) => [name, project(value[name], subset(fields, `f:${name}`))]),
  );
}

function projectList(values: readonly unknown[], fields: FieldSet, keys: readonly string[]): unknown[] {
  const owned: unknown[] = [];
  for (const [at, item] of values.entries()) {
    const key = keys.find((candidate) => isItem(candidate, item, at));
    if (key === undefined) continue;
    const part = project(item, subset(fields, key));
    // An item of a list map is nothing without its keys, whoever owns them.
    const itemKeys = key.startsWith('k:') ? parse(key.slice(2)) : undefined;
    owned.push(isJsonObject(itemKeys) && isJsonObject(part) ? { ...itemKeys, ...part } : part);
  }
  return owned;
}

function isItem(key: string, item: unknown, at: number): boolean {
  const text = key.slice(2);
  if (key.startsWith('i:')) return Number(text) === at;
  if (key.startsWith('v:')) return canonicalJson(parse(text)) === canonicalJson(item);
  const wanted = key.startsWith('k:') ? parse(text) : undefined;
  if (!isJsonObject(wanted) || !isJsonObject(item)) return false;
  return Object.entries(wanted).every(([name, value]) => canonicalJson(item[name]) === canonicalJson(value));
}

/** A key that does not parse matches nothing: such a field counts as somebody else's. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function subset(fields: FieldSet, key: string): FieldSet {
  const part = fields[key];
  return isJsonObject(part) ? part : {};
}

/**
 * True if the CRD in the cluster keeps `status.conditions` as one value instead of a map keyed by type: an apply of our conditions
 * would then erase those of other managers. Seen from managedFields, where such a list has one owner and no items; a kind
 * whose conditions nobody wrote yet cannot be told, and has none to lose. An Update that wrote an empty list owns it whole even in a map,
 * so items that anybody owns are the better proof.
 */
export function hasAtomicConditions(object: KubernetesObject): boolean {
  const status = object['status'];
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  if (!Array.isArray(conditions) || conditions.length === 0) return false;
  const owned = statusFields(object.metadata, () => true)
    .map((fields) => fields['f:conditions'])
    .filter(isJsonObject)
    .map((fields) => Object.keys(fields));
  return owned.some((keys) => keys.length === 0) && !owned.flat().some((key) => key.startsWith('k:'));
}
