/** `dogwatch replay plan`: what is to become of each letter, by its object as it is now. Nothing is sent, and nothing deleted. */
import type { Environment } from '../../core/config.ts';
import { queueNameOf } from '../../core/settings.ts';
import { lettersOfFirst, limitOf } from '../../replay/limit.ts';
import { countClasses, PLAN_VERSION, type PlanHead, type PlanWords, writtenItems } from '../../replay/plan.ts';
import { type DraftItem, PlanDraft } from '../../replay/plan-draft.ts';
import { defaultPlanName, openPlanFile, type PlanFile } from '../../replay/plan-file.ts';
import { type ObjectSource, readObjects } from '../../replay/read-objects.ts';
import { REASON_TEXTS, REPLAY_CLASSES, type ReplayClass } from '../../replay/verdict.ts';
import type { ExitCode } from '../main.ts';
import { atDesk, type Desk, openSource } from './desk.ts';
import { filterWordsOf, type LsOptions } from './ls.ts';
import { type MeantLetters, meantLetters } from './meant-letters.ts';
import { keepGarbageSmall } from './small-heap.ts';
import { jsonLine, plural, printable, reasonText, table } from './text.ts';

export interface PlanOptions extends LsOptions {
  /** Where the plan is written; a file of its own in the working directory if left out. */
  readonly out?: string;
  /** No more objects than so many. */
  readonly limit?: string;
}

/** Objects that are told one by one; the file has all. */
const TOLD_MAX = 20;
const TOLD_CLASSES: readonly ReplayClass[] = ['to-replay', 'unknown'];

export async function replayPlan(env: Environment, options: PlanOptions): Promise<ExitCode> {
  keepGarbageSmall();
  return atDesk(env, options, async (desk) => {
    const source = await openSource(env, desk.say);
    try {
      const file = openPlanFile(options.out ?? defaultPlanName(desk.clock.now()));
      try {
        return await makePlan(desk, source, { ...filterWordsOf(options), ...limitWord(options) }, file);
      } finally {
        file.dispose();
      }
    } finally {
      source.close();
    }
  });
}

function limitWord({ limit }: PlanOptions): Pick<PlanWords, 'limit'> {
  return limit === undefined ? {} : { limit };
}

/** Writes the plan and tells it; 1 where it was stopped, and then nothing is written. */
export async function makePlan(
  desk: Desk,
  source: Pick<ObjectSource, 'clientOf' | 'reconcilers'>,
  words: PlanWords,
  file: PlanFile,
): Promise<ExitCode> {
  const { limit, ...filters } = words;
  const count = limit === undefined ? undefined : limitOf(limit);
  const meant = await meantLetters(desk, filters);
  if (meant === undefined) return 1;
  const letters = count === undefined ? meant.letters : lettersOfFirst(meant.letters, count);
  const draft = new PlanDraft(letters, source.reconcilers);
  try {
    return await planOf(desk, source, { words, draft, ...meant, letters }, file);
  } finally {
    draft.close();
    await meant.looked.givenBack; // it went on beside the reading: a queue may take its time for that
  }
}

interface Seen extends MeantLetters {
  readonly words: PlanWords;
  readonly draft: PlanDraft;
}

async function planOf(
  desk: Desk,
  source: Pick<ObjectSource, 'clientOf' | 'reconcilers'>,
  { words, draft, letters, looked }: Seen,
  file: PlanFile,
): Promise<ExitCode> {
  const { description, clock, stop, json, print, say } = desk;
  const { url, arn, retentionSeconds, depth } = description;
  const tell = (cluster: string, says: string): void => say(`warning: ${cluster}: ${printable(says)}`);
  const { clientOf, reconcilers } = source;
  try {
    const from = { clientOf, reconcilers, clock, signal: stop, tell };
    await readObjects(draft.targets, from, (target, reading) => draft.judge(target, reading));
  } catch (error) {
    if (!stop.aborted) throw error;
    say('stopped: letters are given back, and no plan was written');
    return 1;
  }
  const items = draft.items();
  const head: PlanHead = {
    ...{ plan: 'dogwatch-replay', version: PLAN_VERSION, madeAt: clock.now().toISOString() },
    queue: { url, arn, retentionSeconds, depth },
    filters: words,
    ...{ receivedLetters: looked.report.seenCount, letters: letters.length, objects: draft.objectCount },
    ...{ classes: countClasses(items), warnings: looked.warnings },
  };
  file.write(head, writtenItems(draft, items, retentionSeconds));
  if (json) print(jsonLine({ ...head, path: file.path }));
  else for (const line of planText(head, draft, file.path)) print(line);
  return 0;
}

function planText(head: PlanHead, draft: PlanDraft, path: string): string[] {
  const rows = REPLAY_CLASSES.flatMap((name) =>
    Object.entries(head.classes[name]?.reasons ?? {}).map(([reason, { letters, objects }]) => [
      ...[name.replace('-', ' '), String(objects), String(letters), reasonText(reason, REASON_TEXTS)],
    ]),
  );
  const told = draft.items().filter(({ target, verdict }) => target !== undefined && TOLD_CLASSES.includes(verdict.class));
  const more = told.length > TOLD_MAX ? [`and ${told.length - TOLD_MAX} more in the plan`] : [];
  return [
    ...(told.length === 0 ? [] : [...objectTable(told.slice(0, TOLD_MAX), draft), ...more, '']),
    ...(rows.length === 0 ? [] : [...table(['CLASS', 'OBJECTS', 'LETTERS', 'WHY'], rows, ['OBJECTS', 'LETTERS']), '']),
    `${queueNameOf(head.queue.url)}: ${plural(head.letters, 'letter')} of ${plural(head.objects, 'object')}; nothing was sent or deleted`,
    `plan: ${path}`,
  ];
}

function objectTable(items: readonly DraftItem[], draft: PlanDraft): string[] {
  const rows = items.map((item) => {
    const { target, verdict, letterCount } = item;
    const state = draft.stateOf(item);
    const { cluster = '', kind = '', namespace, name: own = '' } = target ?? {};
    const ready = state?.conditions.find(({ type }) => type === 'Ready');
    const generation = state?.generation === undefined ? '-' : `${state.generation}/${state.observedGeneration ?? '-'}`;
    const shown = ready === undefined ? '-' : `${ready.status} ${ready.reason ?? ''}`.trim();
    return [
      cluster,
      kind,
      namespace === undefined ? own : `${namespace}/${own}`,
      verdict.class.replace('-', ' '),
      verdict.reason,
      String(letterCount),
      generation,
      shown,
    ];
  });
  return table(['CLUSTER', 'KIND', 'OBJECT', 'CLASS', 'REASON', 'LETTERS', 'GEN/OBSERVED', 'READY'], rows, ['LETTERS']);
}
