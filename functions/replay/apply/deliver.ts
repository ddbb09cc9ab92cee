/** Sends a batch, as often as it takes: SQS may accept a part, or nothing for a while. */
import type { Clock } from '../../adapters/clock.ts';
import type { OutgoingMessage, Queue, SendResult } from '../../adapters/queue-port.ts';
import { isDenied } from '../../core/aws-errors.ts';
import { ConfigError } from '../../core/errors.ts';
import { TRIES, waitAfter } from '../tries.ts';

export interface SendOptions {
  readonly sender: Pick<Queue, 'send'>;
  readonly url: string;
  readonly clock: Clock;
  /** No further try begins. */
  readonly stop: AbortSignal;
  /** Called after each try with what is known for good, before anything else is done; at last with `retry` for what was never accepted. */
  readonly onResults: (results: readonly { readonly place: number; readonly result: SendResult }[]) => Promise<void>;
}

/**
 * Sends the messages of a batch. Results are told in places of `messages`, each once.
 *
 * @throws ConfigError `aws-refused` where rights or credentials are gone, after all results were told; what the port or `onResults` throws
 */
export async function sendBatch(messages: readonly OutgoingMessage[], options: SendOptions): Promise<void> {
  const { sender, url, clock, stop, onResults } = options;
  let places = messages.map((_, place) => place);
  for (let tries = 1; ; tries += 1) {
    const answers = await sender.send(
      url,
      places.map((place) => messages[place] as OutgoingMessage),
    );
    const results = places.map((place, at) => ({ place, result: answers[at] ?? { kind: 'retry' as const, code: 'not-in-answer' } }));
    const open = results.filter(({ result }) => result.kind === 'retry');
    const denied = open.find(({ result }) => result.kind === 'retry' && isDenied(result.code));
    const isLast = denied !== undefined || tries === TRIES || stop.aborted;
    const told = isLast ? results : results.filter(({ result }) => result.kind !== 'retry');
    if (told.length > 0) await onResults(told);
    if (denied !== undefined)
      throw new ConfigError(
        'aws-refused',
        `SQS refuses messages to ${url}; look at the AWS credentials and their rights, then run the same again`,
        {
          facts: { code: denied.result.kind === 'retry' ? denied.result.code : '' },
        },
      );
    if (isLast || open.length === 0) return;
    places = open.map(({ place }) => place);
    await clock.sleep(waitAfter(tries, clock), stop);
  }
}
