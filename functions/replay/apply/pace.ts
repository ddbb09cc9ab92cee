/**
 * How fast objects are sent: a canary first, then a window that grows by one with each good one, and so many a second of each cluster. The
 * window is for what they share (the function, the queue); the rate is for each API server.
 *
 *     canary ──each of it has a verdict──> ramp      bad ones over the limit, judged in the ramp only: stop
 */
import type { ApplySettings, SendVerdict } from './contract.ts';

export interface Pace {
  readonly phase: 'canary' | 'ramp';
  /** Accepted sends, whatever became of them. */
  readonly sent: number;
  /** Sends without a verdict. */
  readonly underWay: number;
  readonly good: number;
  readonly bad: number;
}

/** @param underWay sends of an earlier apply that have no verdict yet: they are part of the canary */
export function startPace(underWay = 0): Pace {
  return { phase: 'canary', sent: underWay, underWay, good: 0, bad: 0 };
}

/** How many more objects may be sent now, the rate left aside. */
export function roomOf({ phase, sent, underWay, good }: Pace, { canary }: Pick<ApplySettings, 'canary'>): number {
  return phase === 'canary' ? Math.max(0, canary - sent) : Math.max(0, canary + good - underWay);
}

export function afterSend(pace: Pace): Pace {
  return { ...pace, sent: pace.sent + 1, underWay: pace.underWay + 1 };
}

/** The ramp begins with the verdict of the last object of the canary. What cannot be judged counts neither way. */
export function afterVerdict(pace: Pace, verdict: SendVerdict, { canary }: Pick<ApplySettings, 'canary'>): Pace {
  const underWay = pace.underWay - 1;
  return {
    ...pace,
    phase: pace.phase === 'ramp' || (underWay === 0 && pace.sent >= canary) ? 'ramp' : 'canary',
    underWay,
    good: pace.good + (verdict === 'good' || verdict === 'quiet' ? 1 : 0),
    bad: pace.bad + (verdict === 'bad' ? 1 : 0),
  };
}

/** True where more objects fail again than the settings bear. */
export function hasTooManyBad({ phase, good, bad }: Pace, { stopAt }: Pick<ApplySettings, 'stopAt'>): boolean {
  return phase === 'ramp' && bad > stopAt * (good + bad);
}

/** What one cluster may be sent: a bucket that fills with the rate. It holds one, or what a fifth of a second brings: objects are spread. */
export interface Bucket {
  readonly tokens: number;
  /** When it was looked at, in milliseconds of the steady clock. */
  readonly atMs: number;
}

function capacityOf(ratePerSecond: number): number {
  return Math.max(1, ratePerSecond / 5);
}

/** Full at first. */
export function fillBucket(bucket: Bucket | undefined, ratePerSecond: number, nowMs: number): Bucket {
  if (bucket === undefined) return { tokens: capacityOf(ratePerSecond), atMs: nowMs };
  const grown = bucket.tokens + (Math.max(0, nowMs - bucket.atMs) * ratePerSecond) / 1000;
  return { tokens: Math.min(capacityOf(ratePerSecond), grown), atMs: nowMs };
}

/** Milliseconds until the bucket has a whole token; 0 where it has. */
export function waitForToken({ tokens }: Bucket, ratePerSecond: number): number {
  return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / ratePerSecond) * 1000);
}
