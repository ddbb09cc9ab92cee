/** A cluster, a queue, a clock and a reconciler of Widgets around one invocation of the function. */
import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import * as z from 'zod';
import type { EnvelopeData } from '../../../events/envelope.ts';
import { OWNER_LABEL, OWNER_REF_ANNOTATION } from '../../../events/labels.ts';
import { type ClusterName, clusterName, type ResourceType } from '../../../events/resource.ts';
import type { KubernetesClient } from '../../../functions/adapters/kubernetes/port.ts';
import type { Metrics } from '../../../functions/adapters/metrics.ts';
import type { LogFields } from '../../../functions/adapters/telemetry.ts';
import { configMaps, namespaces } from '../../../functions/core/kinds.ts';
import type { Metric } from '../../../functions/core/metric.ts';
import {
  type CustomObject,
  defineReconciler,
  type FinalizeAnswer,
  type FinalizeInput,
  type KubernetesObject,
  type Plan,
  type ReconcileInput,
  type Reconciler,
} from '../../../functions/core/reconciler.ts';
import { defineResource } from '../../../functions/core/resource-definition.ts';
import type { RetryDeclaration } from '../../../functions/core/retry-declaration.ts';
import type { WatchDeclaration } from '../../../functions/core/watch-rules.ts';
import { type BatchDependencies, processBatch } from '../../../functions/reconcile/batch.ts';
import { createCircuits } from '../../../functions/reconcile/circuits.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { FakeQueue } from '../../fakes/queue.ts';
import {
  BULK_ARN,
  DEAD_LETTER_QUEUE_URL,
  dataOf,
  LIVE_ARN,
  QUEUE_URLS,
  type RecordOverrides,
  rawRecord,
  recordOf,
  START,
} from './records.ts';

/** A Widget wants ConfigMaps in a Namespace of its own: `config` names them. */
export interface WidgetSpec {
  config: string[];
}
export interface WidgetStatus {
  count: number;
}

export const widgets = defineResource<WidgetSpec, WidgetStatus>({
  group: 'platform.example',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Cluster',
  spec: z.object({ config: z.array(z.string()) }),
  status: z.object({ count: z.number() }),
});

export type WidgetInput = ReconcileInput<WidgetSpec, WidgetStatus>;
export type FinalizeWidgetInput = FinalizeInput<WidgetSpec, WidgetStatus>;

/** The Plan that a Widget of these names asks for. */
export function planFor(object: CustomObject<WidgetSpec, WidgetStatus>): Plan<WidgetStatus> {
  const namespace = `widget-${object.metadata.name}`;
  return {
    apply: [
      ...object.spec.config.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { name } })),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ],
    status: { count: object.spec.config.length },
  };
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

export class Harness {
  readonly clock = new FakeClock({ start: START });
  readonly east = new FakeCluster({ name: 'east', now: () => this.clock.now() });
  readonly west = new FakeCluster({ name: 'west', now: () => this.clock.now() });
  readonly queue = new FakeQueue();
  readonly lines: LogLine[] = [];
  /** What was told in numbers, by flush. */
  readonly flushes: Metric[][] = [];
  readonly log = { debug: this.#line('debug'), info: this.#line('info'), warn: this.#line('warn'), error: this.#line('error') };
  /** They outlive an invocation, as the execution environment does. */
  circuits = createCircuits({ openSeconds: 10, openMaxSeconds: 300 }, this.clock, this.log);
  /** Inputs of every call of the author's function. */
  readonly inputs: WidgetInput[] = [];
  /** The author's function; tests replace it. */
  author: (input: WidgetInput) => unknown = ({ object }) => planFor(object);
  /** Where it is set, the kind has this finalizer. */
  finalizer: string | undefined;
  /** Inputs of every call of the author's finalize. */
  readonly finalized: FinalizeWidgetInput[] = [];
  /** The author's finalize; tests replace it. */
  finalize: (input: FinalizeWidgetInput) => unknown = () => ({ done: true });
  revision = 1;
  /** The kind as its author declares it; tests replace its schema. */
  resource = widgets;
  /** What it declares to read besides what it owns. */
  reads: readonly ResourceType[] = [];
  /** What it declares of what it wants to see. */
  watch: WatchDeclaration = {};
  /** What it declares of how long it is tried. */
  retry: RetryDeclaration = {};
  /** Reconcilers of other kinds. */
  others: readonly Reconciler[] = [];
  remainingMs = 30_000;
  queueLoads = 0;

  dependencies(): BatchDependencies {
    let waiting: Metric[] = [];
    const metrics: Metrics = {
      add: (added) => waiting.push(...added),
      flush: () => {
        this.flushes.push(waiting);
        waiting = [];
      },
    };
    return {
      clusters: new Map<ClusterName, KubernetesClient>([
        [clusterName('east'), this.east.client],
        [clusterName('west'), this.west.client],
      ]),
      reconcilers: [this.reconciler(), ...this.others],
      clock: this.clock,
      log: this.log,
      circuits: this.circuits,
      metrics,
      queue: async () => {
        this.queueLoads += 1;
        return this.queue;
      },
      queueUrls: { ...QUEUE_URLS, deadLetter: DEAD_LETTER_QUEUE_URL },
      functionVersion: '7',
      budgets: { retryBaseSeconds: 2, maxAgeSeconds: 21_600, maxAttempts: 10, overtakenMaxAttempts: 20 },
      recordDeadlineSeconds: 20,
      functionTimeoutSeconds: 30,
    };
  }

  /** The ids that one invocation with these records reports as failed. */
  async invoke(...records: SQSRecord[]): Promise<string[]> {
    const answer = await this.finish(this.begin(...records));
    return answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  }

  /** Starts an invocation beside whatever else goes on; nothing moves the time. */
  begin(...records: SQSRecord[]): Promise<SQSBatchResponse> {
    const startedAt = this.clock.now().getTime();
    const invocation = { remainingMs: () => this.remainingMs - (this.clock.now().getTime() - startedAt) };
    return processBatch({ Records: records }, invocation, this.dependencies());
  }

  /** What `work` comes to; time moves on whenever nothing else does. */
  finish<Result>(work: Promise<Result>): Promise<Result> {
    return this.clock.finish(work);
  }

  /** One invocation with one record for the Widget as it is now; returns the line logged for it. */
  async deliver(over: Partial<EnvelopeData> = {}, record: RecordOverrides = {}): Promise<LogFields> {
    await this.invoke(this.recordFor(over, record));
    return this.lastRun();
  }

  /** Delivers the last message that was sent to the queue of either lane, once its delay is over. */
  async redeliver(record: RecordOverrides = {}): Promise<LogFields> {
    const last = this.queue.accepted.at(-1);
    if (last === undefined) throw new Error('nothing was sent');
    await this.clock.advance(last.message.delaySeconds * 1000);
    const arn = last.queueUrl === QUEUE_URLS.bulk ? BULK_ARN : LIVE_ARN;
    await this.invoke(rawRecord(last.message.body, { arn, ...record }));
    return this.lastRun();
  }

  /** A record whose envelope tells of the Widget `name` of `east` (or `cluster`) as it is now. */
  recordFor(over: Partial<EnvelopeData> = {}, record: RecordOverrides = {}): SQSRecord {
    const cluster = over.cluster === 'west' ? this.west : this.east;
    const metadata = cluster.object(widgets, { name: over.name ?? 'a' })?.metadata;
    const { uid, resourceVersion, generation } = metadata ?? {};
    return recordOf({ ...dataOf(), uid, resourceVersion, generation, ...over }, record);
  }

  /** Fields of the last line about a run. */
  lastRun(): LogFields {
    const line = this.lines.findLast(({ message }) => message === 'record processed');
    if (line === undefined) throw new Error('no run was logged');
    return line.fields;
  }

  createWidget(name = 'a', config: string[] = ['one'], cluster = this.east): KubernetesObject {
    return cluster.create(widgets, { name }, { spec: { config } });
  }

  widget(name = 'a', cluster = this.east): KubernetesObject | undefined {
    return cluster.object(widgets, { name });
  }

  setConfig(config: string[], name = 'a'): KubernetesObject {
    return this.east.edit(widgets, { name }, (draft) => {
      draft['spec'] = { config };
    });
  }

  label(value: string, name = 'a'): KubernetesObject {
    return this.east.edit(widgets, { name }, (draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), labels: { touched: value } };
    });
  }

  status(name = 'a', cluster = this.east): Record<string, unknown> {
    return (this.widget(name, cluster)?.['status'] ?? {}) as Record<string, unknown>;
  }

  condition(type: string, name = 'a'): Record<string, unknown> | undefined {
    const conditions = (this.status(name)['conditions'] ?? []) as Record<string, unknown>[];
    return conditions.find((condition) => condition['type'] === type);
  }

  /** Names of the ConfigMaps that belong to the Widget. */
  configNames(name = 'a'): string[] {
    return this.east
      .objects(configMaps)
      .map(({ metadata }) => metadata)
      .filter(({ namespace }) => namespace === `widget-${name}`)
      .map((metadata) => metadata.name);
  }

  /** A ConfigMap in the Widget's namespace made by somebody; `owner`: with our marks of an owner of that uid. */
  createConfig(config: string, owner?: { uid: string; finalizers?: string[] }): KubernetesObject {
    const marks =
      owner === undefined
        ? {}
        : {
            labels: { [OWNER_LABEL]: owner.uid },
            annotations: { [OWNER_REF_ANNOTATION]: 'east/platform.example/Widget//a' },
            ownerReferences: [{ apiVersion: 'platform.example/v1', kind: 'Widget', name: 'a', uid: owner.uid }],
            ...(owner.finalizers === undefined ? {} : { finalizers: owner.finalizers }),
          };
    return this.east.create(configMaps, { namespace: 'widget-a', name: config }, { metadata: marks });
  }

  /** `verb Kind` of every request since the last call, Events left out. */
  takeRequests(cluster = this.east): string[] {
    const taken = cluster.requests.filter(({ verb }) => verb !== 'createEvent').map(({ verb, kind }) => `${verb} ${kind.split('.')[0]}`);
    cluster.requests.length = 0;
    return taken;
  }

  #line(level: string): (message: string, fields?: LogFields) => void {
    return (message, fields = {}) => void this.lines.push({ level, message, fields });
  }

  private reconciler(): Reconciler {
    const finalize = async (input: FinalizeWidgetInput): Promise<FinalizeAnswer> => {
      this.finalized.push(input);
      return (await this.finalize(input)) as FinalizeAnswer;
    };
    const reconciler = defineReconciler<WidgetSpec, WidgetStatus>({
      resource: this.resource,
      revision: this.revision,
      owns: [namespaces, configMaps],
      reads: this.reads,
      watch: this.watch,
      retry: this.retry,
      ...(this.finalizer === undefined ? {} : { finalizer: this.finalizer, finalize }),
      reconcile: async (input) => {
        this.inputs.push(input);
        return (await this.author(input)) as Plan<WidgetStatus>;
      },
    });
    return reconciler as unknown as Reconciler;
  }
}
