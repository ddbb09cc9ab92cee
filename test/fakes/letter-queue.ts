/** A dead-letter queue at the port, in a test's own time: visibility, receive counts, deletion, and others that receive. */
import type { Clock } from '../../functions/adapters/clock.ts';
import type { LetterQueue, QueueDescription, ReceivedLetter } from '../../functions/adapters/letter-queue-port.ts';

export const LETTERS_URL = 'https://sqs.us-east-1.amazonaws.com/000000000000/dogwatch-dead-letters';
const RECEIVE_MAX = 10;

interface Stored {
  readonly messageId: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly sentAtMs: number;
  visibleAtMs: number;
  receiveCount: number;
  handle: string;
}

export class FakeLetterQueue implements LetterQueue {
  readonly stored: Stored[] = [];
  /** Seconds that messages were hidden for, of each receive that had any. */
  readonly hiddenFor: number[] = [];
  receiveCalls = 0;
  releaseCalls = 0;
  extendCalls = 0;
  removeCalls = 0;
  /** Message ids in the order of their deletion. */
  readonly removed: string[] = [];
  maxConcurrency = 0;
  /** Called before each receive, by its number from 1; what it throws, the receive throws. */
  beforeReceive: (call: number) => void = () => {};
  /** Whether a letter cannot be given back in this call, by its number from 1. */
  isStuck: (call: number, messageId: string) => boolean = () => false;
  /** Called before each of these, by its number from 1; what it throws, the call answers with all places of its batch. */
  beforeExtend: (call: number) => void = () => {};
  beforeRemove: (call: number, messageIds: readonly string[]) => void = () => {};
  /** As `beforeRemove`, once the letters are gone: a request whose answer is lost. */
  afterRemove: (call: number) => void = () => {};
  redriveTargetArn: string | undefined;
  sourceUrls: readonly string[] | undefined = ['https://sqs.us-east-1.amazonaws.com/000000000000/dogwatch-live'];
  retentionSeconds = 1_209_600;
  #underWay = 0;
  #addedCount = 0;
  #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(body: string, { attributes = {}, sentAtMs = this.#nowMs }: { attributes?: Record<string, string>; sentAtMs?: number } = {}): string {
    this.#addedCount += 1;
    const messageId = `message-${this.#addedCount}`;
    this.stored.push({ messageId, body, attributes, sentAtMs, visibleAtMs: 0, receiveCount: 0, handle: '' });
    return messageId;
  }

  /** Another reader takes so many for so long. */
  takeElsewhere(count: number, seconds: number): void {
    for (const letter of this.#visible().slice(0, count)) this.#hide(letter, seconds);
  }

  get hiddenCount(): number {
    return this.stored.length - this.#visible().length;
  }

  async describe(): Promise<QueueDescription> {
    const { redriveTargetArn, sourceUrls, retentionSeconds } = this;
    const depth = { visible: this.#visible().length, hidden: this.hiddenCount, delayed: 0 };
    return {
      url: LETTERS_URL,
      arn: 'arn:aws:sqs:us-east-1:000000000000:dogwatch-dead-letters',
      retentionSeconds,
      depth,
      redriveTargetArn,
      sourceUrls,
    };
  }

  async receive({ visibilitySeconds, waitSeconds }: { visibilitySeconds: number; waitSeconds: number }): Promise<ReceivedLetter[]> {
    this.receiveCalls += 1;
    this.#underWay += 1;
    this.maxConcurrency = Math.max(this.maxConcurrency, this.#underWay);
    try {
      this.beforeReceive(this.receiveCalls);
      await Promise.resolve();
      if (this.#visible().length === 0) await this.#clock.sleep(waitSeconds * 1000);
      const letters = this.#visible().slice(0, RECEIVE_MAX);
      for (const letter of letters) this.#hide(letter, visibilitySeconds);
      if (letters.length > 0) this.hiddenFor.push(visibilitySeconds);
      return letters.map(({ messageId, handle, body, attributes, sentAtMs, receiveCount }) => ({
        ...{ messageId, receiptHandle: handle, body, attributes, sentAtMs, receiveCount },
      }));
    } finally {
      this.#underWay -= 1;
    }
  }

  async release(receiptHandles: readonly string[]): Promise<number[]> {
    this.releaseCalls += 1;
    const left: number[] = [];
    for (const [place, handle] of receiptHandles.entries()) {
      const letter = this.stored.find((one) => one.handle === handle);
      if (letter === undefined) continue; // an old handle, which SQS takes and which does nothing
      if (this.isStuck(this.releaseCalls, letter.messageId)) left.push(place);
      else letter.visibleAtMs = this.#nowMs;
    }
    return left;
  }

  async extend(receiptHandles: readonly string[], visibilitySeconds: number): Promise<number[]> {
    return inTens(receiptHandles, (handles) => {
      this.extendCalls += 1;
      this.beforeExtend(this.extendCalls);
      const left: number[] = [];
      for (const [place, handle] of handles.entries()) {
        const letter = this.stored.find((one) => one.handle === handle && one.visibleAtMs > this.#nowMs);
        if (letter === undefined) left.push(place);
        else letter.visibleAtMs = this.#nowMs + visibilitySeconds * 1000;
      }
      return left;
    });
  }

  async remove(receiptHandles: readonly string[]): Promise<number[]> {
    return inTens(receiptHandles, (handles) => {
      this.removeCalls += 1;
      // A handle that is not the newest is taken, and nothing is deleted.
      const letters = this.stored.filter(({ handle }) => handle !== '' && handles.includes(handle));
      this.beforeRemove(
        this.removeCalls,
        letters.map(({ messageId }) => messageId),
      );
      for (const letter of letters) {
        this.stored.splice(this.stored.indexOf(letter), 1);
        this.removed.push(letter.messageId);
      }
      this.afterRemove(this.removeCalls);
      return [];
    });
  }

  close(): void {}

  get #nowMs(): number {
    return this.#clock.now().getTime();
  }

  #visible(): Stored[] {
    return this.stored.filter(({ visibleAtMs }) => visibleAtMs <= this.#nowMs);
  }

  #hide(letter: Stored, seconds: number): void {
    letter.receiveCount += 1;
    letter.visibleAtMs = this.#nowMs + seconds * 1000;
    letter.handle = `${letter.messageId}#${letter.receiveCount}`;
  }
}

/** As the adapter does it: a batch that fails is left whole, and the others go on. */
function inTens(handles: readonly string[], batch: (handles: readonly string[]) => readonly number[]): number[] {
  const left: number[] = [];
  for (let first = 0; first < handles.length; first += RECEIVE_MAX) {
    const ten = handles.slice(first, first + RECEIVE_MAX);
    try {
      left.push(...batch(ten).map((place) => first + place));
    } catch {
      left.push(...ten.map((_, place) => first + place));
    }
  }
  return left;
}
