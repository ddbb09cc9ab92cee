import { storyTenant } from '../objects.ts';
import type { Step } from '../story-step.ts';

const harbor = storyTenant('harbor');

/** A new object in two clusters. */
export const create: Step = {
  name: 'create',
  text: 'Tenant harbor in both clusters: a namespace, a quota and two role bindings each',
  async play(stage) {
    const { east, west } = stage;
    await Promise.all([east.apply(harbor, harbor.spec(20)), west.apply(harbor, harbor.spec(20))]);
    await Promise.all([stage.ready(east, harbor), stage.ready(west, harbor)]);
    return 'Ready in east and west';
  },
};
