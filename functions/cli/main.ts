/**
 * The command line: one file a command, loaded when it is called. Exit codes: 0 fine, 1 a problem was found, 2 wrong
 * arguments or configuration. A user's mistake is one line on stderr, never a stack trace.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { codeFault } from './code-fault.ts';
import type { DevOptions } from './dev.ts';
import type { DoctorOptions } from './doctor.ts';
import type { ExplainOptions } from './explain.ts';
import { exitCodeOf } from './failure.ts';
import type { RbacOptions } from './rbac.ts';
import type { ReconcileOptions } from './reconcile.ts';
import { addReplayCommands, REPLAY_DESCRIPTION } from './replay.ts';
import type { RunOptions } from './run.ts';

/** What a command hands back; `undefined` counts as 0. */
export type ExitCode = 0 | 1 | 2;

/**
 * Runs one command line and resolves to its exit code. Output goes to stdout and stderr of this process.
 *
 * @param argv  the words after the program's name
 */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = createProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportFailure(error);
  }
}

function createProgram(finish: (code: ExitCode) => void): Command {
  const program = new Command('dogwatch')
    .description('Kubernetes controllers whose worker is a Lambda function and whose work queue is SQS.')
    .version(versionOf(new URL('../../package.json', import.meta.url)))
    .exitOverride()
    .showHelpAfterError('(dogwatch --help lists the commands)');

  program
    .command('dev')
    .description('run everything on this machine, with embedded clusters and queues, and swap the function when its code changes')
    .option('--apply <file>', 'apply this manifest to every cluster at the start; may be repeated', listed, [])
    .option('--reconcilers <file>', 'a module that exports `reconcilers`, in place of functions/reconcilers/index.ts')
    .option('--kubeconfig <file>', 'use clusters of this file in place of embedded ones, as a guest: no samples, and nothing is deleted')
    .option('--context <name>', 'with --kubeconfig: this context, needed; may be repeated', listed, [])
    .option(
      '--take-over',
      "with --kubeconfig: reconcile also where a CRD is not just a development run's; stop the Dogwatch deployed there first, for this run has embedded queues where that one has AWS",
    )
    .option(
      '--real',
      'start real control planes in place of embedded ones; needs Go, and builds them the first time, in about four minutes',
    )
    .option('--demo', 'play a story that explains itself: changes, drift, many writers, an outage, a dead letter and its replay')
    .option('--once', 'with --demo: end after the story, with a summary; exit code 1 where a step of it failed')
    .action(async (options: DevOptions) => {
      const { dev } = await import('./dev.ts');
      finish(await dev(process.env, options));
    });

  program
    .command('watch')
    .description('watch every cluster of the registry and send what matters to the queues, until stopped')
    .action(async () => {
      const { watch } = await import('./watch.ts');
      finish(await watch(process.env));
    });

  program
    .command('run')
    .description('run the built function on this machine, fed from the queues as Lambda would feed it, until stopped')
    .option('--timeout <seconds>', 'function time-out, 1 to 900', integerBetween(1, 900), 30)
    .option('--batch-size <count>', 'records an invocation, 1 to 10000; above 10 with --batch-window', integerBetween(1, 10_000), 10)
    .option('--batch-window <seconds>', 'how long a batch gathers from its first message, 0 to 300', integerBetween(0, 300), 0)
    .option('--concurrency <count>', 'invocations at once from the live queue, 1 to 100', integerBetween(1, 100), 2)
    .option('--bulk-concurrency <count>', 'the same from the bulk queue (default: as --concurrency)', integerBetween(1, 100))
    .option('--artifact <file>', 'run this zip or folder instead of building one')
    .action(async (options: RunOptions) => {
      const { run } = await import('./run.ts');
      finish(await run(process.env, options));
    });

  program
    .command('crds')
    .description('print the CustomResourceDefinitions of the reconcilers as YAML')
    .option('--out <dir>', 'write a file for each instead')
    .option('--apply', 'apply them to a cluster of the registry and wait until they are served')
    .option('--cluster <name>', 'the cluster for --apply')
    .action(async (options: { out?: string; apply?: boolean; cluster?: string }) => {
      const { crds } = await import('./crds.ts');
      finish(await crds(process.env, options));
    });

  program
    .command('rbac')
    .description('print what the watcher or the function may do in a cluster, as manifests for kubectl apply; warnings go to stderr')
    .addOption(new Option('--for <process>', 'whose rights').choices(['watcher', 'reconcile']).makeOptionMandatory())
    .option('--cluster <name>', 'a cluster of the registry: says whom its rights are given to, and what EKS needs besides')
    .option('--json', 'print manifests, what EKS needs and warnings as one line of JSON')
    .action(async (options: RbacOptions) => {
      const { rbac } = await import('./rbac.ts');
      finish(await rbac(process.env, options));
    });

  program
    .command('doctor')
    .description('look at a deployment and say what is wrong with it and what to do: registry, clusters, queues, function; changes nothing')
    .option('--stage <name>', 'the stage whose function and queues are meant, as deployed by serverless.yml')
    .option('--function <name>', 'the function, where it has another name than a stage gives it')
    .option('--cluster <name>', 'of the clusters of the registry only this one')
    .addOption(
      new Option('--for <process>', 'ask for the rights of this process only, which the registry is that of').choices([
        'watcher',
        'reconcile',
      ]),
    )
    .option('--json', 'print all findings as one line of JSON')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor.ts');
      finish(await doctor(process.env, options));
    });

  program
    .command('explain')
    .argument('<object>', 'KIND/NAME, the kind as kubectl takes it: tenant/acme, tenants.platform.example/acme')
    .description('say why an object is not reconciled, and what to do next; changes nothing. Exit code 1 where somebody has to act')
    .option('-n, --namespace <name>', 'of the object (default: that of the kubeconfig, as kubectl)')
    .option('--cluster <name>', 'a cluster of the registry; left out: the one that has the object')
    .option('--queue <url>', 'another dead-letter queue than DOGWATCH_DEAD_LETTER_QUEUE_URL')
    .option('--no-letters', 'do not look for its dead letters: a look receives all, and gives them back')
    .option('--metrics <url>', 'metrics of the watcher, which tell how it sees the kind: http://127.0.0.1:8080/metrics')
    .option('--json', 'print the verdict and what was found as one line of JSON')
    .action(async (object: string, options: ExplainOptions) => {
      const { explainObject } = await import('./explain.ts');
      finish(await explainObject(process.env, object, options));
    });

  program
    .command('reconcile')
    .argument('[object]', 'KIND/NAME, the kind as kubectl takes it: tenant/acme, tenants.platform.example/acme')
    .description('have an object run, or all of a kind, although nothing changed: sends `manual` on the bulk queue')
    .option('-n, --namespace <name>', 'of the object (default: that of the kubeconfig, as kubectl); with --kind: only these')
    .option('--cluster <name>', 'a cluster of the registry; needed where there are several')
    .option('--kind <kind>', 'all objects of this kind that their reconciler selects, save for paused ones')
    .option('--rate <count>', 'messages a second with --kind, 1 to 200 (default: 10)', integerBetween(1, 200))
    .option('--json', 'print the result as one line of JSON')
    .action(async (object: string | undefined, options: ReconcileOptions) => {
      const { reconcile } = await import('./reconcile.ts');
      finish(await reconcile(process.env, object, options));
    });

  addReplayCommands(program.command('replay').description(REPLAY_DESCRIPTION), finish);

  for (const command of program.commands) for (const one of [command, ...command.commands]) one.exitOverride();
  return program;
}

function versionOf(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** A parser for an option that may be repeated. */
function listed(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

/** A parser for an option that is a whole number within bounds; commander turns its error into a usage error. */
function integerBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]+$/.test(text) && value >= least && value <= most) return value;
    throw new CommanderError(2, 'dogwatch.badNumber', `error: ${JSON.stringify(text)} is not a whole number from ${least} to ${most}`);
  };
}

function reportFailure(error: unknown): ExitCode {
  const code = exitCodeOf(error);
  if (code !== undefined) return code;
  const fault = codeFault(error);
  if (fault === undefined) throw error;
  console.error(`dogwatch: ${fault}`);
  return 1;
}
