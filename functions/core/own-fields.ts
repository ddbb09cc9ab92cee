/** What of a child is ours, small enough to remember for every child: a digest of our entry in its managedFields. */
import { createHash } from 'node:crypto';
import { FIELD_MANAGER } from '../../events/labels.ts';
import type { OwnFields } from '../../events/observed-object.ts';
import { canonicalJson, isJsonObject } from './plain-json.ts';

/** Bytes of the hash that are kept: what a number holds exactly. One change in 2^48 would go unseen. */
const DIGEST_BYTES = 6;

/**
 * The fields that we own by apply on the main resource; undefined where managedFields (as the server sends them) do not name us,
 * so that nothing of the object is ours. Equal sets of fields have equal digests, whatever their values.
 */
export function ownFieldsOf(managedFields: unknown): OwnFields | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  const own = managedFields.filter(isOurs).map(({ fieldsV1 }) => fieldsV1 ?? {});
  if (own.length === 0) return undefined;
  const hash = createHash('sha256').update(canonicalJson(own)).digest();
  return { digest: hash.readUIntBE(0, DIGEST_BYTES), count: own.reduce<number>((sum, fields) => sum + countOf(fields), 0) };
}

function isOurs(entry: unknown): entry is { readonly fieldsV1?: unknown } {
  if (!isJsonObject(entry)) return false;
  return entry['manager'] === FIELD_MANAGER && entry['operation'] === 'Apply' && !entry['subresource'];
}

/** Every key of the tree: whoever takes fields from a set leaves fewer of them. */
function countOf(fields: unknown): number {
  if (!isJsonObject(fields)) return 0;
  return Object.values(fields).reduce<number>((sum, inner) => sum + 1 + countOf(inner), 0);
}
