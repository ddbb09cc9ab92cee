/** A letter as it is written to disk: whole, so that it could be sent again as it was. */
import type { ReceivedLetter } from '../adapters/letter-queue-port.ts';

export interface LetterCopy {
  readonly messageId: string;
  /** ISO 8601 in UTC; of the first send, where SQS moved the message by itself. */
  readonly sentAt?: string;
  readonly receiveCount?: number;
  readonly attributes: ReceivedLetter['attributes'];
  readonly otherAttributes?: NonNullable<ReceivedLetter['otherAttributes']>;
  readonly system?: NonNullable<ReceivedLetter['system']>;
  readonly body: string;
}

/** Everything of it but the receipt handle, which is of no use to anybody else. */
export function copyOf(received: ReceivedLetter): LetterCopy {
  const { messageId, sentAtMs, receiveCount, attributes, otherAttributes, system, body } = received;
  return {
    messageId,
    ...(sentAtMs === undefined ? {} : { sentAt: new Date(sentAtMs).toISOString() }),
    ...(receiveCount === undefined ? {} : { receiveCount }),
    attributes,
    ...(otherAttributes === undefined ? {} : { otherAttributes }),
    ...(system === undefined ? {} : { system }),
    body,
  };
}
