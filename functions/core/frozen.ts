/** Values that nobody may change: what a reconciler is handed, so that a stray assignment throws instead of lying later. */

/**
 * The same value, with every plain object and array inside it frozen. Assigning to any of them throws (modules are strict code).
 * Other values (a Date that a schema made) are left alone. Idempotent.
 */
export function deepFreeze<T>(value: T): T {
  freeze(value, new Set());
  return value;
}

function freeze(value: unknown, seen: Set<unknown>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return;
  seen.add(value);
  for (const part of Object.values(value)) freeze(part, seen);
  Object.freeze(value);
}
