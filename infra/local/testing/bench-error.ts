/** What the bench has to say to whoever writes the test: always something to mend there. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
  /** Stable, to be told apart by programs. */
  readonly code: string;

  constructor(code: string, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}
