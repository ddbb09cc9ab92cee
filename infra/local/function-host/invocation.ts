/** What comes back from a function. */

/** An error as the runtime reports it, or as the environment does in its place. */
export interface FunctionError {
  /** A class name, or `Runtime.…` and `Sandbox.…` where no handler could speak. */
  readonly errorType: string;
  readonly errorMessage: string;
}

/** @see failedIds of ../event-source/partial-batch.ts for what a queue makes of it */
export type InvocationResult = InvocationTiming & (InvocationOutcome | Throttled);

export type InvocationOutcome =
  | { readonly kind: 'answer'; readonly payload: unknown }
  | { readonly kind: 'error'; readonly error: FunctionError };

/** None of the function's code ran: as many invocations as it may have at once were running. */
interface Throttled {
  readonly kind: 'throttled';
  readonly reservedConcurrency: number;
}

interface InvocationTiming {
  readonly requestId: string;
  /** This invocation had to wait for a new process. */
  readonly coldStart: boolean;
  /** From the start of the process until it asked for work; cold starts only. */
  readonly initMs: number | undefined;
  /** From delivery to the answer; 0 if it was never delivered. */
  readonly durationMs: number;
}

/** The answer that the runtime posted. Not JSON is an error of the runtime; nothing at all is null. */
export function parseAnswer(text: string): InvocationOutcome {
  try {
    return { kind: 'answer', payload: text === '' ? null : JSON.parse(text) };
  } catch {
    return { kind: 'error', error: { errorType: 'Runtime.MalformedResponse', errorMessage: 'the answer of the function is not JSON' } };
  }
}

/** The error that the runtime posted; whatever it posted, this is one. */
export function parseError(text: string): FunctionError {
  try {
    const { errorType, errorMessage } = JSON.parse(text) as Partial<Record<keyof FunctionError, unknown>>;
    return { errorType: String(errorType ?? 'Error'), errorMessage: String(errorMessage ?? '') };
  } catch {
    return { errorType: 'Error', errorMessage: 'the runtime posted an error that is not JSON' };
  }
}
