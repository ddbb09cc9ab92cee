/**
 * The function on the bench: the product's own batch over one record at a time, on clients that note every effect and can make the process
 * die at one. What a dead process waits for never comes, and its signals are aborted, so that code of an author that follows its signal
 * does nothing more.
 */
import { FINALIZER_MANAGER } from '../../../events/labels.ts';
import type { ClusterName } from '../../../events/resource.ts';
import type { AppliedObject, KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import type { Queue } from '../../../functions/adapters/queue-port.ts';
import type { Log } from '../../../functions/adapters/telemetry.ts';
import { budgetsOf, circuitLimitsOf, type ReconcileConfig } from '../../../functions/core/config.ts';
import type { Reconciler } from '../../../functions/core/reconciler.ts';
import { type BatchDependencies, processBatch } from '../../../functions/reconcile/batch.ts';
import { createCircuits } from '../../../functions/reconcile/circuits.ts';
import type { Activity } from './activity.ts';
import type { Effects } from './effects.ts';
import { describePlace } from './records.ts';
import { dataOf, QUEUE_URLS, recordOf, type TestQueues, type WaitingMessage } from './test-queues.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface FunctionOptions {
  readonly clusters: ReadonlyMap<ClusterName, KubernetesClient>;
  readonly reconcilers: readonly Reconciler[];
  readonly config: ReconcileConfig;
  readonly queues: TestQueues;
  readonly clock: VirtualClock;
  readonly activity: Activity;
  readonly effects: Effects;
  readonly log: Log;
}

/** The longest wait within a run that is over at once, in milliseconds: a cache that is behind is asked again after a second or more. */
const SHORT_MS = 5_000;

export class FunctionProcess {
  isAlive = true;
  readonly #options: FunctionOptions;
  readonly #dependencies: BatchDependencies;
  readonly #death = Promise.withResolvers<'died'>();

  constructor(options: FunctionOptions) {
    this.#options = options;
    const { config, clock, queues, reconcilers } = options;
    const { functionTimeoutSeconds, recordDeadlineSeconds } = config;
    const timeoutMs = functionTimeoutSeconds * 1000;
    // Whatever is shorter than every deadline of a run is no deadline.
    const leastDeadlineMs = Math.min(recordDeadlineSeconds * 1000, timeoutMs * 0.75, timeoutMs - 1000);
    const own = clock.viewOf(this, Math.min(SHORT_MS, leastDeadlineMs));
    const log: Log = mapLog(options.log, () => this.isAlive);
    this.#dependencies = {
      clusters: new Map([...options.clusters].map(([name, client]) => [name, this.#clientOf(client)])),
      reconcilers,
      clock: own,
      log,
      metrics: { add: () => {}, flush: () => {} },
      circuits: createCircuits(circuitLimitsOf(config), own, log),
      queue: async () => this.#queueOf(queues.clientOf('function')),
      queueUrls: QUEUE_URLS,
      functionVersion: 'bench',
      budgets: budgetsOf(config),
      recordDeadlineSeconds,
      functionTimeoutSeconds,
    };
  }

  /** One invocation over the message, which is deleted where the function says so. */
  async invoke(message: WaitingMessage): Promise<'acknowledged' | 'failed' | 'died'> {
    const { clock, config, queues } = this.#options;
    const endMs = clock.nowMs + config.functionTimeoutSeconds * 1000;
    const run = async (): Promise<'acknowledged' | 'failed'> => {
      const event = { Records: [recordOf(message)] };
      const { batchItemFailures } = await processBatch(event, { remainingMs: () => endMs - clock.nowMs }, this.#dependencies);
      if (batchItemFailures.length > 0) return 'failed';
      const what = message.data === undefined ? 'a message' : `${message.data.reason} of ${describePlace(message.data)}`;
      await this.effect(`acknowledge ${what}`, async () => queues.delete(message));
      return 'acknowledged';
    };
    return Promise.race([this.#death.promise, run()]);
  }

  /** Does something that can be seen from outside, unless the process is to die before it; never answers where it dies. */
  async effect<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
    if (!this.isAlive) return never();
    const { crashed } = this.#options.effects.begin(text);
    if (crashed === 'before') return this.#die();
    const settled = await this.#options.activity.track(text, () => settle(work));
    if (!this.isAlive) return never();
    if (crashed === 'after') return this.#die();
    if (settled.kind === 'failed') throw settled.error;
    return settled.value;
  }

  #die(): Promise<never> {
    this.isAlive = false;
    this.#death.resolve('died');
    this.#options.clock.wakeAll(this);
    this.#options.activity.happened();
    return never();
  }

  async #read<Result>(call: () => Promise<Result>): Promise<Result> {
    if (!this.isAlive) return never();
    const settled = await this.#options.activity.track('a read of the function', () => settle(call));
    if (!this.isAlive) return never();
    if (settled.kind === 'failed') throw settled.error;
    return settled.value;
  }

  #clientOf(client: KubernetesClient): KubernetesClient {
    return {
      ...client,
      cluster: client.cluster,
      get requestCount() {
        return client.requestCount;
      },
      get: (...args) => this.#read(() => client.get(...args)),
      getMetadata: (...args) => this.#read(() => client.getMetadata(...args)),
      list: (...args) => this.#read(() => client.list(...args)),
      servedKind: (...args) => this.#read(() => client.servedKind(...args)),
      apply: (type, body, options) => {
        const what = options?.fieldManager === FINALIZER_MANAGER ? 'add finalizer of' : 'apply';
        return this.effect(`${what} ${placeOf(body)}`, () => client.apply(type, body, options));
      },
      applyStatus: (type, body, options) => this.effect(`apply status of ${placeOf(body)}`, () => client.applyStatus(type, body, options)),
      patchFinalizers: (type, at, ...rest) =>
        this.effect(`remove finalizer of ${describePlace({ kind: type.kind, ...at })}`, () => client.patchFinalizers(type, at, ...rest)),
      delete: (type, at, ...rest) =>
        this.effect(`delete ${describePlace({ kind: type.kind, ...at })}`, () => client.delete(type, at, ...rest)),
      createEvent: (event, namespace, options) =>
        this.effect(`create Event ${String(event['reason'])} of ${regardingOf(event)}`, () =>
          client.createEvent(event, namespace, options),
        ),
    };
  }

  #queueOf(queue: Queue): Queue {
    return {
      depth: (...args) => queue.depth(...args),
      send: (queueUrl, messages, options) => {
        const data = dataOf(messages[0]?.body ?? '');
        const what = queueUrl === QUEUE_URLS.deadLetter ? 'dead letter' : (data?.reason ?? 'message');
        const text = `send ${what}${data === undefined ? '' : ` of ${describePlace(data)}`}`;
        return this.effect(text, () => queue.send(queueUrl, messages, options));
      },
    };
  }
}

type Settled<Result> = { readonly kind: 'done'; readonly value: Result } | { readonly kind: 'failed'; readonly error: unknown };

async function settle<Result>(work: () => Promise<Result>): Promise<Settled<Result>> {
  try {
    return { kind: 'done', value: await work() };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** What nobody will ever answer. */
function never(): Promise<never> {
  return new Promise(() => {});
}

function placeOf({ kind, metadata }: AppliedObject): string {
  return describePlace({ kind, ...metadata });
}

function regardingOf(event: Readonly<Record<string, unknown>>): string {
  const { kind, namespace, name } = Object(event['regarding']) as { kind?: string; namespace?: string; name?: string };
  return describePlace({ kind: kind ?? '', ...(namespace === undefined ? {} : { namespace }), name: name ?? '' });
}

function mapLog(log: Log, isAlive: () => boolean): Log {
  const of =
    (level: keyof Log): Log[keyof Log] =>
    (message, fields) => {
      if (isAlive()) log[level](message, fields);
    };
  return { debug: of('debug'), info: of('info'), warn: of('warn'), error: of('error') };
}
