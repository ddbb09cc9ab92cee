/**
 * Whose turn it is to be run for no reason but time. Every object has a second of its own in each cycle, found from its uid, so
 * that the load is even, needs no timer an object and is the same after a restart.
 */

/** A number from 0 to 2^30 - 1, the same for the same uid: FNV-1a, cut to what V8 keeps without an allocation. */
export function hashOf(uid: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < uid.length; at += 1) hash = Math.imul(hash ^ uid.charCodeAt(at), 0x01000193);
  // The low bits of FNV-1a are its best; a cycle is found by a remainder, which is made of them.
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}

/** Seconds since 1970: those after `from`, up to and with `to`. */
export interface TimeSpan {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** True where the object's turn is within the span: once in a span as long as a cycle, and never twice for spans that adjoin. */
export function isResyncDue(hash: number, { fromSeconds, toSeconds }: TimeSpan, cycleSeconds: number): boolean {
  const passedSeconds = (((toSeconds - hash) % cycleSeconds) + cycleSeconds) % cycleSeconds;
  return passedSeconds < toSeconds - fromSeconds;
}
