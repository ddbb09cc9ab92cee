import { STALLED } from '../../../../../functions/core/conditions.ts';
import { nameIn } from '../cluster-access.ts';
import { storyTenant } from '../objects.ts';
import { conditionOf, readyText } from '../readiness.ts';
import type { Step } from '../story-step.ts';
import { counted } from '../summary.ts';

const quarry = storyTenant('quarry');

/** An object that no attempt can bring about. */
export const deadLetter: Step = {
  name: 'dead letter',
  text: "Tenant quarry cannot succeed: the namespace that it needs is somebody else's",
  async play(stage) {
    const { east } = stage;
    await east.apply(quarry.namespace);
    await east.apply(quarry, quarry.spec(20));
    const stalled = await stage.until(
      `${nameIn('east', quarry)} to be Stalled`,
      async () => {
        const found = await east.get(quarry);
        return found === undefined ? undefined : conditionOf(found, STALLED);
      },
      async () => readyText(await east.get(quarry), stage.lines(east, quarry).at(-1)),
    );
    const letter = await stage.until(`the dead letter of ${nameIn('east', quarry)}`, async () =>
      (await stage.letters()).find((each) => each.cluster === 'east' && each.name === quarry.at.name),
    );
    await stage.quiet();
    const { length } = await stage.letters();
    return `${stalled.type}, ${counted(length, 'dead letter')}: ${letter.code}`;
  },
};
