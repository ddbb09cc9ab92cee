/** The bench: embedded clusters, the watcher, queues in virtual time and the function, in this process and under the hand of a test. */
import { randomUUID } from 'node:crypto';
import { buildEnvelope, type EnvelopeData, encodeEnvelope, REASONS } from '../../../events/envelope.ts';
import { BenchError } from './bench-error.ts';
import type { BenchOptions } from './bench-options.ts';
import { BenchParts } from './bench-parts.ts';
import type { CrashPoint, Effect } from './effects.ts';
import type { Limits } from './pipeline.ts';
import type { DeadLetter, LogLine, RecordedWrite, RunOutcome, SentMessage } from './records.ts';
import type { StoredObject } from './stored-object.ts';
import type { ManifestObject, TestCluster } from './test-cluster.ts';
import { QUEUE_URLS } from './test-queues.ts';

/** Bounds of one `settle`: see {@link Bench.settle}. */
const LIMITS: Limits = { maxRuns: 100, withinSeconds: 86_400 };

/**
 * A bench that runs: clusters are up, CRDs applied, and all watches open.
 *
 * @throws ConfigError for two reconcilers of one kind, and a setting out of its bounds; BenchError for a CRD that is refused, and a kind
 *   that a reconciler needs and no cluster serves
 */
export async function startBench(options: BenchOptions): Promise<Bench> {
  const bench = new Bench(await BenchParts.start(options));
  try {
    await bench.settle();
    bench.clearRecords();
    return bench;
  } catch (error) {
    await bench.close();
    throw error;
  }
}

/**
 * Embedded clusters with the watcher, the queues and the function on them, in virtual time: nothing moves but in {@link settle} and
 * {@link advance}. Methods on objects are those of its first cluster; {@link cluster} has the others. Close it, or hold it by `await using`.
 */
export class Bench implements AsyncDisposable {
  readonly #parts: BenchParts;

  /** Use {@link startBench}. @internal */
  constructor(parts: BenchParts) {
    this.#parts = parts;
  }

  /** The cluster of that name. @throws BenchError `unknown-cluster`, with those that there are */
  cluster(name: string): TestCluster {
    const found = this.#parts.clusters.find((cluster) => cluster.name === name);
    if (found !== undefined) return found;
    throw new BenchError(
      'unknown-cluster',
      `the bench has no cluster ${name}; there are: ${this.#parts.clusters.map((one) => one.name).join(', ')}`,
    );
  }

  get #first(): TestCluster {
    return this.#parts.clusters[0] as TestCluster;
  }

  /**
   * Applies an object, or all that stand in a text of YAML, to the first cluster, as `kubectl apply --server-side` does.
   *
   * @returns as stored: the object, or a list of all
   * @throws BenchError `refused`, with the field's path, where the cluster says no; `bad-manifest`, `unknown-kind`
   */
  apply(manifest: string): Promise<StoredObject[]>;
  apply(manifest: ManifestObject): Promise<StoredObject>;
  apply(manifest: string | ManifestObject): Promise<StoredObject | StoredObject[]> {
    return typeof manifest === 'string' ? this.#first.apply(manifest) : this.#first.apply(manifest);
  }

  /**
   * The object in the first cluster, or undefined where there is none.
   *
   * @param kind  `Greeting`, `greetings`, or with the group where several have the name: `Greeting.platform.example`
   * @param name  `hello`, which is in the namespace default, or `team/hello`
   */
  get(kind: string, name: string): Promise<StoredObject | undefined> {
    return this.#first.get(kind, name);
  }

  /** All objects of a kind in the first cluster, in all namespaces. @param labelSelector  as kubectl takes it: `team=red,stage!=prod` */
  list(kind: string, labelSelector?: string): Promise<StoredObject[]> {
    return this.#first.list(kind, labelSelector);
  }

  /** Changes fields by a merge patch, as somebody else: drift, an annotation, a label; null takes a field away. @throws BenchError `refused` */
  patch(kind: string, name: string, patch: Readonly<Record<string, unknown>>): Promise<StoredObject> {
    return this.#first.patch(kind, name, patch);
  }

  /** The same of its status, as the controller of another kind would write it. @throws BenchError `refused` */
  patchStatus(kind: string, name: string, status: Readonly<Record<string, unknown>>): Promise<StoredObject> {
    return this.#first.patchStatus(kind, name, status);
  }

  /** Asks for its deletion; false where there is none. It goes once its finalizers are off. */
  delete(kind: string, name: string): Promise<boolean> {
    return this.#first.delete(kind, name);
  }

  /** All objects in the first cluster that are kept for this owner, by kind and name. */
  children(owner: StoredObject): Promise<StoredObject[]> {
    return this.#first.children(owner);
  }

  /** Faults of the first cluster's API server, see {@link TestCluster.faults}. They never hit the requests of the test. */
  get faults(): TestCluster['faults'] {
    return this.#first.faults;
  }

  /** The API server of the first cluster: `down`, `up`, `restart` with an older `snapshot`. */
  get server(): TestCluster['server'] {
    return this.#first.server;
  }

  /**
   * Lets watcher, queues and function work until nothing is under way and nothing is to come: retries and the look after a deletion are
   * followed, however long they wait, since their time is virtual. A wake-up that an author asked for by `requeueAfterSeconds` is the
   * rest of a living object; {@link advance} goes on to it.
   *
   * @throws BenchError `busy`, with what is not at rest and why, after `maxRuns` runs of one object (100) or `withinSeconds` (a day);
   *   `crash-unused` at its end, where a {@link crash} has not come
   */
  async settle(limits: Partial<Limits> = {}): Promise<void> {
    await this.#parts.pipeline.settle({ ...LIMITS, ...limits });
    this.#parts.effects.checkStruck();
  }

  /** Lets that much virtual time pass, and all that comes due in it. @throws BenchError `busy` and `crash-unused` as {@link settle} does */
  async advance(seconds: number, limits: Partial<Limits> = {}): Promise<void> {
    await this.#parts.pipeline.advance(seconds, { ...LIMITS, withinSeconds: seconds, ...limits });
    this.#parts.effects.checkStruck();
  }

  /** What the virtual clock shows. */
  get now(): Date {
    return this.#parts.clock.now();
  }

  /** Messages that the work queues took, in order. */
  get messages(): readonly SentMessage[] {
    return this.#parts.queues.sent;
  }

  /** Messages that were given up, in order, with why. */
  get deadLetters(): readonly DeadLetter[] {
    return this.#parts.queues.letters;
  }

  /** What became of each run of the function, in order. */
  get outcomes(): readonly RunOutcome[] {
    return this.#parts.recorder.outcomes;
  }

  /** Writes that the API servers were asked for, by anybody, in order. */
  get writes(): readonly RecordedWrite[] {
    return this.#parts.recorder.writes;
  }

  /** What the function did to the world, in order: where {@link crash} can have it die. */
  get effects(): readonly Effect[] {
    return this.#parts.effects.all;
  }

  /** The texts of all effects since the start, whatever was cleared. */
  get effectTexts(): readonly string[] {
    return this.#parts.effects.texts;
  }

  /** Lines of the watcher's and the function's log, also those of a reconciler's own `log`, in order. */
  get logs(): readonly LogLine[] {
    return this.#parts.recorder.logs;
  }

  /** Forgets messages, letters, outcomes, writes, effects and log lines of before, so that a test sees what follows. */
  clearRecords(): void {
    this.#parts.queues.sent.length = 0;
    this.#parts.queues.letters.length = 0;
    this.#parts.effects.clear();
    this.#parts.recorder.clear();
  }

  /**
   * The function dies at an effect of the next {@link settle} or {@link advance}, which throws where there is none, so that no test passes
   * without its crash. (At the end of the bench it would come too late: of two errors a test runner may show neither.) The message
   * comes again when its visibility ends, to another process. The returned function lifts it.
   *
   * @throws BenchError `bad-crash-point`
   */
  crash(point: CrashPoint): () => void {
    return this.#parts.effects.arm(point, true);
  }

  /** The same at an effect that may be far off. @internal */
  crashSomeTime(point: CrashPoint): void {
    this.#parts.effects.arm(point, false);
  }

  /**
   * Does something outside of the cluster that a reconciler under test asks for, as an effect at which the function can die.
   *
   * @throws BenchError `no-run` while no run is under way: a process that has died is asking, whose work is not done, or the test itself
   */
  async effect<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
    const process = this.#parts.workingProcess;
    if (process !== undefined) return process.effect(text, work);
    const why = 'a process that has died asks for it, or the test, which has to do it without the bench';
    throw new BenchError('no-run', `${text} is not done, since the function is at no run: ${why}`);
  }

  /** Sends what `dogwatch reconcile` sends: the object is to run although nothing changed. */
  async reconcile(kind: string, name: string, cluster: string = this.#first.name): Promise<void> {
    const object = await this.cluster(cluster).get(kind, name);
    const reconciler = this.#parts.reconcilers.find(({ resource }) => resource.kind === object?.kind);
    if (object === undefined || reconciler === undefined) {
      const why = object === undefined ? 'it is not there' : 'its kind has no reconciler';
      throw new BenchError('cannot-reconcile', `${kind} ${name} cannot be run in cluster ${cluster}: ${why}`);
    }
    const { group, version, plural } = reconciler.resource;
    const { namespace, name: objectName, uid, resourceVersion, generation } = object.metadata;
    const data: EnvelopeData = {
      ...{ cluster, group, version, plural, kind: object.kind, ...(namespace === undefined ? {} : { namespace }), name: objectName },
      ...{ uid, resourceVersion, ...(generation === undefined ? {} : { generation }) },
      ...{ reason: 'manual', mustRun: REASONS.manual.mustRun, attempt: 1, firstSeenAt: this.now.toISOString() },
    };
    const body = encodeEnvelope(buildEnvelope(data, { id: randomUUID(), now: this.now }));
    await this.#parts.queues.clientOf('test').send(QUEUE_URLS.bulk, [{ body, delaySeconds: 0, groupId: cluster }]);
  }

  /** The watcher dies with all that it has not sent, and another one starts, which lists anew. */
  restartWatcher(): Promise<void> {
    return this.#parts.restartWatcher();
  }

  /** Ends everything; nothing is left of it. */
  close(): Promise<void> {
    return this.#parts.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
