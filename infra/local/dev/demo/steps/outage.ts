import { nameIn } from '../cluster-access.ts';
import { queueNameOf, storyClaim, storyTenant } from '../objects.ts';
import { type Step, StepFailure } from '../story-step.ts';

const harbor = storyTenant('harbor');
const orchard = storyTenant('orchard');
const parcels = storyClaim('parcels');
/** Of function and watcher, each one `deleted`: they look after what a late run may have made of the claim, half a minute later. */
const LOOKING_AFTER = 2;

/** A cluster that nobody reaches for a while, in which things happen all the same. */
export const outage: Step = {
  name: 'cluster down',
  text: 'east; meanwhile one object in it is made, one changed, one deleted',
  async play(stage) {
    const { east, west } = stage;
    await east.apply(parcels, { retentionSeconds: 3600 });
    const claim = await stage.ready(east, parcels);
    const transientRuns = (): number => stage.lines(east, harbor).filter(({ branch }) => branch === 'transient').length;

    // A run that breaks off waits in the queue, and finds the cluster down when it comes again.
    const mend = east.breakReadsOf(harbor);
    try {
      await east.apply(harbor, harbor.spec(70));
      await stage.until(`a run of ${nameIn('east', harbor)} to break off`, () => transientRuns() > 0 || undefined);
      await east.whileDown(async (elsewhere) => {
        mend();
        await elsewhere.apply(orchard, orchard.spec(10));
        await elsewhere.apply(harbor, harbor.spec(80));
        await elsewhere.remove(parcels);
        await west.apply(harbor, harbor.spec(80));
        await stage.ready(west, harbor);
        stage.tell('its message waits and is tried again; west goes on, and is Ready with a change of its own');
        await stage.until(`a run of ${nameIn('east', harbor)} while it is down`, () => transientRuns() > 1 || undefined);
      });
    } finally {
      mend();
    }
    const arrived = await Promise.all([
      stage.ready(east, orchard),
      stage.ready(east, harbor),
      stage.until(`${nameIn('east', parcels)} to be gone`, async () => (await east.get(parcels)) === undefined || undefined),
    ]);
    if (await stage.hasQueue(queueNameOf(claim))) throw new StepFailure(`the queue of ${nameIn('east', parcels)} is still there`);
    stage.keepBack(LOOKING_AFTER);
    stage.tell(`${transientRuns()} runs got no answer; what happened meanwhile is found by listing the cluster again`);
    return `${arrived.length} changes meanwhile, 0 lost; west went on`;
  },
};
