/** `dogwatch explain`: why an object is not reconciled, and what to do about it. It changes nothing; to look at letters is to receive them. */
import { isDnsLabel } from '../../events/resource.ts';
import { type ClusterEntry, readClusters } from '../adapters/clusters.ts';
import type { KubernetesClient } from '../adapters/kubernetes/port.ts';
import { type Environment, readSetting } from '../core/config.ts';
import type { Asked } from '../core/doctor/finding.ts';
import { ConfigError, DogwatchError } from '../core/errors.ts';
import type { ExplainFacts, FoundFacts } from '../core/explain/facts.ts';
import { findKind, fullNameOf } from '../core/kind-names.ts';
import { namespaces } from '../core/kinds.ts';
import { nameProblem } from '../core/object-names.ts';
import type { Reconciler } from '../core/reconciler.ts';
import { answerJson, answerOf, answerText } from './explain/answer.ts';
import { lookElsewhere, meantReading, type Reading, readEverywhere, saysOf, unreadNote, type Wanted } from './explain/find-object.ts';
import { findLetters, judgeFound, type LookWords } from './explain/letters.ts';
import { objectFactsOf } from './explain/object-facts.ts';
import { type ExplainPorts, PORTS } from './explain/ports.ts';
import { askWatcher, metricsUrl } from './explain/watcher.ts';
import type { ExitCode } from './main.ts';
import { jsonLine } from './replay/text.ts';

/** As commander names them by their flags. */
export interface ExplainOptions extends LookWords {
  readonly namespace?: string;
  readonly cluster?: string;
  /** Where the watcher serves its metrics. */
  readonly metrics?: string;
  readonly json?: boolean;
}

/**
 * Prints the verdict of KIND/NAME: 0 where it is reconciled or on its way, 1 where somebody has to act.
 *
 * @throws ConfigError for words that do not go together, a cluster that is not in the registry, and an object that is in several
 */
export async function explainObject(
  env: Environment,
  words: string,
  options: ExplainOptions,
  ports: ExplainPorts = PORTS,
): Promise<ExitCode> {
  const facts = await factsOf(env, words, options, ports);
  const answer = answerOf(facts, options.queue);
  if (options.json === true) ports.print(jsonLine(answerJson(answer)));
  else for (const line of answerText(answer)) ports.print(line);
  return answer.exitCode;
}

async function factsOf(env: Environment, words: string, options: ExplainOptions, ports: ExplainPorts): Promise<ExplainFacts> {
  const { namespace, cluster } = options;
  const [, kindName, name] = /^([^/]+)\/([^/]+)$/.exec(words) ?? [];
  if (kindName === undefined || name === undefined || name === '.' || name === '..')
    throw new ConfigError('usage', `${JSON.stringify(words)} is not KIND/NAME, such as tenant/acme`);
  if (namespace !== undefined && !isDnsLabel(namespace))
    throw new ConfigError('usage', `${JSON.stringify(namespace)} is no name of a namespace`);
  const url = metricsUrl(options.metrics);
  const reconciler = reconcilerOf(kindName, ports.reconcilers);
  if (reconciler === undefined) return unknownKind(kindName, name, options, ports.reconcilers);
  const { resource } = reconciler;
  if (resource.scope === 'Cluster' && namespace !== undefined)
    throw new ConfigError('usage', `a ${resource.kind} is in no namespace; leave out --namespace`);
  const problem = nameProblem(resource, name);
  if (problem !== undefined) throw new ConfigError('usage', `${JSON.stringify(name)} ${problem}`);
  const wanted: Wanted = { reconciler, words: `${wordOf(reconciler, ports.reconcilers)}/${name}`, name, namespace };
  const all = await readClusters(readSetting(env, 'clusters'));
  const asked = cluster === undefined ? all : all.filter((entry) => entry.name === cluster);
  if (asked.length === 0) {
    const known = all.map((entry) => entry.name).join(', ');
    throw new ConfigError('unknown-cluster', `${readSetting(env, 'clusters')}: no cluster is named ${cluster}; there are: ${known}`);
  }
  const readings = await readEverywhere(asked, wanted, ports);
  try {
    const reading = meantReading(readings, words);
    const notes = readings.flatMap((one) => (one.kind === 'unread' && one !== reading ? [unreadNote(one)] : []));
    if (reading.kind === 'unread') return { kind: 'unread', place: reading.place, code: reading.code, says: reading.says };
    const { place } = reading;
    const looking = findLetters(env, options, place, ports);
    if (reading.kind === 'absent') {
      const others = all.filter((entry) => !asked.includes(entry));
      const [found, letters] = await Promise.all([lookElsewhere(reading, others, wanted, ports), looking]);
      const where = asked.length === 1 ? [] : [`it was looked for in ${asked.map((entry) => entry.name).join(', ')}`];
      const { elsewhere } = found;
      return {
        kind: 'absent',
        place,
        elsewhere,
        letters: judgeFound(letters, undefined, reconciler),
        notes: [...where, ...notes, ...found.notes],
      };
    }
    const { object, entry } = reading;
    const [letters, surroundings, watcher] = await Promise.all([
      looking,
      surroundingsOf(entry, reading.client, place.namespace, reconciler, ports),
      askWatcher(url, place, ports),
    ]);
    const limits = limitsOf(env);
    const nowMs = ports.clock.now().getTime();
    const facts = { place, nowMs, limits, reconciler, object: objectFactsOf(object, reconciler), ...surroundings, watcher, notes };
    return { kind: 'found', ...facts, letters: judgeFound(letters, object, reconciler) };
  } finally {
    for (const one of readings) if (one.kind !== 'unread') one.client.close();
  }
}

/** Undefined for a kind that no reconciler is for. @throws ConfigError `usage` for one that may be several */
function reconcilerOf(kindName: string, known: readonly Reconciler[]): Reconciler | undefined {
  const found = findKind(
    kindName,
    known.map(({ resource }) => resource),
  );
  if (found.kind === 'ambiguous')
    throw new ConfigError('usage', `${JSON.stringify(kindName)} may be each of ${found.names.join(', ')}; name one of them`);
  return found.kind === 'found' ? known.find(({ resource }) => resource === found.type) : undefined;
}

function unknownKind(asked: string, name: string, { cluster, namespace }: ExplainOptions, known: readonly Reconciler[]): ExplainFacts {
  const resources = known.map(({ resource }) => resource);
  const found = findKind(asked, resources);
  const ownedBy = known.filter(({ owns }) => findKind(asked, owns).kind === 'found').map(({ resource }) => resource.kind);
  return {
    kind: 'unknown-kind',
    asked,
    name,
    cluster,
    namespace,
    nearest: found.kind === 'unknown' ? found.nearest : undefined,
    known: resources.map(fullNameOf),
    ownedBy,
  };
}

/** The shortest name of its kind that no other has. */
function wordOf({ resource }: Reconciler, known: readonly Reconciler[]): string {
  const word = resource.kind.toLowerCase();
  const found = findKind(
    word,
    known.map((one) => one.resource),
  );
  return found.kind === 'found' ? word : fullNameOf(resource);
}

async function surroundingsOf(
  entry: ClusterEntry,
  client: KubernetesClient,
  namespace: string | undefined,
  reconciler: Reconciler,
  { askCluster }: ExplainPorts,
): Promise<Pick<FoundFacts, 'cluster' | 'isNamespaceEnding'>> {
  const ending = namespace === undefined ? undefined : isEnding(client, namespace);
  const [cluster, isNamespaceEnding] = await Promise.all([askCluster(entry, reconciler), ending]);
  return { cluster, isNamespaceEnding };
}

async function isEnding(client: Extract<Reading, { kind: 'found' }>['client'], name: string): Promise<Asked<boolean>> {
  try {
    const metadata = await client.getMetadata(namespaces, { name });
    return { kind: 'told', value: metadata?.deletionTimestamp !== undefined };
  } catch (error) {
    if (!(error instanceof DogwatchError)) throw error;
    return { kind: 'untold', code: error.code, says: saysOf(error) };
  }
}

function limitsOf(env: Environment): FoundFacts['limits'] {
  const healAfterSeconds = readSetting(env, 'healAfterSeconds');
  return { healAfterSeconds, silenceSeconds: readSetting(env, 'watchTimeoutSeconds') + readSetting(env, 'watchGraceSeconds') };
}
