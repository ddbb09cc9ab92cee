/** Follows the objects that were sent until each has a verdict: by reading them, and by the letters that come back. */
import type { Clock } from '../../adapters/clock.ts';
import type { KubernetesObject, Reconciler } from '../../core/reconciler.ts';
import type { LetterRecord, Target } from '../letter-record.ts';
import { kindFactsOf, reconcilerFor } from '../read-objects.ts';
import type { Reading } from '../verdict.ts';
import type { Replay } from './audit-line.ts';
import type { Intent } from './audit-text.ts';
import type { Place, SendVerdict } from './contract.ts';
import { placeKey } from './items.ts';
import { judgeSend, type Sight, sightOf } from './judge.ts';

/** An object that a message was accepted for. */
export interface Sent {
  readonly envelope: string;
  readonly object: Place;
  readonly target: Target;
  readonly uid: string | undefined;
  readonly replay: Replay;
  readonly before: Sight;
  readonly isDescribed: boolean;
  /** By an apply before this one. */
  readonly isEarlier: boolean;
}

/** What an earlier apply sent. */
export function sentBefore({ envelope, object, uid, replay, before }: Intent, reconcilers: readonly Reconciler[]): Sent {
  const target = { ...object, namespace: object.namespace };
  const { isDescribed } = kindFactsOf(reconcilerFor(target, reconcilers));
  return { envelope, object, target, uid, replay, before, isDescribed, isEarlier: true };
}

/** An object as it was read; `no-answer`: its cluster did not, `failed`: it cannot be read. */
export type Look =
  | { readonly kind: 'read'; readonly reading: Exclude<Reading, { kind: 'untold' }>; readonly object: KubernetesObject | undefined }
  | { readonly kind: 'no-answer' | 'failed'; readonly code: string };

export interface FollowerOptions {
  readonly clock: Clock;
  readonly timeoutSeconds: number;
  /** Nothing is read any more. */
  readonly ended: AbortSignal;
  readonly look: (target: Target) => Promise<Look>;
  /** Called once for each that has one; what is under way at the end has none. */
  readonly onVerdict: (sent: Sent, verdict: SendVerdict, reason: string) => void;
  /** What is no error of a cluster. */
  readonly onFailure: (error: unknown) => void;
}

const FIRST_POLL_MS = 1_000;
const LAST_POLL_MS = 10_000;

export class Follower {
  readonly #options: FollowerOptions;
  /** All sends by object, also those with a verdict: a letter that comes back after it is known as one. */
  readonly #byObject = new Map<string, Sent[]>();
  readonly #open = new Set<Sent>();
  readonly #work = new Set<Promise<void>>();

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  get openCount(): number {
    return this.#open.size;
  }

  get open(): Iterable<Sent> {
    return this.#open;
  }

  follow(sent: Sent): void {
    this.#open.add(sent);
    const key = placeKey(sent.target);
    this.#byObject.set(key, [...(this.#byObject.get(key) ?? []), sent]);
    const work = this.#follow(sent).catch((error: unknown) => {
      if (!this.#options.ended.aborted) this.#options.onFailure(error);
    });
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  /** Resolves when nothing is read any more; to be called after the end. */
  async over(): Promise<void> {
    await Promise.all(this.#work);
  }

  /** Whether a letter that is not of the plan is of an object which was sent: then that one has failed again. */
  cameBack(record: LetterRecord, replay: Pick<Replay, 'of' | 'at'> | undefined): boolean {
    if (record.target === undefined) return false;
    const sends = this.#byObject.get(placeKey(record.target)) ?? [];
    const theirs = sends.filter((sent) => isOf(sent, record, replay));
    for (const sent of theirs) this.#conclude(sent, 'bad', 'letter-back');
    return theirs.length > 0;
  }

  /** A cluster is given up: what was sent to it is not judged. */
  giveUp(cluster: string, code: string): void {
    for (const sent of [...this.#open]) if (sent.object.cluster === cluster) this.#conclude(sent, 'unjudged', code);
  }

  #conclude(sent: Sent, verdict: SendVerdict, reason: string): void {
    if (this.#open.delete(sent)) this.#options.onVerdict(sent, verdict, reason);
  }

  async #follow(sent: Sent): Promise<void> {
    const { clock, ended, timeoutSeconds, look } = this.#options;
    const { uid, isDescribed } = sent;
    // Of an earlier apply the wall clock is all there is.
    const ageMs = sent.isEarlier ? Math.max(0, clock.now().getTime() - Date.parse(sent.replay.at)) : 0;
    const sentMs = clock.steadyMs() - ageMs;
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(LAST_POLL_MS, pollMs * 1.5)) {
      const leftMs = Math.max(0, sentMs + timeoutSeconds * 1000 - clock.steadyMs());
      await clock.sleep(Math.min(pollMs, leftMs), ended);
      if (ended.aborted || !this.#open.has(sent)) return;
      // Of when it is asked, so that an answer is not older than the age that it is judged by.
      const ageSeconds = (clock.steadyMs() - sentMs) / 1000;
      const found = await look(sent.target);
      if (ended.aborted || !this.#open.has(sent)) return;
      const isOver = ageSeconds >= timeoutSeconds;
      if (found.kind !== 'read') {
        if (isOver) return this.#conclude(sent, 'unjudged', found.code);
        continue;
      }
      const facts = { uid, isDescribed, ageSeconds, timeoutSeconds };
      const judgement = judgeSend(sent.before, sightOf(found.reading, found.object), facts);
      if (judgement !== undefined) return this.#conclude(sent, judgement.verdict, judgement.reason);
    }
  }
}

/** Its own message as a letter, or one that was written of the object since. */
function isOf({ replay: ours, uid }: Sent, record: LetterRecord, replay: Pick<Replay, 'of' | 'at'> | undefined): boolean {
  if (replay !== undefined && replay.of === ours.of && replay.at === ours.at) return true;
  const isSame = record.uid === undefined || uid === undefined || record.uid === uid;
  return isSame && record.deadLetteredMs !== undefined && record.deadLetteredMs > Date.parse(ours.at);
}
