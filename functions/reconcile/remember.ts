/** Things that are made once and then kept, unless making them failed. */

/**
 * A function that makes the value at its first call and answers every later one with the same. A failure is not kept: the
 * next call tries again. Calls at the same time share one attempt.
 */
export function rememberSuccess<Value>(make: () => Value | Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= (async () => make())().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
