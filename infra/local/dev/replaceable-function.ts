/** A function whose code can be replaced while messages come: what an event source invokes. */
import type { EventFunction } from '../event-source/event-source.ts';
import type { InvokeOptions } from '../function-host/environment.ts';

/** What runs one version of the code; a Pool is one. */
export interface RunningCode extends EventFunction {
  /** Ends its processes; an invocation that still runs gets an error. */
  stop(): Promise<void>;
}

interface Version {
  readonly code: RunningCode;
  running: number;
  /** Set once it is replaced: called when its last invocation has ended. */
  whenIdle?: () => void;
}

export class ReplaceableFunction implements EventFunction {
  readonly timeoutMs: number;
  #current: Version | undefined;
  /** The current one, and those before that still run. */
  readonly #versions = new Set<Version>();

  /** @param timeoutMs  of every version */
  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  /** Runs the code of now, to its end, whatever comes meanwhile. @throws Error before there is any */
  async invoke(event: Parameters<EventFunction['invoke']>[0], options?: InvokeOptions): ReturnType<EventFunction['invoke']> {
    const version = this.#current;
    if (version === undefined) throw new Error('the function has no code yet');
    version.running += 1;
    try {
      return await version.code.invoke(event, options);
    } finally {
      version.running -= 1;
      if (version.running === 0) version.whenIdle?.();
    }
  }

  /** From now on invocations go to `code`. Resolves when those of the code before have ended, and it is stopped. */
  async replace(code: RunningCode): Promise<void> {
    const before = this.#current;
    this.#current = { code, running: 0 };
    this.#versions.add(this.#current);
    if (before === undefined) return;
    if (before.running > 0) await new Promise<void>((resolve) => Object.assign(before, { whenIdle: resolve }));
    await before.code.stop();
    this.#versions.delete(before);
  }

  /** Stops every version of the code; invocations that still run get an error. */
  async stop(): Promise<void> {
    await Promise.all([...this.#versions].map(({ code }) => code.stop()));
  }
}
