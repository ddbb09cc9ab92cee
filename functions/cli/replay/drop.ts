/** `dogwatch replay drop`: letters of a plan are deleted without a replacement, each of them written down before. */
import { systemClock } from '../../adapters/clock.ts';
import type { Environment } from '../../core/config.ts';
import { ConfigError } from '../../core/errors.ts';
import { queueNameOf } from '../../core/settings.ts';
import { accountedFor } from '../../replay/accounted.ts';
import { dropLetters } from '../../replay/drop.ts';
import { droppedPathOf, type OpenDropFile, openDropFile } from '../../replay/dropped-file.ts';
import { checkPlanQueue, type ReadPlan, readPlan } from '../../replay/plan-reader.ts';
import { REPLAY_CLASSES, type ReplayClass } from '../../replay/verdict.ts';
import type { ExitCode } from '../main.ts';
import { aheadOf, commandOf, countByClass, figuresOf, sumOf, whoIsThere } from './acting.ts';
import { confirm } from './confirm.ts';
import { atDesk, type Desk, type DeskOptions } from './desk.ts';
import { isDone, namedObjects, summaryText } from './drop-text.ts';
import { Progress, processScreen } from './progress.ts';
import { processTerminal, type Terminal } from './terminal.ts';
import { plural } from './text.ts';

export interface DropCommandOptions extends DeskOptions {
  /** Classes that are dropped, in place of those that need nothing. */
  readonly class?: readonly string[];
  readonly yes?: boolean;
}

/** What it is done with; a test has its own. */
export interface DropTools {
  readonly terminal: Terminal;
  readonly progress: Progress;
  readonly openFile: (path: string) => Promise<OpenDropFile>;
  readonly by: string;
  readonly command: string;
}

const BY_DEFAULT: readonly ReplayClass[] = ['converged', 'gone', 'superseded', 'unreadable'];

export async function replayDrop(env: Environment, planFile: string, options: DropCommandOptions): Promise<ExitCode> {
  const classes = classesOf(options.class);
  const plan = readPlan(planFile);
  const progress = new Progress(systemClock, processScreen);
  const tools: DropTools = {
    ...{ terminal: processTerminal, progress, openFile: openDropFile },
    ...{ by: whoIsThere(), command: commandOf(process.argv.slice(2)) },
  };
  return atDesk(env, options, (desk) => dropPlan(desk, plan, { classes, yes: options.yes ?? false }, tools), progress.note);
}

/** @throws ConfigError `usage` */
export function classesOf(words: readonly string[] | undefined): ReadonlySet<ReplayClass> {
  const isClass = (word: string): word is ReplayClass => (REPLAY_CLASSES as readonly string[]).includes(word);
  const classes = (words ?? BY_DEFAULT).map((word) => {
    if (isClass(word)) return word;
    throw new ConfigError('usage', `--class ${JSON.stringify(word)} is no class of a plan; there are ${REPLAY_CLASSES.join(', ')}`);
  });
  return new Set(classes);
}

/**
 * Takes the file, asks, drops, and tells what it came to; 1 where letters that are meant are there still, or may be.
 *
 * @throws ConfigError before anybody is asked where the plan is of another queue, or the file is locked or cannot be written; before anything
 *   is received where nobody can say yes
 */
export async function dropPlan(
  desk: Desk,
  plan: ReadPlan,
  { classes, yes }: { readonly classes: ReadonlySet<ReplayClass>; readonly yes: boolean },
  tools: DropTools,
): Promise<ExitCode> {
  const { queue, description, clock, stop, json, print, say } = desk;
  const { terminal, progress, openFile, by, command } = tools;
  checkPlanQueue(plan, description);
  const path = droppedPathOf(plan.path);
  // Before anybody is asked: nobody types a number and then reads that another process has the plan.
  const file = await openFile(path);
  try {
    const accounted = await accountedFor(plan.path);
    const { ahead } = aheadOf(plan.items, accounted);
    const meant = plan.items.filter((item) => classes.has(item.class));
    const { accountedCount } = aheadOf(meant, accounted);
    const counts = countByClass(ahead);
    const wanted = new Map([...counts].filter(([name]) => classes.has(name)));
    const left = new Map([...counts].filter(([name]) => !classes.has(name)));
    const { letters: letterCount } = sumOf(wanted.values());
    const lines = [
      `${queueNameOf(description.url)}, by the plan of ${plan.madeAt}:`,
      ...namedObjects(ahead.filter((item) => classes.has(item.class))),
      ...(accountedCount === 0 ? [] : [`  done with before: ${plural(accountedCount, 'letter')} of these classes`]),
      `  to be deleted, with nothing in their place: ${figuresOf(wanted)}`,
      ...(left.size === 0 ? [] : [`  to be left: ${figuresOf(left)}`]),
      `  each is written to ${path} before`,
    ];
    if (!(await confirm({ queueUrl: description.url, lines, letterCount }, { yes, terminal, stop, say }))) return 1;
    if (file.unreadableCount > 0)
      say(`warning: ${plural(file.unreadableCount, 'line')} of ${path} cannot be read; no letter counts as written by them`);
    const summary = await dropLetters({
      ...{ items: plan.items, classes, accounted, queue, file, clock, stop, by, command, sha256: plan.sha256 },
      tell: ({ received, dropped, wanted: all }) =>
        progress.update(`${dropped} of ${plural(all, 'letter')} dropped, ${received} received`, all === 0 ? 1 : dropped / all),
    });
    progress.end();
    if (json) {
      const { url, arn } = description;
      const what = { plan: plan.path, sha256: plan.sha256, queue: { url, arn }, classes: [...classes], path };
      print(JSON.stringify({ version: 1, ...what, ...summary }));
    } else for (const line of [...summaryText(summary), `letters: ${path}`]) print(line);
    return isDone(summary) ? 0 : 1;
  } finally {
    progress.end();
    await file.close();
  }
}
