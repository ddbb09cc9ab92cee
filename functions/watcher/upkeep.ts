/**
 * What a kind needs beside its stream: work that comes due by time alone. Nothing is timed for a single object; every few
 * seconds one pass over the small records says what is due. Nothing is done while no list was complete: what is known by then
 * is only a part.
 */
import type { DirtyMarks } from '../../events/dirty-marks.ts';
import { REASONS } from '../../events/envelope.ts';
import type { HealingSettings } from '../../events/healing.ts';
import { Hold } from '../../events/hold.ts';
import type { Due, KnownObjects } from '../../events/known-objects.ts';
import type { Clock } from '../adapters/clock.ts';

export interface UpkeepSettings extends HealingSettings {
  /** Every object runs once in this time. */
  readonly resyncSeconds: number;
  /** The longest that an object which changes all the time is held back. */
  readonly holdMaxSeconds: number;
}

export interface UpkeepOptions {
  readonly known: KnownObjects;
  readonly marks: DirtyMarks;
  readonly settings: UpkeepSettings;
  readonly clock: Clock;
}

export interface Upkeep {
  /**
   * Marks what comes due until the signal aborts. Rejects for a fault of our own only.
   *
   * @param isStreaming whether changes are told at this moment
   */
  run(signal: AbortSignal, isStreaming: () => boolean): Promise<void>;
}

/** The pause between two passes, in seconds; shorter where an interval is as short, for tests. */
const PASS_SECONDS = 5;

/** Upkeep of one kind in one cluster. From now on `marks` hold back what changes all the time. */
export function createUpkeep({ known, marks, settings, clock }: UpkeepOptions): Upkeep {
  const { healAfterSeconds, maxAgeSeconds, resyncSeconds, holdMaxSeconds } = settings;
  const healing = { healAfterSeconds, maxAgeSeconds };
  const passMs = 1000 * Math.min(PASS_SECONDS, healAfterSeconds, resyncSeconds);
  const nowMs = (): number => clock.steadyMs();
  const nowSeconds = (): number => Math.floor(nowMs() / 1000);
  const hold = new Hold(holdMaxSeconds, nowMs);
  marks.holdWith({
    untilMs: (mark) => hold.untilMs(mark),
    handedOut(mark) {
      hold.handedOut(mark);
      if (mark.reason === 'resync') known.resynced(mark.uid, nowMs());
    },
  });

  function mark(due: Due): void {
    marks.mark({ ...due, lane: REASONS[due.reason].lane, firstSeenAtMs: nowMs() });
  }

  return {
    async run(signal, isStreaming) {
      let fromSeconds = nowSeconds();
      let wasStreaming = false;
      while (!signal.aborted) {
        await clock.sleep(passMs, signal);
        if (signal.aborted) return;
        hold.evict();
        if (!known.hasListed) continue;
        const toSeconds = nowSeconds();
        const span = { fromSeconds, toSeconds };
        const wallSeconds = Math.floor(clock.now().getTime() / 1000);
        // A stream that has just been opened is still telling what happened without it.
        const isFresh = wasStreaming && isStreaming();
        wasStreaming = isStreaming();
        const plan = { span, wallSeconds, healing, resyncSeconds, isFresh, isWaiting: (uid: string) => marks.has(uid) };
        for (const due of known.takeDue(plan)) mark(due);
        fromSeconds = toSeconds;
      }
    },
  };
}
