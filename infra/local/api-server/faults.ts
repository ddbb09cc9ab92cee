/** Faults on demand: what tests and `dev` do to a running server. */

/** A request, as far as a fault may choose by it. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly isWatch: boolean;
  /** Who the client says that it is. */
  readonly userAgent: string;
}

interface Chosen {
  /** How many requests it hits; all until it is lifted, if left out. */
  readonly times?: number;
  /** Which requests it hits; all, if left out. */
  readonly where?: (request: SeenRequest) => boolean;
}

export type RequestFault = Chosen &
  (
    | /** 429 as fairness answers (plain text), with Retry-After where it is given. */ {
        readonly kind: 'throttle';
        readonly retryAfterSeconds?: number;
      }
    | /** 429 in JSON, as from a watch cache that is not filled yet. */ { readonly kind: 'initializing' }
    | { readonly kind: 'error'; readonly code: number; readonly message?: string }
    | /** The connection breaks without an answer. */ { readonly kind: 'reset' }
    | /** The request is done, then the connection breaks: the answer is lost. */ { readonly kind: 'lose-answer' }
    | { readonly kind: 'delay'; readonly ms: number }
  );

interface Armed {
  readonly fault: RequestFault;
  left: number;
}

/** The faults that are armed; the first that fits a request hits it. */
export class RequestFaults {
  readonly #armed = new Set<Armed>();

  /** Arms a fault; the returned function lifts it. */
  add(fault: RequestFault): () => void {
    const armed = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
    this.#armed.add(armed);
    return () => this.#armed.delete(armed);
  }

  take(request: SeenRequest): RequestFault | undefined {
    for (const armed of this.#armed) {
      if (armed.fault.where?.(request) === false) continue;
      armed.left -= 1;
      if (armed.left <= 0) this.#armed.delete(armed);
      return armed.fault;
    }
    return undefined;
  }

  clear(): void {
    this.#armed.clear();
  }
}
