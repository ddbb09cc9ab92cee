/** Who has written what of an object since its letter, by the API server's own account: the last write of each writer, without any value. */
import { FIELD_MANAGER, FINALIZER_MANAGER } from '../../events/labels.ts';
import { isJsonObject } from '../core/plain-json.ts';
import type { KubernetesObject } from '../core/reconciler.ts';

export interface Change {
  readonly manager: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** `spec.quota`, two levels deep at most. */
  readonly fields: readonly string[];
}

/** Fields that are told of one writer. */
const FIELDS_MAX = 10;

/** The writes of others after `sinceMs`, in their order. */
export function changesSince({ metadata }: KubernetesObject, sinceMs: number): Change[] {
  const changes: Change[] = [];
  for (const { manager = 'unknown', time, fieldsV1 } of metadata.managedFields ?? []) {
    if (time === undefined || !(Date.parse(time) > sinceMs) || manager === FIELD_MANAGER || manager === FINALIZER_MANAGER) continue;
    changes.push({ manager, at: time, fields: fieldNames(fieldsV1).slice(0, FIELDS_MAX) });
  }
  return changes.sort((a, b) => (a.at < b.at ? -1 : 1));
}

function fieldNames(fields: unknown): string[] {
  const names = (value: unknown): string[] =>
    isJsonObject(value) ? Object.keys(value).flatMap((key) => (key.startsWith('f:') ? [key.slice(2)] : [])) : [];
  return names(fields).flatMap((name) => {
    const inner = names(isJsonObject(fields) ? fields[`f:${name}`] : undefined);
    return inner.length === 0 ? [name] : inner.map((part) => `${name}.${part}`);
  });
}
