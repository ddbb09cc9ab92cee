/** metadata.managedFields as the server keeps it: who owns which fields, by which way of writing. */
import { isJsonObject, type ManagedFieldsEntry } from './api-object.ts';
import { FieldSet } from './field-set.ts';
import { compareText } from './path-element.ts';

/** What one manager owns. Its identity is the way it writes: manager, operation, subresource and, for updates, the version. */
export interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string;
  readonly apiVersion: string;
  readonly fields: FieldSet;
  /** Absent where a manager became an owner by a write that changed nothing. */
  readonly time?: string;
}

/** Owners by their keys. */
export type Owners = ReadonlyMap<string, Owner>;

/** The owner's key. Its order is the one in which conflicts are told. */
export function ownerKey({ manager, operation, subresource, apiVersion }: Omit<Owner, 'fields' | 'time'>): string {
  return JSON.stringify({
    manager,
    operation,
    ...(operation === 'Update' ? { apiVersion } : {}),
    ...(subresource === '' ? {} : { subresource }),
  });
}

/** The owners that the entries tell of, or undefined if one of them cannot be read. */
export function decodeOwners(entries: unknown): Owners | undefined {
  if (!Array.isArray(entries)) return new Map();
  const owners = new Map<string, Owner>();
  for (const entry of entries) {
    if (!isEntry(entry)) return undefined;
    const { manager, operation, apiVersion, subresource = '', time, fieldsV1 } = entry;
    const owner = {
      manager,
      operation,
      apiVersion,
      subresource,
      fields: FieldSet.decode(fieldsV1),
      ...(time === undefined ? {} : { time }),
    };
    owners.set(ownerKey(owner), owner);
  }
  return owners;
}

function isEntry(entry: unknown): entry is ManagedFieldsEntry {
  if (!isJsonObject(entry)) return false;
  const { operation, apiVersion, fieldsType, fieldsV1 } = entry;
  return (
    (operation === 'Apply' || operation === 'Update') &&
    typeof apiVersion === 'string' &&
    apiVersion !== '' &&
    fieldsType === 'FieldsV1' &&
    isJsonObject(fieldsV1)
  );
}

/** The entries in the server's order: Apply before Update, then by time, manager, version and subresource. */
export function encodeOwners(owners: Owners): ManagedFieldsEntry[] {
  const entries = [...owners.values()].map(
    ({ manager, operation, apiVersion, fields, subresource, time }): ManagedFieldsEntry => ({
      apiVersion,
      fieldsType: 'FieldsV1',
      fieldsV1: fields.encode(),
      manager,
      operation,
      ...(subresource === '' ? {} : { subresource }),
      ...(time === undefined ? {} : { time }),
    }),
  );
  return entries.sort(
    (a, b) =>
      compareText(a.operation, b.operation) ||
      compareText(a.time ?? '', b.time ?? '') ||
      compareText(a.manager, b.manager) ||
      compareText(a.apiVersion, b.apiVersion) ||
      compareText(a.subresource ?? '', b.subresource ?? ''),
  );
}

/** More Update entries than this are merged, the oldest first (apimachinery 0.36, DefaultMaxUpdateManagers). */
const UPDATE_OWNERS_MAX = 10;

/** The owners with the oldest updates merged into `ancient-changes` of their version, so that at most ten updates are left. */
export function capUpdates(owners: Owners): Owners {
  const updates = [...owners].filter(([, owner]) => owner.operation === 'Update');
  if (updates.length <= UPDATE_OWNERS_MAX) return owners;
  updates.sort(([a, one], [b, other]) => compareText(one.time ?? '', other.time ?? '') || compareText(a, b));
  const result = new Map(owners);
  const buckets = new Map<string, Owner>();
  let count = updates.length;
  for (const [key, owner] of updates) {
    if (count <= UPDATE_OWNERS_MAX) break;
    result.delete(key);
    const bucket = buckets.get(owner.apiVersion);
    if (bucket !== undefined) count -= 1;
    const { time } = owner;
    const fields = bucket === undefined ? owner.fields : bucket.fields.union(owner.fields);
    buckets.set(owner.apiVersion, {
      ...owner,
      manager: 'ancient-changes',
      subresource: '',
      fields,
      ...(time === undefined ? {} : { time }),
    });
  }
  for (const bucket of buckets.values()) result.set(ownerKey(bucket), bucket);
  return result;
}
