import { storyClaim, storyTenant } from '../objects.ts';
import type { Step } from '../story-step.ts';

const acme = storyTenant('acme');
const jobs = storyClaim('jobs');

/** What every development run begins with. */
export const samples: Step = {
  name: 'samples',
  text: 'Tenant acme and QueueClaim jobs, as every run applies them to both clusters',
  async play(stage) {
    const { east, west } = stage;
    await Promise.all([east, west].flatMap((cluster) => [stage.ready(cluster, acme), stage.ready(cluster, jobs)]));
    return 'all 4 are Ready';
  },
};
