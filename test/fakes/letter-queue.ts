/** A dead-letter queue at the port, in a test's own time: visibility, receive counts, and others that receive. */
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
  maxConcurrency = 0;
  /** Called before each receive, by its number from 1; what it throws, the receive throws. */
  beforeReceive: (call: number) => void = () => {};
  /** Whether a letter cannot be given back in this call, by its number from 1. */
  isStuck: (call: number, messageId: string) => boolean = () => false;
  redriveTargetArn: string | undefined;
  sourceUrls: readonly string[] | undefined = ['https://sqs.us-east-1.amazonaws.com/000000000000/dogwatch-live'];
  retentionSeconds = 1_209_600;
  #underWay = 0;
  #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(body: string, { attributes = {}, sentAtMs = this.#nowMs }: { attributes?: Record<string, string>; sentAtMs?: number } = {}): string {
    const messageId = `message-${this.stored.length + 1}`;
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
