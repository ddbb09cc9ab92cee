import { nameIn } from '../cluster-access.ts';
import { podsOf, storyTenant } from '../objects.ts';
import type { Step } from '../story-step.ts';
import { countSent } from './sent-messages.ts';

const harbor = storyTenant('harbor');
const PODS = 40;

/** A change of a spec. */
export const change: Step = {
  name: 'change',
  text: 'its spec in east, from 20 pods to 40: one message, and the status after it is no news',
  async play(stage) {
    const { east } = stage;
    const sent = await countSent(stage, east);
    await east.apply(harbor, harbor.spec(PODS));
    await stage.ready(east, harbor);
    const quota = await stage.until(`${nameIn('east', harbor.quota)} to allow ${PODS} pods`, async () => {
      const found = await east.get(harbor.quota);
      return podsOf(found) === String(PODS) ? found : undefined;
    });
    await stage.quiet(); // the watcher has seen the status
    await sent.checkAtMost(1, harbor);
    return `the quota in east allows ${podsOf(quota)} pods`;
  },
};
