/** `dogwatch replay plan`: what is to become of each letter, by its object as it is now. Nothing is sent, and nothing deleted. */
import type { Environment } from '../../core/config.ts';
import { queueNameOf } from '../../core/settings.ts';
import type { FilterWords } from '../../replay/letter-filter.ts';
import type { Target } from '../../replay/letter-record.ts';
import { countClasses, PLAN_VERSION, type PlanHead, type PlanItem, planItems, type Verdicts, writtenItem } from '../../replay/plan.ts';
import { defaultPlanName, openPlanFile, type PlanFile } from '../../replay/plan-file.ts';
import { type ObjectSource, readObjects } from '../../replay/read-objects.ts';
import { REASON_TEXTS, REPLAY_CLASSES } from '../../replay/verdict.ts';
import type { ExitCode } from '../main.ts';
import { atDesk, type Desk, openSource } from './desk.ts';
import { filterWordsOf, type LsOptions } from './ls.ts';
import { type MeantLetters, meantLetters } from './meant-letters.ts';
import { plural, printable, table } from './text.ts';

export interface PlanOptions extends LsOptions {
  /** Where the plan is written; a file of its own in the working directory if left out. */
  readonly out?: string;
}

/** Objects that are told one by one; the file has all. */
const TOLD_MAX = 20;

export async function replayPlan(env: Environment, options: PlanOptions): Promise<ExitCode> {
  return atDesk(env, options, async (desk) => {
    const source = await openSource(env, desk.say);
    try {
      const file = openPlanFile(options.out ?? defaultPlanName(desk.clock.now()));
      try {
        return await makePlan(desk, source, filterWordsOf(options), file);
      } finally {
        file.dispose();
      }
    } finally {
      source.close();
    }
  });
}

/** Writes the plan and tells it; 1 where it was stopped, and then nothing is written. */
export async function makePlan(
  desk: Desk,
  source: Pick<ObjectSource, 'clientOf' | 'reconcilers'>,
  words: FilterWords,
  file: PlanFile,
): Promise<ExitCode> {
  const meant = await meantLetters(desk, words);
  if (meant === undefined) return 1;
  try {
    return await planOf(desk, source, { words, ...meant }, file);
  } finally {
    await meant.looked.givenBack; // it went on beside the reading: a queue may take its time for that
  }
}

interface Seen extends MeantLetters {
  readonly words: FilterWords;
}

async function planOf(
  desk: Desk,
  source: Pick<ObjectSource, 'clientOf' | 'reconcilers'>,
  { words, letters, looked }: Seen,
  file: PlanFile,
): Promise<ExitCode> {
  const { description, clock, stop, json, print, say } = desk;
  const { url, arn, retentionSeconds, depth } = description;
  const targets = new Set(letters.map(({ target }) => target).filter((target): target is Target => target !== undefined));
  const tell = (cluster: string, says: string): void => say(`warning: ${cluster}: ${printable(says)}`);
  const { clientOf, reconcilers } = source;
  const readings = await readObjects(targets, { clientOf, reconcilers, clock, signal: stop, tell }).catch((error: unknown) => {
    if (stop.aborted) return undefined;
    throw error;
  });
  if (readings === undefined) {
    say('stopped: letters are given back, and no plan was written');
    return 1;
  }
  const items = planItems(letters, readings, reconcilers);
  const head: PlanHead = {
    ...{ plan: 'dogwatch-replay', version: PLAN_VERSION, madeAt: clock.now().toISOString() },
    queue: { url, arn, retentionSeconds, depth },
    filters: words,
    ...{ receivedLetters: looked.report.seenCount, letters: letters.length, objects: targets.size },
    ...{ classes: countClasses(items), warnings: looked.warnings },
  };
  file.write(head, written(items, retentionSeconds));
  if (json) print(JSON.stringify({ ...head, path: file.path }));
  else for (const line of planText(head, items, file.path)) print(line);
  return 0;
}

/** One after another, so that not all of them are there at once. */
function* written(items: readonly Verdicts[], retentionSeconds: number | undefined): Generator<PlanItem> {
  for (const item of items) yield writtenItem(item, retentionSeconds);
}

function planText(head: PlanHead, items: readonly Verdicts[], path: string): string[] {
  const rows = REPLAY_CLASSES.flatMap((name) =>
    Object.entries(head.classes[name]?.reasons ?? {}).map(([reason, { letters, objects }]) => [
      ...[name.replace('-', ' '), String(objects), String(letters), REASON_TEXTS[reason] ?? reason],
    ]),
  );
  const told = items.filter((item) => item.target !== undefined && (item.class === 'to-replay' || item.class === 'unknown'));
  const more = told.length > TOLD_MAX ? [`and ${told.length - TOLD_MAX} more in the plan`] : [];
  return [
    ...(told.length === 0 ? [] : [...objectTable(told.slice(0, TOLD_MAX)), ...more, '']),
    ...(rows.length === 0 ? [] : [...table(['CLASS', 'OBJECTS', 'LETTERS', 'WHY'], rows, ['OBJECTS', 'LETTERS']), '']),
    `${queueNameOf(head.queue.url)}: ${plural(head.letters, 'letter')} of ${plural(head.objects, 'object')}; nothing was sent or deleted`,
    `plan: ${path}`,
  ];
}

function objectTable(items: readonly Verdicts[]): string[] {
  const rows = items.map(({ target, class: name, reason, letters, state }) => {
    const { cluster = '', kind = '', namespace, name: own = '' } = target ?? {};
    const ready = state?.conditions.find(({ type }) => type === 'Ready');
    const generation = state?.generation === undefined ? '-' : `${state.generation}/${state.observedGeneration ?? '-'}`;
    const shown = ready === undefined ? '-' : `${ready.status} ${ready.reason ?? ''}`.trim();
    return [
      cluster,
      kind,
      namespace === undefined ? own : `${namespace}/${own}`,
      name.replace('-', ' '),
      reason,
      String(letters.length),
      generation,
      shown,
    ];
  });
  return table(['CLUSTER', 'KIND', 'OBJECT', 'CLASS', 'REASON', 'LETTERS', 'GEN/OBSERVED', 'READY'], rows, ['LETTERS']);
}
