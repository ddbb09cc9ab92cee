/** SIGINT and SIGTERM of a program that finishes its work before it ends. */

/** npm hands a Ctrl-C on to a program that has had it from the terminal: two within this time are one. */
const SAME_PRESS_MS = 1_000;

export interface StopSignals {
  readonly stop: AbortController;
  /** Gives the signals back. */
  dispose(): void;
}

/** The first signal aborts `stop`; another one, a second or more after it, ends the process at once with 1. */
export function stopOnSignals(onFirst: () => void): StopSignals {
  const stop = new AbortController();
  let firstAtMs: number | undefined;
  const onSignal = (): void => {
    if (firstAtMs === undefined) {
      firstAtMs = performance.now();
      stop.abort();
      onFirst();
    } else if (performance.now() - firstAtMs >= SAME_PRESS_MS) {
      process.exit(1);
    }
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    stop,
    dispose() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
