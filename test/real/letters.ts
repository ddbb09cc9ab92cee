/** Reads the lab's dead-letter queue, taking the letters out. */
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { type Diagnosis, decodeEnvelope } from '../../events/envelope.ts';
import type { Lab } from '../../infra/local/start-lab.ts';
import { connectQueues, queueUrlOf } from './depth.ts';

export interface Letter {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Name of the object that the body is about, where the body is an envelope. */
  readonly name: string | undefined;
  readonly diagnosis: Diagnosis | undefined;
}

/** The letters there are now, at most ten. */
export async function readLetters(lab: Lab): Promise<Letter[]> {
  const client = connectQueues(lab);
  const QueueUrl = queueUrlOf(lab, 'dead-letters');
  try {
    const answer = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0, MessageAttributeNames: ['All'] }),
    );
    const letters: Letter[] = [];
    for (const message of answer.Messages ?? []) {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
      const body = message.Body ?? '';
      const decoded = decodeEnvelope(body);
      const data = decoded.kind === 'reconcile' ? decoded.envelope.data : undefined;
      const entries = Object.entries(message.MessageAttributes ?? {});
      letters.push({
        body,
        attributes: Object.fromEntries(entries.map(([name, value]) => [name, value.StringValue ?? ''])),
        name: data?.name,
        diagnosis: data?.diagnosis,
      });
    }
    return letters;
  } finally {
    client.destroy();
  }
}
