/**
 * The packaged function on this machine: both work queues feed it as Lambda's event source mappings would, each with its own
 * maximum concurrency, until it is told to stop.
 */
import { resolve } from 'node:path';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Lane } from '../../events/envelope.ts';
import { createLog, type Log } from '../../functions/adapters/telemetry.ts';
import type { Environment, ReconcileConfig } from '../../functions/core/config.ts';
import { ConfigError } from '../../functions/core/errors.ts';
import { build } from '../build.ts';
import { createEventSource, type EventSource } from './event-source/event-source.ts';
import { createPool, type Pool } from './function-host/pool.ts';
import { createReceiver } from './receive.ts';

export interface RunFunctionOptions {
  /** Function time-out, in seconds. */
  readonly timeout: number;
  /** Above 10 only with a window. */
  readonly batchSize: number;
  /** How long a batch may gather, in seconds. */
  readonly batchWindow: number;
  /** Invocations at once from each queue: one cannot take the places of the other. */
  readonly maximumConcurrency: Readonly<Record<Lane, number>>;
  /** A zip or a folder; built into `dist` where left out. */
  readonly artifact?: string;
}

const LANES: readonly Lane[] = ['live', 'bulk'];

const FUNCTION_ENV = /^(DOGWATCH_|AWS_)|^LOG_LEVEL$|^POWERTOOLS_/;

/**
 * Runs until SIGINT or SIGTERM; then what was received is finished and everything ends.
 *
 * @throws ConfigError before anything is received: no package, a queue that is not there, a visibility below the time-out
 */
export async function runFunction(config: ReconcileConfig, env: Environment, options: RunFunctionOptions): Promise<void> {
  const log = createLog('run');
  const artifact = options.artifact ?? (await buildArtifact());
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  const client = new SQSClient({});
  const pool = createPool({
    artifact,
    maximumConcurrency: options.maximumConcurrency.live + options.maximumConcurrency.bulk,
    timeoutMs: options.timeout * 1000,
    region: env['AWS_REGION'] ?? 'us-east-1',
    env: functionEnvironment(config, env),
    log: (line) => process.stdout.write(`${line}\n`),
  });
  try {
    const sources = await Promise.all(
      LANES.map((lane) => connectSource({ client, pool, log, queueUrl: config.queueUrls[lane], lane, options })),
    );
    log.info('polling', {
      queues: Object.values(config.queueUrls),
      maximumConcurrency: options.maximumConcurrency,
      timeoutSeconds: options.timeout,
      artifact,
    });
    await Promise.all(sources.map((source) => untilEnd(source, stop)));
  } finally {
    await pool.stop();
    client.destroy();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  }
}

async function buildArtifact(): Promise<string> {
  await build({ quiet: true });
  return resolve(import.meta.dirname, '../../dist/reconcile.zip');
}

/** What is the function's own, with the registry's path made absolute: the function runs in its own folder. */
function functionEnvironment(config: ReconcileConfig, env: Environment): Record<string, string> {
  const own = Object.entries(env).filter((entry): entry is [string, string] => FUNCTION_ENV.test(entry[0]) && entry[1] !== undefined);
  const isReference = /^(ssm|secretsmanager):/.test(config.clusters);
  return { ...Object.fromEntries(own), DOGWATCH_CLUSTERS: isReference ? config.clusters : resolve(config.clusters) };
}

async function connectSource(parts: {
  readonly client: SQSClient;
  readonly pool: Pool;
  readonly log: Log;
  readonly queueUrl: string;
  readonly lane: Lane;
  readonly options: RunFunctionOptions;
}): Promise<EventSource> {
  const { client, queueUrl, lane, pool, log, options } = parts;
  return createEventSource({
    receiver: createReceiver({ client, queueUrl, quirks: 'none' }),
    client,
    queueUrl,
    queueArn: await arnOf(client, queueUrl),
    pool,
    batchSize: options.batchSize,
    windowSeconds: options.batchWindow,
    maximumConcurrency: options.maximumConcurrency[lane],
    log,
  });
}

async function arnOf(client: SQSClient, queueUrl: string): Promise<string> {
  try {
    const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['QueueArn'] }));
    return Attributes?.['QueueArn'] ?? '';
  } catch (error) {
    const why = error instanceof Error ? error.name : String(error);
    throw new ConfigError(
      'queue-unreachable',
      `queue ${queueUrl} does not answer (${why}): check its URL, AWS_ENDPOINT_URL_SQS and AWS credentials`,
      { cause: error },
    );
  }
}

/** One source's end ends the other too, so that a fault of one is not hidden by the other that goes on. */
async function untilEnd(source: EventSource, stop: AbortController): Promise<void> {
  try {
    await source.run(stop.signal);
  } finally {
    stop.abort();
  }
}
