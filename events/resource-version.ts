/**
 * The order of resourceVersions. Since Kubernetes 1.35 a resourceVersion is a decimal number of any length, and two of one
 * kind in one cluster may be compared; anything else is an opaque string that only equals itself.
 *
 * @see KEP-5504, comparable resource versions
 */

/** No sign, no leading zero: "0" means "any" to the API server, and is no position. No upper bound: a double ends at 2^53. */
const POSITION = /^[1-9][0-9]*$/;

/** True for a text that is a place in the history of a kind: digits, neither "0" nor with a leading zero. */
export function isPosition(text: string): boolean {
  return POSITION.test(text);
}

/**
 * -1 where `a` is older than `b`, 0 where they are the same, 1 where `a` is newer; undefined where at least one is no
 * position, so that only equality of the texts means anything. Has a meaning only within one kind of one cluster, and not
 * across a restore of etcd, which makes lower versions the truth.
 */
export function compareResourceVersions(a: string, b: string): -1 | 0 | 1 | undefined {
  if (!isPosition(a) || !isPosition(b)) return undefined;
  if (a === b) return 0;
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  return a < b ? -1 : 1;
}

/**
 * The newer of two. A position wins over a text that is none and over nothing; where neither is a position, `b` (what was
 * seen later) wins.
 */
export function newestResourceVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const order = compareResourceVersions(a, b);
  if (order !== undefined) return order === 1 ? a : b;
  return isPosition(a) ? a : b;
}
