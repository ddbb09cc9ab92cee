/**
 * Server-side apply by one manager, reduced to what flow tests need: fields merge, a field that the manager applied before
 * and now leaves out goes, lists keyed by the API stay keyed, every other list is one value. No conflicts: we force.
 */

export type Json = Record<string, unknown>;

/** Lists whose entries are merged by a key, by field name, as the schemas of our kinds have them. */
const KEYED: Readonly<Record<string, string>> = { conditions: 'type', ownerReferences: 'uid' };
/** Lists that merge as sets. */
const SETS = new Set(['finalizers']);

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `current` after a manager that applied `previous` before applies `next`. Arguments stay untouched. */
export function mergeApplied(current: Json, previous: Json, next: Json): Json {
  const result: Json = { ...current };
  for (const field of new Set([...Object.keys(previous), ...Object.keys(next)])) {
    const value = mergeField(field, current[field], previous[field], next[field]);
    if (value === undefined) delete result[field];
    else result[field] = value;
  }
  return result;
}

function mergeField(field: string, current: unknown, previous: unknown, next: unknown): unknown {
  const key = KEYED[field];
  if (key !== undefined) {
    const merged = Object.values(mergeApplied(byKey(current, key), byKey(previous, key), byKey(next, key)));
    return merged.length === 0 ? undefined : merged;
  }
  if (SETS.has(field)) {
    const foreign = strings(current).filter((entry) => !strings(previous).includes(entry));
    const merged = [...new Set([...foreign, ...strings(next)])];
    return merged.length === 0 ? undefined : merged;
  }
  if (isJson(next)) return mergeApplied(isJson(current) ? current : {}, isJson(previous) ? previous : {}, next);
  if (next !== undefined) return next;
  if (!isJson(previous) || !isJson(current)) return undefined;
  const rest = mergeApplied(current, previous, {});
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** What a manager still owns of `owned` after somebody else turned `before` into `after`: a changed field is lost. */
export function stillOwned(owned: Json, before: Json, after: Json): Json {
  const result: Json = {};
  for (const [field, value] of Object.entries(owned)) {
    const key = KEYED[field];
    if (key !== undefined) {
      const rest = Object.values(stillOwned(byKey(value, key), byKey(before[field], key), byKey(after[field], key)));
      if (rest.length > 0) result[field] = rest;
    } else if (isJson(value) && isJson(before[field]) && isJson(after[field])) {
      result[field] = stillOwned(value, before[field], after[field]);
    } else if (JSON.stringify(before[field]) === JSON.stringify(after[field])) {
      result[field] = value;
    }
  }
  return result;
}

/** The fields of an applied body as `managedFields` names them (fieldsV1). */
export function fieldsV1(applied: Json): Json {
  const result: Json = {};
  for (const [field, value] of Object.entries(applied)) {
    const key = KEYED[field];
    if (key !== undefined && Array.isArray(value)) {
      const entries = value.filter(isJson).map((entry) => [`k:${JSON.stringify({ [key]: entry[key] })}`, { '.': {}, ...fieldsV1(entry) }]);
      result[`f:${field}`] = Object.fromEntries(entries);
    } else if (SETS.has(field)) {
      result[`f:${field}`] = Object.fromEntries(strings(value).map((entry) => [`v:${JSON.stringify(entry)}`, {}]));
    } else {
      result[`f:${field}`] = isJson(value) ? fieldsV1(value) : {};
    }
  }
  return result;
}

function byKey(list: unknown, key: string): Json {
  const entries = Array.isArray(list) ? list.filter(isJson) : [];
  return Object.fromEntries(entries.map((entry) => [String(entry[key]), entry]));
}

function strings(list: unknown): string[] {
  return Array.isArray(list) ? list.map(String) : [];
}
