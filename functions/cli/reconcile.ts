/** `dogwatch reconcile`: runs one object, or all of a kind, although nothing about them changed. */
import { isDnsLabel } from '../../events/resource.ts';
import { systemClock } from '../adapters/clock.ts';
import { type Environment, readSetting } from '../core/config.ts';
import { ConfigError } from '../core/errors.ts';
import { findKind, fullNameOf } from '../core/kind-names.ts';
import type { Reconciler } from '../core/reconciler.ts';
import { reconcilers } from '../reconcilers/index.ts';
import type { ExitCode } from './main.ts';
import type { Manual } from './manual.ts';
import { reconcileAll } from './reconcile-all.ts';
import { reconcileOne } from './reconcile-one.ts';
import { defaultNamespace, findCluster, withCluster } from './registry.ts';
import { stopOnSignals } from './stop-signals.ts';

/** As commander names them by their flags. */
export interface ReconcileOptions {
  readonly namespace?: string;
  readonly cluster?: string;
  readonly kind?: string;
  /** Messages a second; goes with `kind`. */
  readonly rate?: number;
  readonly json?: boolean;
}

/** Messages a second where nobody says how many. */
const DEFAULT_RATE = 10;

/**
 * Sends `manual` for the object that `words` name, or for all objects of a kind.
 *
 * @throws ConfigError for words that do not go together, an unknown kind or cluster, and what is missing in the environment
 */
export async function reconcile(env: Environment, words: string | undefined, options: ReconcileOptions): Promise<ExitCode> {
  const { kindName, name } = target(words, options);
  const reconciler = reconcilerOf(kindName, reconcilers);
  const { resource } = reconciler;
  if (resource.scope === 'Cluster' && options.namespace !== undefined)
    throw new ConfigError('usage', `a ${resource.kind} is in no namespace; leave out --namespace`);
  // Of an empty one (a shell variable that is not set) the list would be empty, and all would seem well.
  if (options.namespace !== undefined && !isDnsLabel(options.namespace))
    throw new ConfigError('usage', `${JSON.stringify(options.namespace)} is no name of a namespace`);
  const queueUrl = readSetting(env, 'bulkQueueUrl');
  const entry = await findCluster(env, options.cluster);
  const { createQueue } = await import('../adapters/sqs.ts');
  const queue = await createQueue();
  return withCluster(entry, async (client) => {
    const { json = false, rate = DEFAULT_RATE, namespace } = options;
    const out = { print: (line: string) => console.log(line), say: (line: string) => console.error(line) };
    const manual: Manual = { client, reconciler, queue, queueUrl, clock: systemClock, json, ...out };
    if (name === undefined) return untilStopped((signal) => reconcileAll(manual, { namespace, rate, signal }));
    const place = resource.scope === 'Cluster' ? { name } : { namespace: namespace ?? (await defaultNamespace(entry)), name };
    return reconcileOne(manual, place);
  });
}

/** What the words ask for: a kind, and the name of an object or none for all. @throws ConfigError `usage` */
function target(words: string | undefined, { kind, rate }: ReconcileOptions): { kindName: string; name?: string } {
  if (words === undefined && kind === undefined)
    throw new ConfigError('usage', 'say what to reconcile: KIND/NAME, or --kind KIND for all of a kind');
  if (words === undefined) return { kindName: kind ?? '' };
  if (kind !== undefined) throw new ConfigError('usage', `--kind means all of a kind; leave it out, or ${words}`);
  if (rate !== undefined) throw new ConfigError('usage', '--rate goes with --kind; one object is one message');
  const [, kindName, name] = /^([^/]+)\/([^/%]+)$/.exec(words) ?? [];
  if (kindName === undefined || name === undefined || name === '.' || name === '..')
    throw new ConfigError('usage', `${JSON.stringify(words)} is not KIND/NAME, such as tenant/acme`);
  return { kindName, name };
}

/** @throws ConfigError `unknown-kind`, naming the nearest and all that there are */
function reconcilerOf(name: string, known: readonly Reconciler[]): Reconciler {
  const found = findKind(
    name,
    known.map(({ resource }) => resource),
  );
  switch (found.kind) {
    case 'found':
      return known.find(({ resource }) => resource === found.type) as Reconciler;
    case 'ambiguous':
      throw new ConfigError('unknown-kind', `${JSON.stringify(name)} may be each of ${found.names.join(', ')}; name one of them`);
    case 'unknown': {
      const hint = found.nearest === undefined ? '' : `did you mean ${found.nearest}? `;
      const all = known.map(({ resource }) => fullNameOf(resource)).join(', ') || 'none';
      throw new ConfigError('unknown-kind', `no reconciler is for a kind ${JSON.stringify(name)}; ${hint}there are: ${all}`);
    }
  }
}

/** Ctrl-C aborts the signal; a second one ends the process at once. */
async function untilStopped<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const { stop, dispose } = stopOnSignals(() => console.error('stopping after the messages that are under way'));
  try {
    return await work(stop.signal);
  } finally {
    dispose();
  }
}
