import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { STALLED } from '../../../../../functions/core/conditions.ts';
import type { ApplySummary } from '../../../../../functions/replay/apply/contract.ts';
import type { PlanHead } from '../../../../../functions/replay/plan.ts';
import { REASON_TEXTS } from '../../../../../functions/replay/verdict.ts';
import { nameIn } from '../cluster-access.ts';
import { storyTenant } from '../objects.ts';
import { conditionOf } from '../readiness.ts';
import { type Stage, type Step, StepFailure } from '../story-step.ts';
import { counted } from '../summary.ts';

const quarry = storyTenant('quarry');

/** The cause is taken away, and the letter replayed: by a plan, and the apply of that plan. */
export const replay: Step = {
  name: 'replay',
  text: 'that namespace is removed, then: dogwatch replay plan, and dogwatch replay apply',
  async play(stage) {
    const { east, dir } = stage;
    await east.remove(quarry.namespace);
    await stage.until(
      `${nameIn('east', quarry.namespace)} to be gone`,
      async () => (await east.get(quarry.namespace)) === undefined || undefined,
    );
    const folder = await mkdtemp(join(dir, 'replay-'));
    try {
      await replayLetters(stage, join(folder, 'plan.json'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const replayed = await stage.ready(east, quarry, { isUnderWay: true });
    if (conditionOf(replayed, STALLED) !== undefined) throw new StepFailure(`${nameIn('east', quarry)} is Ready and Stalled at once`);
    let count = 0;
    await stage.until(
      'the dead-letter queue to be empty',
      async () => {
        count = await stage.letterCount();
        return count === 0 || undefined;
      },
      () => `${counted(count, 'dead letter')} in it`,
    );
    return `Ready, no longer ${STALLED}; no dead letter left`;
  },
};

/** Tells what each of the two commands said. */
async function replayLetters(stage: Stage, plan: string): Promise<void> {
  const { classes } = JSON.parse(await stage.dogwatch('replay', 'plan', '--out', plan, '--json')) as PlanHead;
  const verdicts = Object.entries(classes).flatMap(([name, { reasons }]) =>
    Object.entries(reasons).map(
      ([reason, { letters }]) => `${counted(letters, 'letter')} ${name.replace('-', ' ')}, ${REASON_TEXTS[reason] ?? reason}`,
    ),
  );
  const said = verdicts.length === 0 ? 'no letter' : verdicts.join('; ');
  if (classes['to-replay'] === undefined) throw new StepFailure(`dogwatch replay plan has nothing to replay: ${said}`);
  stage.tell(`plan: ${said}`);
  // Should it fail, then soon enough to be read.
  const answer = await stage.dogwatch('replay', 'apply', plan, '--yes', '--canary-timeout', '60s', '--json');
  const { letters, sends, end } = JSON.parse(answer) as ApplySummary;
  stage.tell(`apply: ${counted(letters.sent, 'letter')} sent again, ${counted(sends.good, 'object')} good; ${end}`);
}
