/** Why an apply ends before all is done: because too many are bad, on a signal, or since something failed. */
import { DogwatchError } from '../../core/errors.ts';
import type { ApplyEnd, ApplySummary } from './contract.ts';

type Early = Exclude<ApplyEnd, 'done'>;

/** The later ends, too, what goes on after the earlier: verdicts are waited for after bad ones only. */
const ORDER: readonly Early[] = ['too-many-bad', 'signal', 'failed'];

export class Ending {
  readonly #onEnd: (end: Early) => void;
  #end: Early | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** @param onEnd called each time that it ends for more */
  constructor(onEnd: (end: Early) => void) {
    this.#onEnd = onEnd;
  }

  /** Undefined while all goes on. */
  get end(): Early | undefined {
    return this.#end;
  }

  /** True where nothing is waited for any more, verdicts least of all. */
  get isAtOnce(): boolean {
    return this.#end !== undefined && this.#end !== 'too-many-bad';
  }

  stopFor(end: Early): void {
    if (this.#end !== undefined && ORDER.indexOf(end) <= ORDER.indexOf(this.#end)) return;
    this.#end = end;
    this.#onEnd(end);
  }

  /** The first failure is the one that is told. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.stopFor('failed');
  }

  /** Resolves when `work` is over; what it throws ends the apply. */
  async guard(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.fail(error);
    }
  }

  /** @throws what is nobody's failure but a fault of ours */
  throwIfUnclassified(): void {
    if (this.#failure !== undefined && !(this.#failure.error instanceof DogwatchError)) throw this.#failure.error;
  }

  get account(): Pick<ApplySummary, 'end' | 'failure'> {
    if (this.#failure === undefined) return { end: this.#end ?? 'done' };
    const { error } = this.#failure;
    const code = error instanceof DogwatchError ? error.code : 'unclassified';
    return { end: 'failed', failure: { code, says: error instanceof Error ? error.message : String(error) } };
  }
}
