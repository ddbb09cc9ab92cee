import { nameIn } from '../cluster-access.ts';
import { type Stage, type StageCluster, type StageObject, StepFailure } from '../story-step.ts';
import { counted } from '../summary.ts';

/** Messages that the watcher has sent for a cluster from a moment on. */
export interface SentMessages {
  /**
   * How many, in a step that is about this object only; undefined where that is not known, because the watcher was begun anew.
   *
   * @param what  what was written, for the failure
   * @throws StepFailure where there are more than `most`, which is one for each change of a spec, and so none for anything else
   */
  checkAtMost(most: number, object: StageObject, what?: string): Promise<number | undefined>;
}

/** Counts from now on. */
export async function countSent(stage: Pick<Stage, 'sentByWatcher'>, cluster: StageCluster): Promise<SentMessages> {
  const before = await stage.sentByWatcher(cluster);
  return {
    async checkAtMost(most, object, what = counted(most, 'change')) {
      const sent = (await stage.sentByWatcher(cluster)) - before;
      // A watcher that was begun anew, because its code was saved meanwhile, counts from nothing.
      if (sent < 0) return undefined;
      if (sent <= most) return sent;
      throw new StepFailure(`${nameIn(cluster.name, object)}: of ${what}, the watcher has made ${counted(sent, 'message')}, not ${most}`);
    },
  };
}
