/** What must never happen on the way, and what must be so in the end. */
import { OWNER_LABEL } from '../../events/labels.ts';
import { groupKind } from '../../events/resource.ts';
import { configMaps } from '../../functions/core/kinds.ts';
import type { KubernetesObject } from '../../functions/core/reconciler.ts';
import type { Change } from '../fakes/object-store.ts';
import type { ApiServer } from './api-server.ts';
import { FINALIZER, type KindName, specOf, type World, wantedChildren, widgets } from './kinds.ts';
import { type SimulatedProcess, shortUid } from './process.ts';
import { QUEUE_URLS, type StoredMessage } from './sqs.ts';

/** A `deleted` message of a run waits at least so long: until every run that saw the object alive is over. */
const DELETED_DELAY_MIN_SECONDS = 35;

export class Invariants {
  /** What was found, in order: a name and what happened. */
  readonly findings: { readonly name: string; readonly what: string }[] = [];
  /** True where one run at a time is under way: then also what late runs may do counts. */
  isAlone = false;
  readonly #kind: KindName;
  readonly #world: World;
  readonly #values = new Map<string, number>();

  constructor(kind: KindName, world: World) {
    this.#kind = kind;
    this.#world = world;
  }

  found(name: string, what: string): void {
    this.findings.push({ name, what });
  }

  /** Of the stored history: `by` is undefined for what somebody else wrote. */
  seeChange({ type, kind, object, before }: Change, by: SimulatedProcess | undefined): void {
    if (kind !== groupKind(widgets)) return;
    const { uid, generation } = object.metadata;
    const who = `${by?.name ?? 'somebody'}, uid ${shortUid(uid)} generation ${generation}`;
    if (type === 'ADDED' && by !== undefined && !by.isOfOtherHistory) this.found('resurrected', who);
    if (type === 'DELETED') {
      this.#seeEnd(object, before, by, who);
      return;
    }
    if (!this.#values.has(`${uid}/${generation}`) || by === undefined) this.#values.set(`${uid}/${generation}`, specOf(object)?.value);
    // After a restore versions are given anew, so that they guard nothing of what began before.
    if (by === undefined || by.isOfOtherHistory || before === undefined) return;
    const [was, is] = [statusOf(before), statusOf(object)];
    if ((is.observedGeneration ?? 0) < (was.observedGeneration ?? 0)) {
      this.found('status-regress', `${who}: observedGeneration ${was.observedGeneration} became ${is.observedGeneration}`);
    }
    if (is.uid !== undefined && is.uid !== uid) this.found('status-of-other-uid', `${who}: the status is of uid ${shortUid(is.uid)}`);
    const wanted = this.#values.get(`${uid}/${is.observedGeneration}`);
    if (is.observedGeneration !== undefined && is.value !== wanted) {
      this.found('status-of-other-spec', `${who}: the status says ${is.value}, generation ${is.observedGeneration} wants ${wanted}`);
    }
    this.#seeFinalizer(before, object, who);
  }

  /** Of a message that SQS has taken; `by` is undefined for an operator. */
  seeMessage({ queueUrl, body }: StoredMessage, delaySeconds: number, by: SimulatedProcess | undefined): void {
    if (by === undefined) return;
    const { data, time } = JSON.parse(body) as { data: Record<string, unknown>; time: string };
    if (by.name === 'watcher') {
      if (this.#kind === 'B' && data['reason'] === 'deleted' && delaySeconds < DELETED_DELAY_MIN_SECONDS) {
        this.found('deleted-not-delayed', `watcher: deleted of ${data['name']} with ${delaySeconds} s`);
      }
      return;
    }
    const what = `${by.name}: ${data['reason']} of ${data['name']}`;
    if (queueUrl === QUEUE_URLS.deadLetter) {
      const { code } = (data['diagnosis'] ?? {}) as { code?: string };
      this.found('false-dead-letter', `${what}: ${code}`);
    } else if (data['reason'] === 'deleted' && data['firstSeenAt'] === time && delaySeconds < DELETED_DELAY_MIN_SECONDS) {
      this.found('deleted-not-delayed', `${what} with ${delaySeconds} s`);
    } else if (delaySeconds < 1) {
      this.found('sent-at-once', what);
    }
  }

  /**
   * What is not as it should be once nothing is under way any more.
   *
   * @param chains    wake-ups that wait
   * @param chainMax  of one object: a run that dies between send and acknowledgement leaves two, until both are due
   */
  problems(api: ApiServer, chains: readonly StoredMessage[], chainMax: number): string[] {
    const objects = api.cluster.objects(widgets);
    const children = api.cluster.objects(configMaps);
    return [
      ...objects.flatMap((object) => this.#problemsOf(object, children)),
      ...children
        .filter(({ metadata }) => !objects.some((object) => object.metadata.uid === metadata.labels?.[OWNER_LABEL]))
        .map(({ metadata }) => `child: ${metadata.name} belongs to no object`),
      ...[...this.#world.effects.keys()]
        .filter((uid) => !objects.some((object) => object.metadata.uid === uid))
        .map((uid) => `effect-leak: uid ${shortUid(uid)} is gone`),
      ...(this.#kind === 'C' ? objects.flatMap((object) => chainProblem(object, chains, chainMax)) : []),
    ];
  }

  #problemsOf(object: KubernetesObject, children: readonly KubernetesObject[]): string[] {
    const { uid, name, generation, deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp !== undefined) return [`deletion: ${name} is still being deleted`];
    const status = statusOf(object);
    const { value } = specOf(object);
    const problems: string[] = [];
    if (status.observedGeneration !== generation || status.value !== value || status.ready !== 'True') {
      problems.push(`status: ${name} generation ${generation} value ${value}: ${JSON.stringify(status)}`);
    }
    if (this.#kind === 'B') {
      if (this.#world.effects.get(uid) !== value) problems.push(`effect: ${name} wants ${value}, there is ${this.#world.effects.get(uid)}`);
      if (!finalizers.includes(FINALIZER)) problems.push(`finalizer: ${name} has none`);
      return problems;
    }
    const wanted = [...wantedChildren({ ...object, spec: specOf(object) })].map(([child, text]) => `${child}=${text}`).sort();
    const there = children
      .filter(({ metadata }) => metadata.labels?.[OWNER_LABEL] === uid)
      .map((child) => `${child.metadata.name}=${(child['data'] as { value?: string } | undefined)?.value}`)
      .sort();
    if (wanted.join() !== there.join()) problems.push(`child: ${name} wants [${wanted}], there are [${there}]`);
    return problems;
  }

  #seeFinalizer(before: KubernetesObject, after: KubernetesObject, who: string): void {
    const [was, is] = [before, after].map(({ metadata }) => metadata.finalizers?.includes(FINALIZER) ?? false);
    if (was && !is && after.metadata.deletionTimestamp === undefined) this.found('finalizer-lost', who);
    if (was && !is) this.#seeFinalizerOff(after, who);
    if (!was && is && after.metadata.deletionTimestamp !== undefined) this.found('finalizer-added-while-deleting', who);
  }

  #seeEnd(object: KubernetesObject, before: KubernetesObject | undefined, by: SimulatedProcess | undefined, who: string): void {
    if (by === undefined || by.isOfOtherHistory) return;
    const isDeleting = (before ?? object).metadata.deletionTimestamp !== undefined;
    if (!isDeleting) this.found('deleted-by-us', who);
    this.#seeFinalizerOff(object, who);
  }

  #seeFinalizerOff({ metadata: { uid } }: KubernetesObject, who: string): void {
    if (this.isAlone && this.#world.effects.has(uid)) this.found('finalizer-off-while-effect-exists', who);
  }
}

function statusOf(object: KubernetesObject) {
  const status = (object['status'] ?? {}) as Record<string, unknown>;
  const conditions = (status['conditions'] ?? []) as { type: string; status: string }[];
  return {
    observedGeneration: status['observedGeneration'] as number | undefined,
    value: status['value'] as number | undefined,
    uid: status['uid'] as string | undefined,
    next: status['nextReconcileTime'] as string | undefined,
    ready: conditions.find(({ type }) => type === 'Ready')?.status,
  };
}

/** A wake-up for the time that is stored; in the end one, and no other message. */
function chainProblem(object: KubernetesObject, chains: readonly StoredMessage[], chainMax: number): string[] {
  const { name } = object.metadata;
  const { next } = statusOf(object);
  const own = chains
    .map(({ body }) => (JSON.parse(body) as { data: { name: string; notBefore?: string } }).data)
    .filter((data) => data.name === name);
  if (specOf(object).everySeconds === undefined) return next === undefined ? [] : [`chain: ${name} wants none, and ${next} is stored`];
  if (next === undefined) return [`chain: ${name} has no time stored`];
  const live = own.filter(({ notBefore }) => notBefore !== undefined && Date.parse(notBefore) === Date.parse(next));
  const isRight = live.length >= 1 && live.length <= chainMax && (chainMax > 1 || own.length === 1);
  return isRight ? [] : [`chain: ${name} has ${live.length} wake-ups for ${next}, and ${own.length} in all`];
}
