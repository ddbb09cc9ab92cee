/** Both lanes feed the function, as in `dogwatch run`. */
import type { Lane } from '../../../events/envelope.ts';
import type { Log, LogFields } from '../../../functions/adapters/telemetry.ts';
import { createEventSource, type EventFunction } from '../event-source/event-source.ts';
import { createReceiver } from '../receive.ts';
import { runAll } from '../run-function.ts';
import type { DevQueues } from './dev-queues.ts';
import type { DevEvent } from './dev-state.ts';

/** Invocations at once of each lane. */
export const LANE_CONCURRENCY = 2;

const LANES = ['live', 'bulk'] as const satisfies readonly Lane[];

/** Runs until the signal, and until what was received is finished. @throws what ends a source by itself */
export async function runSources(
  queues: DevQueues,
  pool: EventFunction,
  stop: AbortController,
  emit: (event: DevEvent) => void,
): Promise<void> {
  const { client, quirks, queueUrls } = queues;
  const log = noticesOf(emit);
  const sources = LANES.map((lane) => {
    const queueUrl = queueUrls[lane];
    const receiver = createReceiver({ client, queueUrl, quirks });
    const queueArn = `arn:aws:sqs:us-east-1:000000000000:${queueUrl.slice(queueUrl.lastIndexOf('/') + 1)}`;
    return createEventSource({ receiver, client, queueUrl, queueArn, pool, maximumConcurrency: LANE_CONCURRENCY, log });
  });
  await Promise.all(sources.map((source) => source.check(stop.signal)));
  await runAll(sources, stop);
}

/** What a source warns of is shown. */
function noticesOf(emit: (event: DevEvent) => void): Log {
  const tell =
    (level: 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void => {
      const facts = [fields['errorType'], fields['errorMessage'], fields['code'], fields['error']].filter(
        (fact) => typeof fact === 'string' && fact !== '',
      );
      emit({ kind: 'notice', level, text: facts.length === 0 ? message : `${message} (${facts.join(': ')})` });
    };
  return { debug: () => undefined, info: () => undefined, warn: tell('warn'), error: tell('error') };
}
