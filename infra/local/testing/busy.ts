/** What keeps a bench busy, in words: no test shall end with "timed out". */
import type { CellStatus } from '../../../functions/watcher/cell-status.ts';
import { describePlace, type RunOutcome } from './records.ts';
import type { WaitingMessage } from './test-queues.ts';

/** How often each object was run, and why. */
export class RunCounts {
  readonly #byObject = new Map<string, Map<string, number>>();
  #generation = 0;
  #generationEnd = -1;

  /**
   * How many objects have come into being one after another, each after a run of the one before, up to that of this message: counted
   * by its first run. Those that were there together are one generation.
   *
   * @param sentCount  messages that were sent up to now
   */
  generationOf({ number, lane, data }: WaitingMessage, sentCount: number): number {
    const isBorn = lane === 'live' && data?.reason === 'created';
    if (!isBorn || number <= this.#generationEnd) return this.#generation;
    this.#generationEnd = sentCount;
    this.#generation += 1;
    return this.#generation;
  }

  /** Counts a run for the message; how often its object has run by then. */
  count(message: WaitingMessage): number {
    const reasons = this.#byObject.get(nameOf(message)) ?? new Map<string, number>();
    this.#byObject.set(nameOf(message), reasons);
    const reason = message.data?.reason ?? 'no envelope';
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    return [...reasons.values()].reduce((sum, count) => sum + count, 0);
  }

  /** `created 1, retry 9`. */
  reasonsOf(message: WaitingMessage): string {
    return [...(this.#byObject.get(nameOf(message)) ?? [])].map(([reason, count]) => `${reason} ${count}`).join(', ');
  }
}

export interface BusyFacts {
  readonly what: string;
  readonly runs: RunCounts;
  /** The one that broke the bound. */
  readonly message: WaitingMessage | undefined;
  readonly waiting: readonly WaitingMessage[];
  readonly outcomes: readonly RunOutcome[];
  readonly recovering: readonly CellStatus[];
}

/** Objects and cells that are told of; the rest is counted. */
const TOLD_MAX = 5;

/** One sentence for the bench, then a line for each object and each watch that is not at rest. */
export function busyText({ what, runs, message, waiting, outcomes, recovering }: BusyFacts): string {
  const first = message === undefined ? `the bench ${what}` : `${nameOf(message)} ${what}`;
  const messages = new Map([...(message === undefined ? [] : [message]), ...waiting].map((each) => [nameOf(each), each]));
  const lines = [
    ...[...messages.values()].map((each) => {
      const reasons = runs.reasonsOf(each);
      return `${nameOf(each)}: ${reasons === '' ? 'no run yet' : `runs by reason: ${reasons}`}${lastOf(each, outcomes)}`;
    }),
    ...recovering.map(({ cluster, kind, role, phase, error }) => {
      const why = error === undefined ? '' : ` (${error.code}: ${error.message})`;
      return `the watch of ${kind} in ${cluster}, ${role === 'child' ? 'for children' : 'of its reconciler'}, is ${phase}${why}`;
    }),
  ];
  const more = lines.length > TOLD_MAX ? [`and ${lines.length - TOLD_MAX} more`] : [];
  return [first, ...lines.slice(0, TOLD_MAX), ...more].join('\n  ');
}

function lastOf({ data }: WaitingMessage, outcomes: readonly RunOutcome[]): string {
  if (data === undefined) return '';
  const last = outcomes.findLast(
    ({ cluster, kind, namespace, name }) =>
      cluster === data.cluster && kind === data.kind && namespace === data.namespace && name === data.name,
  );
  if (last === undefined) return '';
  const why = last.code === undefined ? '' : ` (${last.code}: ${last.error})`;
  return `; the last one: ${last.branch}, attempt ${last.attempt}${why}`;
}

function nameOf({ data, id }: WaitingMessage): string {
  return data === undefined ? id : `${describePlace(data)} in ${data.cluster}`;
}
