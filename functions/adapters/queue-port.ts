/** What the rest of the project may ask of SQS. The real one is `sqs.ts`; a fake stands in `test/fakes`. */

export interface OutgoingMessage {
  readonly body: string;
  /** 0 to 900, whole seconds. */
  readonly delaySeconds: number;
  /** Fair queue group: the cluster's name. */
  readonly groupId: string;
  /** String attributes; dead letters only. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/**
 * What became of one message.
 * - `sent`: SQS accepted it
 * - `retry`: not accepted now (throttling, fault of SQS or the network, or an entry that the answer did not mention)
 * - `refused`: SQS will never take this one (invalid content and the like)
 */
export type SendResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'retry'; readonly code: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

export interface Queue {
  /**
   * Sends all messages to one queue, in batches of at most ten and 1 MiB; results come in the order of `messages`. Never
   * throws for what SQS or the network says: that is a result of each entry. A batch refused as too long is split.
   *
   * @throws ConfigError where we are deployed such that no send can ever succeed
   */
  send(queueUrl: string, messages: readonly OutgoingMessage[], options?: { readonly signal?: AbortSignal }): Promise<SendResult[]>;

  /**
   * About how many messages of the queue could be received now; delayed ones do not count. Undefined where it does not say within a
   * few seconds, or does not want to. Never throws.
   */
  depth(queueUrl: string, options?: { readonly signal?: AbortSignal }): Promise<number | undefined>;
}
