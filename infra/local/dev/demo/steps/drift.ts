import { nameIn } from '../cluster-access.ts';
import { podsOf, storyTenant } from '../objects.ts';
import type { Step } from '../story-step.ts';
import { counted } from '../summary.ts';

const harbor = storyTenant('harbor');

/** Somebody damages a child, and then deletes it. */
export const drift: Step = {
  name: 'drift and repair',
  text: 'its quota in east is raised by hand, then deleted, and nobody says so',
  async play(stage) {
    const { east } = stage;
    const planned = podsOf(await east.get(harbor.quota));
    const repaired = (not: (uid: string) => boolean): Promise<string> =>
      stage.until(
        `${nameIn('east', harbor.quota)} to allow ${planned} pods again`,
        async () => {
          const found = await east.get(harbor.quota);
          return found !== undefined && podsOf(found) === planned && !not(found.metadata.uid) ? found.metadata.uid : undefined;
        },
        async () => `it allows ${podsOf(await east.get(harbor.quota)) ?? 'nothing, for it is gone'}`,
      );
    await east.patch(harbor.quota, { body: { spec: { hard: { pods: '999' } } }, fieldManager: 'somebody' });
    const uid = await repaired(() => false);
    await east.remove(harbor.quota);
    await repaired((found) => found === uid);
    await stage.quiet(); // the run tells of itself after the quota is there
    return `put right both times, by ${counted(stage.lines(east, harbor).length, 'run')}`;
  },
};
