/** A story told again and again, with a death of the function before and after each of its effects: whatever it is, it has to end as it should. */
import { type Bench, startBench } from './bench.ts';
import { BenchError } from './bench-error.ts';
import type { BenchOptions } from './bench-options.ts';

/** What happens, and what has to be so in the end. It must do the same each time. */
export type CrashStory = (bench: Bench) => Promise<void>;

export interface CrashOptions extends BenchOptions {
  /** Effects whose texts it does not fit are passed over; left out: none is. */
  readonly only?: RegExp;
}

export interface CrashReport {
  /** The effects of the story, in order, those that were passed over too. */
  readonly effects: readonly string[];
}

/** Stories that failed which are told of. */
const TOLD_MAX = 5;

/**
 * Tells the story once, and then, on a bench of its own each time, with a death of the function before and after every effect that it had.
 *
 * @throws BenchError `no-convergence`, naming the effects at which the story did not end well, with the first failure as its cause;
 *   `no-effects` where there is none to die at; whatever the story throws without any death
 */
export async function forEachCrash({ only, ...options }: CrashOptions, story: CrashStory): Promise<CrashReport> {
  const effects = await tell(options, story);
  const chosen = [...effects.entries()].filter(([, text]) => only === undefined || text.search(only) >= 0);
  if (chosen.length === 0) {
    const why = only === undefined ? 'the story has no effect' : `none of the effects of the story fits ${only}: ${effects.join('; ')}`;
    throw new BenchError('no-effects', `${why}, so there is nothing to die at`);
  }
  const failures: { readonly where: string; readonly error: unknown }[] = [];
  for (const [at, text] of chosen) {
    for (const side of ['before', 'after'] as const) {
      const where = `${side} effect ${at + 1}, ${text}`;
      try {
        await tell(options, story, { side, index: at + 1 });
      } catch (error) {
        failures.push({ where, error });
      }
    }
  }
  const [first] = failures;
  if (first === undefined) return { effects };
  const told = failures.slice(0, TOLD_MAX).map(({ where, error }) => `${where}: ${messageOf(error)}`);
  const more = failures.length > TOLD_MAX ? [`and ${failures.length - TOLD_MAX} more`] : [];
  const head = `${failures.length} of ${2 * chosen.length} deaths of the function are not made up for`;
  throw new BenchError('no-convergence', [`${head}:`, ...told, ...more].join('\n  '), { cause: first.error });
}

/** The effects that it had. */
async function tell(
  options: BenchOptions,
  story: CrashStory,
  death?: { readonly side: 'before' | 'after'; readonly index: number },
): Promise<string[]> {
  await using bench = await startBench(options);
  if (death !== undefined) bench.crashSomeTime(death.side === 'before' ? { before: death.index } : { after: death.index });
  await story(bench);
  const effects = [...bench.effectTexts];
  if (death === undefined || effects.length >= death.index) return effects;
  throw new BenchError('no-such-effect', 'the effect did not come: the story does not do the same each time');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.trimEnd() : String(error);
}
