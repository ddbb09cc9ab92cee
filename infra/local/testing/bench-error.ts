/** Why the bench cannot do what a test asks of it. */
export type BenchErrorCode =
  /* What `startBench` is told does not hold together. */
  | 'no-cluster'
  | 'cluster-twice'
  | 'no-reconciler'
  | 'kind-not-served'
  /* A name that nothing has. */
  | 'unknown-cluster'
  | 'unknown-kind'
  | 'bad-name'
  /* A manifest that is none, and what a cluster refuses. */
  | 'bad-manifest'
  | 'refused'
  | 'cannot-reconcile'
  /* There is no end to wait for: an object or a watch that is not at rest; a call that nothing comes of; two waits at once; a time that never comes; a bench that is closed. */
  | 'busy'
  | 'silent'
  | 'settling'
  | 'bad-number'
  | 'closed'
  /* Crashes, and what is outside of the cluster. */
  | 'bad-crash-point'
  | 'crash-unused'
  | 'no-run'
  | 'bad-address'
  /* What `forEachCrash` has found. */
  | 'no-effects'
  | 'no-such-effect'
  | 'no-convergence'
  /* A fault of Dogwatch; all others are something to mend in the test, or in the reconciler. */
  | 'watcher-fault';

/** What the bench has to say to whoever writes the test. The message says what is wrong, and what to do about it. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
  /** Stable, to be told apart by programs. */
  readonly code: BenchErrorCode;

  constructor(code: BenchErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}
