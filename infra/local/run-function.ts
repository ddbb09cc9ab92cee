/**
 * The packaged function on this machine: both work queues feed it as Lambda's event source mappings would, each with its own
 * maximum concurrency, until it is told to stop.
 */
import { resolve } from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Lane } from '../../events/envelope.ts';
import { createSqsClient } from '../../functions/adapters/sqs.ts';
import { createLog, type Log } from '../../functions/adapters/telemetry.ts';
import { stopOnSignals } from '../../functions/cli/stop-signals.ts';
import type { Environment, ReconcileConfig } from '../../functions/core/config.ts';
import { ConfigError, cutText } from '../../functions/core/errors.ts';
import { build } from '../build.ts';
import { createEventSource, type EventSource } from './event-source/event-source.ts';
import { describeQueue } from './event-source/queue-calls.ts';
import { FUNCTION_DEFAULTS, type FunctionCredentials } from './function-host/function-settings.ts';
import { createPool, type Pool } from './function-host/pool.ts';
import { createReceiver } from './receive.ts';

export interface RunFunctionOptions {
  readonly timeoutSeconds: number;
  /** Above 10 only with a window. */
  readonly batchSize: number;
  /** How long a batch may gather. */
  readonly batchWindowSeconds: number;
  /** Invocations at once from each queue: one cannot take the places of the other. */
  readonly maximumConcurrency: Readonly<Record<Lane, number>>;
  /** A zip or a folder; built into `dist` where left out. */
  readonly artifact?: string;
}

/** Above the wait of a poll; the SDK asks up to three times. */
const REQUEST_TIMEOUT_MS = 6_000;

const LANES: readonly Lane[] = ['live', 'bulk'];

const FUNCTION_ENV = /^(DOGWATCH_|AWS_)|^LOG_LEVEL$|^POWERTOOLS_/;

/** How we come by credentials. The function has what comes of it, and on Lambda no way to them either. */
const OWN_IDENTITY =
  /^AWS_((DEFAULT_)?PROFILE|CONFIG_FILE|SHARED_CREDENTIALS_FILE|ROLE_.*|WEB_IDENTITY_.*|CONTAINER_.*|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|CREDENTIAL_.*)$/;

/**
 * Runs until SIGINT or SIGTERM; then what was received is finished and everything ends. A second signal ends the process at once.
 *
 * @throws ConfigError before anything is received: no package, region or credentials, a queue that is not there, a visibility below
 * the time-out
 */
export async function runFunction(config: ReconcileConfig, env: Environment, options: RunFunctionOptions): Promise<void> {
  const log = createLog('run');
  const artifact = options.artifact ?? (await buildArtifact());
  const client = await createSqsClient({ requestTimeoutMs: REQUEST_TIMEOUT_MS });
  const pool = createPool({
    artifact,
    maximumConcurrency: options.maximumConcurrency.live + options.maximumConcurrency.bulk,
    timeoutMs: options.timeoutSeconds * 1000,
    region: await client.config.region(),
    credentials: () => credentialsOf(client),
    // An author wants to read where an exception came from; on Lambda the maps would cost every cold start.
    env: { ...functionEnvironment(config, env), NODE_OPTIONS: '--enable-source-maps' },
    log: (line) => process.stdout.write(`${line}\n`),
  });
  const { stop, dispose } = stopOnSignals(() => log.info('stopping: finishing what was received; a second signal ends at once'));
  try {
    await credentialsOf(client);
    const sources = await Promise.all(
      LANES.map((lane) => connectSource({ client, pool, log, queueUrl: config.queueUrls[lane], lane, options })),
    );
    await Promise.all(sources.map((source) => source.check(stop.signal)));
    log.info('polling', {
      queues: Object.values(config.queueUrls),
      maximumConcurrency: options.maximumConcurrency,
      timeoutSeconds: options.timeoutSeconds,
      artifact,
    });
    await runAll(sources, stop);
  } finally {
    await pool.stop();
    client.destroy();
    dispose();
  }
}

/** The folder and not the zip, which has no source maps. */
async function buildArtifact(): Promise<string> {
  await build({ quiet: true });
  return resolve(import.meta.dirname, '../../dist');
}

/** What is the function's own, with the registry's path made absolute: the function runs in its own folder. Metrics are off. */
export function functionEnvironment(config: ReconcileConfig, env: Environment): Record<string, string> {
  const isOwn = (name: string): boolean => FUNCTION_ENV.test(name) && !OWN_IDENTITY.test(name);
  const own = Object.entries(env).filter((entry): entry is [string, string] => isOwn(entry[0]) && entry[1] !== undefined);
  const isReference = /^(ssm|secretsmanager):/.test(config.clusters);
  return {
    AWS_LAMBDA_FUNCTION_NAME: FUNCTION_DEFAULTS.functionName,
    // Nobody here turns them into metrics, and among the lines for people they would be noise: unless asked for.
    POWERTOOLS_METRICS_DISABLED: 'true',
    ...Object.fromEntries(own),
    DOGWATCH_CLUSTERS: isReference ? config.clusters : resolve(config.clusters),
  };
}

/** The SDK keeps them and renews them before their end. */
async function credentialsOf(client: SQSClient): Promise<FunctionCredentials> {
  try {
    return await client.config.credentials();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError('credentials-missing', `no AWS credentials (${cutText(why)}): log in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID`, {
      cause,
    });
  }
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
  const { arn, quirks } = await describeQueue(client, queueUrl);
  return createEventSource({
    receiver: createReceiver({ client, queueUrl, quirks }),
    client,
    queueUrl,
    queueArn: arn,
    pool,
    batchSize: options.batchSize,
    windowSeconds: options.batchWindowSeconds,
    maximumConcurrency: options.maximumConcurrency[lane],
    log,
  });
}

/** The end of one ends the others too, so that its fault is not hidden by those that go on; their running batches end first. */
export async function runAll(sources: readonly EventSource[], stop: AbortController): Promise<void> {
  const ends = await Promise.allSettled(sources.map((source) => source.run(stop.signal).finally(() => stop.abort())));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
