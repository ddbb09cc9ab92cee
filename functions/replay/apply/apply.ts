/**
 * Carries out a plan. One loop decides and does, batch after batch; beside it letters are received and kept, and what was sent is followed.
 *
 *     look through ──> batch ──> batch ──> ... ──> nothing left, and all have a verdict ──> give back, sum up
 *                        ↑ ready letters (intake), room (pace), rate (buckets), clusters that answer (health)
 */
import type { ReceivedLetter } from '../../adapters/letter-queue-port.ts';
import { TransientError } from '../../core/errors.ts';
import { Agenda } from './agenda.ts';
import { beginLine, lateLines, leftLines, SerialAudit } from './audit-notes.ts';
import { type Past, pastOf } from './audit-text.ts';
import { BATCH_MAX, type BatchDesk, runBatch } from './batch.ts';
import { Clusters } from './clusters.ts';
import type { ApplyEvent, ApplyOptions, ApplySummary, SendVerdict } from './contract.ts';
import { Ending } from './ending.ts';
import { Follower, type Sent, sentBefore } from './follow.ts';
import { hiddenLetters, visibilityFor } from './hidden-letters.ts';
import { Intake } from './intake.ts';
import { type Item, type ItemState, itemsOf } from './items.ts';
import { Keeper } from './keeper.ts';
import { Mail } from './mail.ts';
import { afterSend, afterVerdict, hasTooManyBad, type Pace, roomOf, startPace } from './pace.ts';
import { summarize } from './tally.ts';

/** The longest that the loop sleeps: the end of the queue's quiet is nobody's event. */
const REST_MS = 1_000;
/** Batches in a row of which nothing was accepted, after which there is no hope. */
const FAILED_BATCHES_MAX = 2;
/** Letters that came late and are deleted at a time. */
const LATE_MAX = 100;

/**
 * Does exactly the plan, and accounts for every letter received. What it was stopped in the middle of, the same call again goes on with.
 * Nothing is deleted whose replacement was not accepted, or which does not need one.
 *
 * Failures of SQS, of credentials and of the audit are the summary's `failure`; a cluster's are reasons of its letters.
 *
 * @throws ConfigError `audit-unwritable` where the audit takes not even its first line; what is nobody's failure (a fault of ours), after letters
 *   were given back
 */
export function applyPlan(options: ApplyOptions): Promise<ApplySummary> {
  return new Apply(options).run();
}

class Apply {
  readonly #options: ApplyOptions;
  readonly #past: Past;
  readonly #items: readonly Item[];
  readonly #byLetter: ReadonlyMap<string, Item>;
  readonly #agenda = new Agenda();
  readonly #clusters: Clusters;
  readonly #ended = new AbortController();
  readonly #ending = new Ending((end) => {
    this.#tell({ kind: 'stopping', end });
    if (!this.#isLooked && this.#ending.isAtOnce) this.#ended.abort(); // nothing but looking is under way
    this.#wake();
  });
  readonly #intake: Intake;
  readonly #keeper: Keeper;
  readonly #follower: Follower;
  readonly #desk: BatchDesk;
  readonly #audit: SerialAudit;
  readonly #mail: Mail;
  readonly #counts = { batches: 0, failedBatches: 0, decided: 0 };
  readonly #verdicts = { now: noVerdicts(), earlier: noVerdicts() };
  #pace: Pace;
  #isLooked = false;
  #countHidden = (): number => 0;
  #rest = new AbortController();

  constructor(options: ApplyOptions) {
    this.#options = options;
    const { plan, queue, description, clock, source, settings } = options;
    this.#past = pastOf(options.audit.past);
    this.#audit = new SerialAudit(options.audit);
    ({ items: this.#items, byLetter: this.#byLetter } = itemsOf(plan.items, this.#past));
    const ended = this.#ended.signal;
    const { visible, hidden } = description.depth;
    const visibilitySeconds = visibilityFor(description.depth);
    const onLetter = (letter: ReceivedLetter, untilMs: number): boolean => this.#mail.take(letter, untilMs);
    this.#intake = new Intake({ queue, clock, ended, depth: visible + hidden, visibilitySeconds, onLetter });
    this.#keeper = new Keeper({ queue, clock, visibilitySeconds, ended, onLost: (untilMs) => this.#intake.disturb(untilMs) });
    this.#clusters = new Clusters({
      ...{ source, clock, ratePerSecond: settings.ratePerSecond },
      onDown: (cluster, code, says) => this.#giveUp(cluster, code, says),
    });
    this.#pace = startPace(this.#past.open.length);
    this.#follower = new Follower({
      ...{ clock, ended, timeoutSeconds: settings.canaryTimeoutSeconds },
      look: (target) => this.#clusters.look(target, ended),
      onVerdict: (sent, verdict, reason) => this.#judged(sent, verdict, reason),
      onFailure: (error) => this.#ending.fail(error),
    });
    this.#mail = new Mail({
      ...{ byLetter: this.#byLetter, keeper: this.#keeper, follower: this.#follower, agenda: this.#agenda },
      settle: (item, state) => this.#settle(item, state, 'over'),
      onLetter: () => {
        if (!this.#isLooked) this.#tell({ kind: 'looking', ...this.#received });
        this.#wake();
      },
    });
    this.#desk = {
      options,
      audit: this.#audit,
      reconcilers: source.reconcilers,
      look: (target) => this.#clusters.look(target, options.stop),
      isDown: (cluster) => this.#clusters.isDown(cluster),
      heldOf: (messageIds) => this.#keeper.heldOf(messageIds),
      nextBatch: () => ++this.#counts.batches,
      remove: (batch, messageIds) => this.#remove(batch, messageIds),
      settle: (item, state, turn) => this.#settle(item, state, turn),
      onSent: (sent, letters) => this.#sent(sent, letters),
    };
  }

  async run(): Promise<ApplySummary> {
    const { clock, stop, description, source } = this.#options;
    const visibilitySeconds = visibilityFor(description.depth);
    const at = clock.now().toISOString();
    await this.#audit.append([beginLine(this.#options, at, visibilitySeconds)], 'synced');
    const onStop = (): void => this.#ending.stopFor('signal');
    stop.addEventListener('abort', onStop);
    if (stop.aborted) onStop();
    // Before the look: a letter of theirs may be among those that come.
    for (const intent of this.#past.open) this.#follower.follow(sentBefore(intent, source.reconcilers));
    const beside = [this.#ending.guard(this.#keeper.keep())];
    try {
      await this.#ending.guard(this.#intake.seeThrough());
      if (!this.#ending.isAtOnce) {
        this.#begin();
        beside.push(this.#ending.guard(this.#intake.keepOn()));
        await this.#ending.guard(this.#work());
      }
    } finally {
      stop.removeEventListener('abort', onStop);
      this.#ended.abort();
      await Promise.all([...beside, this.#follower.over()]);
    }
    return this.#finish();
  }

  /** The queue is seen through: what the plan leaves is left, and the rest has its turns. */
  #begin(): void {
    const { open, sent, hiddenSeconds = 0 } = this.#past;
    this.#isLooked = true;
    this.#tell({ kind: 'looked', ...this.#received, planned: this.#byLetter.size });
    this.#countHidden = hiddenLetters(this.#past, this.#byLetter, this.#options.clock);
    const hidden = this.#countHidden();
    if (sent.size + hidden > 0) this.#tell({ kind: 'resumed', sentBefore: sent.size, open: open.length, hidden, hiddenSeconds });
    this.#counts.decided = this.#items.filter(({ state }) => state.kind !== 'waiting').length;
    this.#mail.open(this.#items);
  }

  async #work(): Promise<void> {
    for (;;) {
      if (this.#ending.isAtOnce) return;
      const late = this.#mail.toDelete(LATE_MAX);
      if (late.length > 0) {
        await this.#removeLate(late);
        continue;
      }
      const items = this.#ending.end === undefined ? this.#pick() : [];
      if (items.length > 0) {
        await this.#runBatch(items);
        continue;
      }
      const isDone = this.#ending.end !== undefined || (this.#agenda.size === 0 && this.#intake.isQuiet && this.#countHidden() === 0);
      if (isDone && this.#follower.openCount === 0) return;
      await this.#options.clock.sleep(this.#restMs(), this.#rest.signal);
      this.#rest = new AbortController();
    }
  }

  async #runBatch(items: readonly Item[]): Promise<void> {
    const { tried, accepted } = await runBatch(this.#desk, items);
    for (const { planned, target, state } of items) {
      if (planned.class === 'to-replay' && target !== undefined && state.kind !== 'sent') this.#clusters.refund(target.cluster);
    }
    if (tried === 0) return;
    this.#counts.failedBatches = accepted === 0 ? this.#counts.failedBatches + 1 : 0;
    if (this.#counts.failedBatches < FAILED_BATCHES_MAX) return;
    this.#ending.fail(new TransientError('nothing-accepted', 'SQS accepts no messages; look at the bulk queue, then run the same again'));
  }

  #pick(): Item[] {
    const room = Math.min(BATCH_MAX, roomOf(this.#pace, this.#options.settings));
    const sends = this.#agenda.takeSends(room, (cluster) => this.#clusters.mayTake(cluster));
    return [...sends, ...this.#agenda.takeChecks(BATCH_MAX - sends.length, (cluster) => this.#clusters.mayAsk(cluster))];
  }

  /** Until a bucket or a cluster lets something be done; events end it before. */
  #restMs(): number {
    const hasRoom = roomOf(this.#pace, this.#options.settings) > 0;
    const waits = [...this.#agenda.waiting()].flatMap(({ cluster, isSend }) =>
      cluster === undefined || (isSend && !hasRoom) ? [] : [this.#clusters.waitMs(cluster, isSend)],
    );
    return Math.min(REST_MS, ...waits.map((ms) => Math.max(1, ms)));
  }

  #settle(item: Item, state: ItemState, turn: 'over' | 'retry'): void {
    item.state = state;
    if (turn === 'retry') this.#agenda.add(item);
    if (state.kind === 'waiting' || state.kind === 'acting') return;
    this.#counts.decided += 1;
    if (state.kind !== 'left') this.#mail.doneWith(item);
    const object = item.place === undefined ? {} : { object: item.place };
    if (state.kind !== 'sent') this.#tell({ kind: state.kind, ...object, letters: item.received.size, reason: state.reason });
    this.#progress();
  }

  #sent(sent: Sent, letters: number): void {
    this.#pace = afterSend(this.#pace);
    this.#tell({ kind: 'sent', object: sent.object, letters });
    this.#follower.follow(sent);
    this.#progress();
  }

  #judged({ envelope, object, isEarlier }: Sent, verdict: SendVerdict, reason: string): void {
    const { settings, clock } = this.#options;
    const { phase } = this.#pace;
    this.#pace = afterVerdict(this.#pace, verdict, settings);
    this.#verdicts[isEarlier ? 'earlier' : 'now'][verdict] += 1;
    void this.#ending.guard(
      this.#audit.append([{ kind: 'verdict', at: clock.now().toISOString(), envelope, verdict, reason }], 'buffered'),
    );
    this.#tell({ kind: 'verdict', object, verdict, reason });
    if (hasTooManyBad(this.#pace, settings)) this.#ending.stopFor('too-many-bad');
    else if (phase === 'canary' && this.#pace.phase === 'ramp') this.#tell({ kind: 'canary-over' });
    this.#progress();
    this.#wake();
  }

  #giveUp(cluster: string, code: string, says: string): void {
    this.#tell({ kind: 'cluster-down', cluster, code, says });
    for (const item of this.#agenda.takeCluster(cluster)) this.#settle(item, { kind: 'left', reason: code }, 'over');
    this.#follower.giveUp(cluster, code);
    this.#wake();
  }

  /** Letters that came after their object was done with: the audit says why they go. */
  async #removeLate(messageIds: readonly string[]): Promise<void> {
    const batch = ++this.#counts.batches;
    const at = this.#options.clock.now().toISOString();
    const lines = lateLines({ messageIds, byLetter: this.#byLetter, past: this.#past, batch, at });
    if (lines.length > 0) await this.#audit.append(lines, 'synced');
    await this.#remove(batch, messageIds);
  }

  async #remove(batch: number, messageIds: readonly string[]): Promise<void> {
    const notDeleted = await this.#keeper.remove(messageIds);
    this.#mail.deleted(messageIds);
    const letters = messageIds.filter((messageId) => this.#keeper.removed.has(messageId));
    const at = this.#options.clock.now().toISOString();
    await this.#audit.append([{ kind: 'deleted', at, batch, letters, ...(notDeleted.length === 0 ? {} : { notDeleted }) }], 'buffered');
  }

  async #finish(): Promise<ApplySummary> {
    const ours = new Set([...this.#byLetter.keys()].filter((messageId) => this.#keeper.isHeld(messageId)));
    const wasOurs = (messageId: string): boolean => ours.has(messageId);
    const notReleasedCount = await this.#keeper.releaseAll();
    for (const { isEarlier } of this.#follower.open) this.#verdicts[isEarlier ? 'earlier' : 'now'].unjudged += 1;
    const { notOfPlan, cameBack } = this.#mail.counts;
    const summary = summarize({
      ...{ ...this.#ending.account, items: this.#items, byLetter: this.#byLetter, accounted: this.#options.accounted },
      ...{ notOfPlanCount: notOfPlan, cameBackCount: cameBack, notReleasedCount, wasOurs },
      ...{ removed: this.#keeper.removed, sends: this.#verdicts.now, earlierSends: this.#verdicts.earlier },
    });
    const at = this.#options.clock.now().toISOString();
    const lines = this.#items.flatMap((item) => leftLines(item, wasOurs, at));
    await this.#ending.guard(this.#audit.append([...lines, { kind: 'end', at, summary }], 'synced'));
    this.#ending.throwIfUnclassified();
    return { ...summary, ...this.#ending.account };
  }

  #tell(event: ApplyEvent): void {
    this.#options.tell(event);
  }

  #progress(): void {
    const { sent, underWay, good, bad } = this.#pace;
    this.#tell({ kind: 'progress', progress: { objects: this.#items.length, decided: this.#counts.decided, sent, underWay, good, bad } });
  }

  get #received(): { readonly received: number; readonly ofPlan: number } {
    const { received, ofPlan } = this.#mail.counts;
    return { received, ofPlan };
  }

  #wake(): void {
    this.#rest.abort();
  }
}

function noVerdicts(): Record<SendVerdict, number> {
  return { good: 0, quiet: 0, bad: 0, unjudged: 0 };
}
