/**
 * What looking at dead letters, and taking them off, may ask of SQS: there is no peek, so a look is a receive, and what was received is given
 * back. The real one is `letter-queue.ts`; a fake stands in `test/fakes`.
 *
 * Errors of every call: ConfigError `queue-missing`, `aws-refused` (rights or credentials); TransientError `throttled`, `in-flight-limit`,
 * `queue-unreachable` (network, and whatever else SQS says).
 */

/** Messages of a queue, about: SQS's counts lag behind by up to a minute. */
interface QueueDepth {
  /** Could be received now. */
  readonly visible: number;
  /** Received by somebody, and neither deleted nor given back. */
  readonly hidden: number;
  readonly delayed: number;
}

/** A queue as SQS describes it. */
export interface QueueDescription {
  readonly url: string;
  readonly arn: string;
  /** How long after its first send a message is kept; undefined where the endpoint does not say (SQS does). */
  readonly retentionSeconds: number | undefined;
  readonly depth: QueueDepth;
  /** Where this queue itself moves messages that are received too often. */
  readonly redriveTargetArn: string | undefined;
  /** URLs of the queues whose dead letters come here; undefined where we may not ask. */
  readonly sourceUrls: readonly string[] | undefined;
}

export interface ReceivedLetter {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** Attributes, as text. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Those that are not of type String, which nothing of ours writes, as SQS has them; bytes are in base64. */
  readonly otherAttributes?: Readonly<Record<string, { readonly type: string; readonly value: string }>>;
  /** What SQS itself says of the message: MessageGroupId, SenderId and the like. */
  readonly system?: Readonly<Record<string, string>>;
  /** Unix milliseconds of the send; of the first one, where SQS moved the message by itself. Retention counts from it. */
  readonly sentAtMs: number | undefined;
  /** How often it was received, this time included. */
  readonly receiveCount: number | undefined;
}

export interface LetterQueue {
  describe(): Promise<QueueDescription>;
  /**
   * Up to ten letters, as soon as there is one; none after `waitSeconds`. They are hidden from others for `visibilitySeconds`. Cannot be
   * aborted: the answer to a receive that is cut off hides letters from everybody.
   */
  receive(options: { readonly visibilitySeconds: number; readonly waitSeconds: number }): Promise<ReceivedLetter[]>;
  /** Makes letters visible again at once. Never throws: the places in `receiptHandles` of those that could not be. */
  release(receiptHandles: readonly string[]): Promise<number[]>;
  /**
   * Hides letters for so many seconds from now; at most 12 hours from the receive. Never throws: the places of those that could not be, which
   * are no longer ours, or are hidden as long as before.
   */
  extend(receiptHandles: readonly string[], visibilitySeconds: number): Promise<number[]>;
  /**
   * Deletes letters. Never throws: the places of those that could not be, which may be there still. SQS takes the handle of a letter that
   * somebody else has received since, and may delete nothing then: such a letter comes back.
   */
  remove(receiptHandles: readonly string[]): Promise<number[]>;
  close(): void;
}
