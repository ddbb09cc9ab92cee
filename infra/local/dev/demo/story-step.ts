/** What a story consists of: steps, and the stage that they play on. */
import type { ObjectAddress, ResourceType } from '../../../../events/resource.ts';
import type { KubernetesObject } from '../../../../functions/core/reconciler.ts';
import type { OutcomeLine } from '../dev-state.ts';

/** One step: something happens to the clusters, and the step ends when what has to follow is there to be read. */
export interface Step<On = Stage> {
  /** A few words, for the summary. */
  readonly name: string;
  /** What happens, in one line. */
  readonly text: string;
  /** @returns what followed, in figures, in one line @throws StepFailure where it did not */
  play(stage: On): Promise<string>;
}

/** A step did not end as it has to; the message says for what it waited, and of which object. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';
}

/** Whose object, for reads and messages. */
export interface StageObject {
  readonly type: ResourceType;
  readonly at: ObjectAddress;
}

export type Spec = Readonly<Record<string, unknown>>;

interface MergePatch {
  readonly body: Readonly<Record<string, unknown>>;
  /** Who the cluster says has written it. */
  readonly fieldManager: string;
}

/** What somebody with kubectl can do. @throws StepFailure for what the cluster refuses */
export interface ClusterAccess {
  get(object: StageObject): Promise<KubernetesObject | undefined>;
  /** Server-side apply by force. */
  apply(object: StageObject, spec?: Spec): Promise<void>;
  patch(object: StageObject, patch: MergePatch): Promise<void>;
  /** Server-side apply of `/status` by another manager than ours. */
  applyStatus(object: StageObject, patch: MergePatch): Promise<void>;
  /** It may be gone already. */
  remove(object: StageObject): Promise<void>;
}

export interface StageCluster extends ClusterAccess {
  readonly name: string;
  /** From now on what the function reads of this object breaks off, and what the story reads too; the returned function ends that. */
  breakReadsOf(object: StageObject): () => void;
  /**
   * The cluster answers nobody while `act` runs, save whoever reaches it by another API server, as `act` does; what is written there
   * is in the cluster when it answers again.
   */
  whileDown(act: (elsewhere: ClusterAccess) => Promise<void>): Promise<void>;
}

/** A dead letter, as far as the story tells of it. */
export interface Letter {
  readonly cluster: string;
  readonly kind: string;
  readonly name: string;
  readonly code: string;
}

/** Everything that a step sees, and can do. */
export interface Stage {
  readonly east: StageCluster;
  readonly west: StageCluster;
  /** A folder that is removed with the run, however that ends. */
  readonly dir: string;
  readonly signal: AbortSignal;
  /** One more line, in the middle of a step. */
  tell(text: string): void;
  /**
   * What `look` comes to once that is not undefined; an error that it throws is thrown.
   *
   * @param what  of which object, and what it waits for: `Tenant/acme in east: Ready`
   * @param state what there is instead, for the failure
   * @throws StepFailure after the bound of a wait, with both
   */
  until<Found>(
    what: string,
    look: () => Found | undefined | Promise<Found | undefined>,
    state?: () => string | Promise<string>,
  ): Promise<Found>;
  /**
   * The object once its newest generation is in force: Ready is True for it.
   *
   * @throws StepFailure also at once, where it is Stalled and nothing is under way to change that
   */
  ready(cluster: StageCluster, object: StageObject, options?: { readonly isUnderWay?: boolean }): Promise<KubernetesObject>;
  /** Lines of the function since the step began; with an object those of this one. */
  lines(cluster?: StageCluster, object?: StageObject): readonly OutcomeLine[];
  /** Resolves when nothing waits anywhere: not in the watcher, not in a queue, not in the function. */
  quiet(): Promise<void>;
  /** So many messages are delayed for longer than the story takes: for `quiet`, they do not wait. */
  keepBack(count: number): void;
  /** Messages that the watcher has sent for the cluster since it began. */
  sentByWatcher(cluster: StageCluster): Promise<number>;
  /** The letters that are in the dead-letter queue; they stay there. */
  letters(): Promise<readonly Letter[]>;
  /** How many there are, also of those that somebody has received and that nobody else sees now. */
  letterCount(): Promise<number>;
  /** Whether SQS has a queue of the name. */
  hasQueue(name: string): Promise<boolean>;
  /** Runs a command as in another terminal, and returns what it printed. @throws StepFailure where its exit code is not 0 */
  dogwatch(...words: readonly string[]): Promise<string>;
}
