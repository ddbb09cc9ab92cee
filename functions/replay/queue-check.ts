/** Whether a queue is a dead-letter queue of ours: said before anything is received, since every look counts as a receive. */
import type { QueueDescription } from '../adapters/letter-queue-port.ts';
import { ConfigError } from '../core/errors.ts';
import { queueNameOf } from '../core/settings.ts';

/** Queues of the configuration; each may be left out. */
export interface ConfiguredQueues {
  readonly live?: string | undefined;
  readonly bulk?: string | undefined;
  readonly deadLetters?: string | undefined;
}

/** @throws ConfigError `not-a-dead-letter-queue`, with what it looks like instead */
export function checkLetterQueue({ url, redriveTargetArn, sourceUrls }: QueueDescription, configured: ConfiguredQueues): void {
  const refuse = (why: string): never => {
    throw new ConfigError('not-a-dead-letter-queue', `${url} is no dead-letter queue of ours: ${why}; nothing was received`);
  };
  const name = queueNameOf(url);
  for (const lane of ['live', 'bulk'] as const) {
    if (configured[lane] !== undefined && queueNameOf(configured[lane]) === name) refuse(`it is the ${lane} queue`);
  }
  if (redriveTargetArn !== undefined) refuse(`it has a RedrivePolicy, so that a look may move its messages to ${redriveTargetArn}`);
  const isConfigured = configured.deadLetters !== undefined && queueNameOf(configured.deadLetters) === name;
  if (isConfigured || (sourceUrls !== undefined && sourceUrls.length > 0)) return;
  const unnamed = 'DOGWATCH_DEAD_LETTER_QUEUE_URL does not name it';
  if (sourceUrls === undefined) refuse(`${unnamed}, and we may not ask whose dead letters come there (sqs:ListDeadLetterSourceQueues)`);
  refuse(`no queue has it as its dead-letter queue, and ${unnamed}`);
}
