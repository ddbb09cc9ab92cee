/** `dogwatch replay`: its commands, each loaded when it is called. */
import type { Command } from 'commander';
import type { ExitCode } from './main.ts';
import type { ApplyCommandOptions } from './replay/apply-options.ts';
import type { DeskOptions } from './replay/desk.ts';
import type { DropCommandOptions } from './replay/drop.ts';
import type { LsOptions } from './replay/ls.ts';
import type { PlanOptions } from './replay/plan.ts';
import type { ShowOptions } from './replay/show.ts';

const QUEUE = ['--queue <url>', 'another dead-letter queue than DOGWATCH_DEAD_LETTER_QUEUE_URL'] as const;
const YES = ['--yes', 'go on without a question'] as const;

/** Of the command that has them all. */
export const REPLAY_DESCRIPTION =
  'look at the dead letters and at the objects they are about, and send again or delete what a plan says of them';

/** Adds the commands to one, each of which hands its exit code to `finish`. */
export function addReplayCommands(replay: Command, finish: (code: ExitCode) => void): void {
  filtered(replay.command('ls'))
    .description('list the letters by cluster, kind and code, those first that SQS deletes first')
    .option('--json', 'print the groups as one line of JSON')
    .action(async (options: LsOptions) => {
      const { replayLs } = await import('./replay/ls.ts');
      finish(await replayLs(process.env, options));
    });

  replay
    .command('show')
    .argument('<letter>', 'KIND/NAME for all letters of an object, or a message id for one')
    .description('show letters in full, beside their object as it is now and what changed since')
    .option('-n, --namespace <name>', 'of the object')
    .option('--cluster <name>', 'of the object')
    .option(...QUEUE)
    .option('--json', 'print them as one line of JSON')
    .action(async (words: string, options: ShowOptions) => {
      const { replayShow } = await import('./replay/show.ts');
      finish(await replayShow(process.env, words, options));
    });

  filtered(replay.command('plan'))
    .description('read the object of each letter as it is now, and write down what is to become of the letter')
    .option('--limit <count>', 'of no more objects than so many, those whose letters SQS deletes first')
    .option('--out <file>', 'where the plan is written (default: dogwatch-plan-<time>.json in the working directory)')
    .option('--json', 'print counts and reasons as one line of JSON')
    .action(async (options: PlanOptions) => {
      const { replayPlan } = await import('./replay/plan.ts');
      finish(await replayPlan(process.env, options));
    });

  replay
    .command('apply')
    .argument('<plan>', 'file of a plan')
    .description('send again what a plan says is to be replayed, a few objects first, and delete what needs nothing; stops by itself')
    .option('--canary <count>', 'objects that are sent first, and judged before any other is sent (default: 5)')
    .option('--canary-timeout <time>', 'an object that is not reconciled by then counts as failed: 300s, 5m (default: 5m)')
    .option('--rate <count>', 'objects of one cluster that are sent in a second, at most (default: 5)')
    .option('--stop-at <share>', 'send nothing more once over this share has failed again (default: 20%)')
    .option('--again', 'send letters, too, that were replayed twice already')
    .option(...YES)
    .option(...QUEUE)
    .option('--json', 'print what it came to as one line of JSON')
    .action(async (plan: string, options: ApplyCommandOptions) => {
      const { replayApply } = await import('./replay/apply.ts');
      finish(await replayApply(process.env, plan, options));
    });

  replay
    .command('drop')
    .argument('<plan>', 'file of a plan')
    .description('delete letters of a plan with nothing in their place; each is written to <plan>.dropped.jsonl before')
    .option(
      '--class <name>',
      'letters of this class, in place of converged, gone, superseded and unreadable; may be repeated',
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .option(...YES)
    .option(...QUEUE)
    .option('--json', 'print what it came to as one line of JSON')
    .action(async (plan: string, options: DropCommandOptions) => {
      const { replayDrop } = await import('./replay/drop.ts');
      finish(await replayDrop(process.env, plan, options));
    });

  filtered(replay.command('export').argument('<folder>', 'a new folder, or an empty one'))
    .description('write letters as they are, with their attributes, to letters.jsonl in a folder; nothing is sent and nothing is deleted')
    .option('--json', 'print what it came to as one line of JSON')
    .action(async (folder: string, options: LsOptions) => {
      const { replayExport } = await import('./replay/export.ts');
      finish(await replayExport(process.env, folder, options));
    });

  replay
    .command('status')
    .description('say how many letters there are, without receiving any')
    .option(...QUEUE)
    .option('--json', 'print it as one line of JSON')
    .action(async (options: DeskOptions) => {
      const { replayStatus } = await import('./replay/status.ts');
      finish(await replayStatus(process.env, options));
    });
}

function filtered(command: Command): Command {
  return command
    .option('--cluster <name>', 'only letters of this cluster')
    .option('--kind <kind>', 'only of this kind, named as kubectl takes it')
    .option('-n, --namespace <name>', 'only of objects in this namespace')
    .option('--name <name>', 'only of objects with this name')
    .option('--code <code>', 'only with this code, such as forbidden, or undiagnosed for what SQS moved by itself')
    .option('--since <time>', 'only of changes first seen then or later: 2026-03-01T10:00Z, or 6h for six hours ago')
    .option('--until <time>', 'only of changes first seen then or before')
    .option(...QUEUE);
}
