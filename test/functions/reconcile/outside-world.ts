/**
 * Widgets that make something outside of the cluster, a queue with delays and redelivery around the function, and an
 * execution environment that can be killed at any of its calls.
 */
import type { SQSRecord } from 'aws-lambda';
import type { EnvelopeData } from '../../../events/envelope.ts';
import type { KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import type { Queue } from '../../../functions/adapters/queue-port.ts';
import type { KubernetesObject, Reconciler } from '../../../functions/core/reconciler.ts';
import type { BatchDependencies } from '../../../functions/reconcile/batch.ts';
import { Harness, widgets } from './harness.ts';
import { BULK_ARN, DEAD_LETTER_QUEUE_URL, LIVE_ARN, QUEUE_URLS, rawRecord } from './records.ts';

export const FINALIZER = 'platform.example/widget';
export const FOREIGN = 'example.com/other';
const VISIBILITY_MS = 180_000;

/** What was made outside, by the uid of its owner: looked for before it is made, so making it twice shows. */
export class OutsideWorld {
  readonly things = new Map<string, string>();
  /** The uid of each creation. */
  readonly made: string[] = [];

  ensure(uid: string, content: string): void {
    if (!this.things.has(uid)) this.made.push(uid);
    this.things.set(uid, content);
  }
}

/** When a process dies: at which of its calls, before the call has its effect or after. */
export interface Death {
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** Every call that leaves one process goes through it. Once dead, none does any more, and none ever answers. */
class Process {
  readonly death: Death | undefined;
  readonly #died = Promise.withResolvers<void>();
  callCount = 0;
  isDead = false;

  constructor(death: Death | undefined) {
    this.death = death;
  }

  get died(): Promise<void> {
    return this.#died.promise;
  }

  async pass<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    if (this.isDead) return this.#never();
    this.callCount += 1;
    const isLast = this.callCount === this.death?.at;
    if (isLast && this.death?.when === 'before') return this.#die();
    const result = await work();
    return isLast || this.isDead ? this.#die() : result;
  }

  #die(): Promise<never> {
    this.isDead = true;
    this.#died.resolve();
    return this.#never();
  }

  #never(): Promise<never> {
    return new Promise(() => {});
  }

  wrap<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? (...args: unknown[]) => this.pass(() => value.apply(target, args)) : value;
      },
    });
  }
}

interface Message {
  readonly record: SQSRecord;
  dueMs: number;
  receiveCount: number;
}

export class OutsideHarness extends Harness {
  readonly outside = new OutsideWorld();
  /** The author waits for this before it makes anything outside. */
  beforeOutside: () => void | Promise<void> = () => {};
  /** The process of the next invocation dies so. */
  nextDeath: Death | undefined;
  /** True once a process was killed. */
  wasKilled = false;
  #process = new Process(undefined);
  readonly #messages: Message[] = [];
  #takenCount = 0;

  constructor() {
    super();
    this.finalizer = FINALIZER;
    // No children: nobody collects those of an object that is gone.
    this.author = ({ object }) => ({ status: { count: object.spec.config.length } });
  }

  override dependencies(): BatchDependencies {
    const process = this.#process;
    const { clusters, reconcilers, queue, ...rest } = super.dependencies();
    return {
      ...rest,
      clusters: new Map([...clusters].map(([name, client]) => [name, process.wrap<KubernetesClient>(client)])),
      reconcilers: reconcilers.map((reconciler) => this.#acting(reconciler, process)),
      queue: async () => process.wrap<Queue>(await queue()),
    };
  }

  #acting(reconciler: Reconciler, process: Process): Reconciler {
    const { finalization } = reconciler;
    if (finalization === undefined) return reconciler;
    return {
      ...reconciler,
      reconcile: async (input) => {
        await this.beforeOutside();
        await process.pass(() => this.outside.ensure(input.object.metadata.uid, JSON.stringify(input.object.spec)));
        return reconciler.reconcile(input);
      },
      finalization: {
        ...finalization,
        finalize: async (input) => {
          const answer = await finalization.finalize(input);
          if (answer?.done === true) await process.pass(() => this.outside.things.delete(input.uid));
          return answer;
        },
      },
    };
  }

  /** Puts a message about the Widget as it is now, or as `over` says, on the queue. */
  send(over: Partial<EnvelopeData> = {}, delaySeconds = 0): void {
    this.#messages.push({ record: this.recordFor(over), dueMs: this.clock.now().getTime() + delaySeconds * 1000, receiveCount: 1 });
  }

  /** Delivers what is on the queue, one message after the other, until nothing is left. @throws Error if that takes too long */
  async drain(): Promise<void> {
    for (let deliveries = 0; deliveries < 60; deliveries += 1) {
      if (!(await this.deliverNext())) return;
    }
    throw new Error('messages go round and round');
  }

  /** Delivers the message that is due first, once it is; false where there is none. */
  async deliverNext(): Promise<boolean> {
    this.#take();
    const next = this.#messages.toSorted((a, b) => a.dueMs - b.dueMs)[0];
    if (next !== undefined) await this.#deliver(next);
    return next !== undefined;
  }

  /** Messages that are on the queue. */
  get waitingCount(): number {
    this.#take();
    return this.#messages.length;
  }

  /** Delivers the message that {@link send} took last, out of turn. */
  async deliverLast(): Promise<void> {
    const last = this.#messages.at(-1);
    if (last !== undefined) await this.#deliver(last);
  }

  async #deliver(message: Message): Promise<void> {
    await this.clock.advance(Math.max(0, message.dueMs - this.clock.now().getTime()));
    const process = new Process(this.nextDeath);
    this.nextDeath = undefined;
    this.#process = process;
    const attributes = { ...message.record.attributes, ApproximateReceiveCount: String(message.receiveCount) };
    const failed = process.died.then(() => [message.record.messageId]);
    const work = this.begin({ ...message.record, attributes });
    const ids = await this.finish(
      Promise.race([failed, work.then(({ batchItemFailures }) => batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))]),
    );
    this.wasKilled ||= process.isDead;
    if (ids.length === 0) this.#messages.splice(this.#messages.indexOf(message), 1);
    message.dueMs = this.clock.now().getTime() + VISIBILITY_MS;
    message.receiveCount += 1;
  }

  /** Moves what the function has sent to the queue. */
  #take(): void {
    const { accepted } = this.queue;
    for (; this.#takenCount < accepted.length; this.#takenCount += 1) {
      const sent = accepted[this.#takenCount];
      if (sent === undefined || sent.queueUrl === DEAD_LETTER_QUEUE_URL) continue;
      const arn = sent.queueUrl === QUEUE_URLS.bulk ? BULK_ARN : LIVE_ARN;
      const dueMs = this.clock.now().getTime() + sent.message.delaySeconds * 1000;
      this.#messages.push({ record: rawRecord(sent.message.body, { arn }), dueMs, receiveCount: 1 });
    }
  }

  /** Creates `a` with these finalizers beside whatever else. */
  createWith(finalizers: readonly string[], config = ['one']): KubernetesObject {
    return this.east.create(widgets, { name: 'a' }, { spec: { config }, metadata: { finalizers } });
  }

  /** Somebody deletes `a`; what has a finalizer stays. */
  deleteWidget(): void {
    this.east.delete(widgets, { name: 'a' });
  }

  setMetadata(change: (metadata: Record<string, unknown>) => Record<string, unknown>): void {
    this.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['metadata'] = change(draft['metadata'] as Record<string, unknown>);
    });
  }

  setFinalizers(finalizers: readonly string[]): void {
    this.setMetadata(({ finalizers: _, ...rest }) => (finalizers.length === 0 ? rest : { ...rest, finalizers }));
  }

  uid(): string {
    return this.widget()?.metadata.uid ?? '';
  }

  finalizers(): readonly string[] {
    return this.widget()?.metadata.finalizers ?? [];
  }

  /** Data of the messages that SQS has taken on either lane. */
  sent(): EnvelopeData[] {
    return this.queue.envelopes(QUEUE_URLS.live).map(({ data }) => data);
  }
}
