import { STALLED } from '../../../../../functions/core/conditions.ts';
import { nameIn } from '../cluster-access.ts';
import { storyTenant } from '../objects.ts';
import { conditionOf } from '../readiness.ts';
import { type Step, StepFailure } from '../story-step.ts';

const quarry = storyTenant('quarry');

/** The cause is taken away, and the object run by hand. */
export const repair: Step = {
  name: 'repair',
  text: 'that namespace is removed, then: dogwatch reconcile tenant/quarry --cluster east',
  async play(stage) {
    const { east } = stage;
    await east.remove(quarry.namespace);
    await stage.until(
      `${nameIn('east', quarry.namespace)} to be gone`,
      async () => (await east.get(quarry.namespace)) === undefined || undefined,
    );
    await stage.reconcile(east, quarry);
    const repaired = await stage.ready(east, quarry, { isUnderWay: true });
    if (conditionOf(repaired, STALLED) !== undefined) throw new StepFailure(`${nameIn('east', quarry)} is Ready and Stalled at once`);
    const { length } = await stage.letters();
    stage.tell('the letter stays in its queue, as a record of what happened; a later release replays letters');
    return `Ready, no longer ${STALLED}; ${length} ${length === 1 ? 'letter stays' : 'letters stay'}`;
  },
};
