/** Waiting that ends with a signal, also where what is waited for ignores it. */

/**
 * What `work` comes to, or the signal's reason as a rejection if that comes first. The work itself is not stopped; what it
 * comes to afterwards is dropped.
 */
export function untilAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
