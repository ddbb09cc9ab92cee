/** An event source mapping with functions behind it: each worker receives a batch, runs the function over it, and deletes what it may. */
import type { SQSRecord } from 'aws-lambda';
import { clusterName } from '../../events/resource.ts';
import type { Log } from '../../functions/adapters/telemetry.ts';
import type { Reconciler } from '../../functions/core/reconciler.ts';
import { type BatchDependencies, processBatch } from '../../functions/reconcile/batch.ts';
import { createCircuits } from '../../functions/reconcile/circuits.ts';
import type { ApiServer } from './api-server.ts';
import type { SimulatedProcess } from './process.ts';
import type { Random } from './random.ts';
import { QUEUE_URLS, type Received, type Sqs } from './sqs.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtual-time.ts';

const FUNCTION_TIMEOUT_SECONDS = 30;
const BATCH_MAX = 5;

/** An execution environment of the function. */
export interface Environment {
  readonly process: SimulatedProcess;
  readonly dependencies: BatchDependencies;
}

export interface WorkersOptions {
  readonly api: ApiServer;
  readonly sqs: Sqs;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly trace: Trace;
  readonly createProcess: (name: string) => SimulatedProcess;
  readonly createReconciler: (process: SimulatedProcess) => Reconciler;
}

export class Workers {
  /** Invocations under way. */
  get busyCount(): number {
    return this.#busy.size;
  }

  readonly #busy = new Set<SimulatedProcess>();
  readonly #options: WorkersOptions;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /** Starts `count` workers that go on for ever; one that dies is followed by another. */
  start(count: number): void {
    for (let number = 1; number <= count; number += 1) void this.#poll(`worker ${number}`);
  }

  /** A function's execution environment: it keeps its circuits from one invocation to the next, until it dies. */
  createEnvironment(name: string): Environment {
    const { api, sqs, trace, createProcess, createReconciler } = this.#options;
    const process = createProcess(name);
    const log = logOf(process, trace);
    return {
      process,
      dependencies: {
        clusters: new Map([[clusterName('east'), api.clientOf(process)]]),
        reconcilers: [createReconciler(process)],
        clock: process.clock,
        log,
        metrics: { add: () => {}, flush: () => {} },
        circuits: createCircuits({ openSeconds: 10, openMaxSeconds: 300 }, process.clock, log),
        queue: async () => sqs.clientOf(process),
        queueUrls: QUEUE_URLS,
        functionVersion: '7',
        budgets: { retryBaseSeconds: 2, maxAgeSeconds: 21_600, maxAttempts: 10, overtakenMaxAttempts: 20 },
        recordDeadlineSeconds: 20,
        functionTimeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
      },
    };
  }

  /** etcd was restored: what is under way knows nothing of that. */
  changeHistory(): void {
    for (const process of this.#busy) process.isOfOtherHistory = true;
  }

  /** One invocation over the records. Resolves at its end, also where that is its death. */
  async invoke({ process, dependencies }: Environment, batch: readonly Received[]): Promise<void> {
    const { sqs, time, trace } = this.#options;
    this.#busy.add(process);
    process.isOfOtherHistory = false;
    const death = Promise.withResolvers<void>();
    process.onDeath(death.resolve);
    const endMs = time.nowMs + FUNCTION_TIMEOUT_SECONDS * 1000;
    const alarm = new AbortController();
    void time.sleep(endMs - time.nowMs, process, alarm.signal).then(() => {
      if (!alarm.signal.aborted) process.kill('the function timed out');
    });
    for (const { message, receiveCount } of batch) {
      trace.add(process.name, `receives ${message.id} (${receiveCount}) ${summaryOf(message.body)}`);
    }
    const run = async (): Promise<void> => {
      const invocation = { remainingMs: () => endMs - time.nowMs };
      const { batchItemFailures } = await processBatch({ Records: batch.map(recordOf) }, invocation, dependencies);
      if (!process.isAlive) return;
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      for (const { message } of batch) {
        if (!failed.has(message.id)) sqs.delete(message);
        trace.add(process.name, `${failed.has(message.id) ? 'fails' : 'acknowledges'} ${message.id}`);
      }
    };
    try {
      await Promise.race([death.promise, run()]);
    } finally {
      this.#busy.delete(process);
      alarm.abort();
    }
  }

  async #poll(name: string): Promise<void> {
    const { sqs, time, random } = this.#options;
    let environment = this.createEnvironment(name);
    for (;;) {
      await sqs.available(this);
      await time.sleep(random.int(0, random.chance(0.8) ? 20 : 2_000), this);
      const queueUrl = random.chance(0.7) ? QUEUE_URLS.live : QUEUE_URLS.bulk;
      const batch = sqs.receive(queueUrl, random.int(1, BATCH_MAX));
      if (batch.length === 0) continue;
      if (!environment.process.isAlive) environment = this.createEnvironment(name);
      await this.invoke(environment, batch);
    }
  }
}

/** A log whose lines go to the trace. */
export function logOf(process: SimulatedProcess, trace: Trace): Log {
  const write = (message: string, { branch, disposition, code, delaySeconds }: Readonly<Record<string, unknown>> = {}): void => {
    if (!process.isAlive) return;
    const facts = [branch, disposition, code, delaySeconds].filter((fact) => fact !== undefined);
    trace.add(process.name, `logs: ${message}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`);
  };
  return { debug: () => {}, info: write, warn: write, error: write };
}

/** A message in few words. */
export function summaryOf(body: string): string {
  const { data = {} } = JSON.parse(body) as { data?: Record<string, unknown> };
  const { reason, name, uid, generation, resourceVersion, mustRun, attempt, notBefore } = data;
  const uidText = typeof uid === 'string' ? String(Number(uid.slice(-12))) : 'none';
  const due = notBefore === undefined ? '' : ` not before ${String(notBefore)}`;
  return `${reason} ${name} uid ${uidText} generation ${generation} RV ${resourceVersion}${mustRun === true ? ' mustRun' : ''} attempt ${attempt}${due}`;
}

function recordOf({ message, receiveCount }: Received): SQSRecord {
  return {
    messageId: message.id,
    receiptHandle: message.id,
    body: message.body,
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: '0',
      SenderId: 'sender',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:eu-central-1:111122223333:${message.queueUrl.split('/').at(-1)}`,
    awsRegion: 'eu-central-1',
  };
}
