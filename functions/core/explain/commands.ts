/** Commands that can be pasted into a shell. */
import { fullNameOf } from '../kind-names.ts';
import type { Place } from './facts.ts';

/** What the person who asks has named besides the object. */
export interface Named {
  /** The dead-letter queue, where it is another one than that of the environment. */
  readonly queue?: string | undefined;
}

const DOGWATCH = ['npm', 'run', '-s', 'dogwatch', '--'];

/** The words as one line, each quoted where a shell would take it for more than itself. A word that begins with `$` is a variable of the reader's. */
export function commandLine(...words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$|^\$[A-Z]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

export function dogwatch(...words: readonly string[]): string {
  return commandLine(...DOGWATCH, ...words);
}

/** By its context of the cluster's name, as in the runbook. */
export function kubectl(cluster: string, ...words: readonly string[]): string {
  return commandLine('kubectl', '--context', cluster, ...words);
}

/** kubectl about the object. */
export function kubectlOn({ cluster, type, namespace, name }: Place, verb: string, ...rest: readonly string[]): string {
  return kubectl(cluster, verb, fullNameOf(type), name, ...inNamespace(namespace), ...rest);
}

export function reconcile(place: Place): string {
  return dogwatch('reconcile', ...addressOf(place));
}

export function explainAgain(place: Place, change: Partial<Place> = {}): string {
  return dogwatch('explain', ...addressOf({ ...place, ...change }));
}

export function planLetters({ cluster, words, namespace, name }: Place, { queue }: Named): string {
  const kind = words.slice(0, words.indexOf('/'));
  const where = queue === undefined ? [] : ['--queue', queue];
  return dogwatch('replay', 'plan', '--cluster', cluster, '--kind', kind, ...inNamespace(namespace), '--name', name, ...where);
}

function addressOf({ words, namespace, cluster }: Place): string[] {
  return [words, ...inNamespace(namespace), '--cluster', cluster];
}

function inNamespace(namespace: string | undefined): string[] {
  return namespace === undefined ? [] : ['-n', namespace];
}
