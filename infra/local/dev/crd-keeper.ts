/**
 * Keeps the CRDs of the code in every cluster of a development run. In clusters that the run has made, they are as the code says. In others
 * it is a guest: what is missing is applied, what only development runs have applied is brought up to date, and what anybody else has
 * applied, the Dogwatch that is deployed there too, is left as it is; each is told.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { Crd, CrdCalls, StoredCrd } from './crd-calls.ts';
import type { DevEvent } from './dev-state.ts';
import { nameOf } from './manifest-files.ts';

export interface KeptCluster {
  readonly name: string;
  readonly isOwn: boolean;
  readonly calls: CrdCalls;
}

export interface CrdKeeper {
  /**
   * Brings them into every cluster at once, and tells what remains of kinds that are no longer defined. A cluster that is not available is
   * told of, and left to `look`.
   *
   * @throws ConfigError `crd-refused` where a cluster refuses one for what it says
   */
  use(crds: readonly Crd[]): Promise<void>;
  /** Looks whether they are still there and as they were, and tries again where a cluster was not available. */
  look(): Promise<void>;
}

/** What is known of a CRD in a cluster. */
type Kept =
  | { readonly kind: 'there'; readonly generation: number }
  /** Another's, deleted by somebody, or refused: as it is until the next `use`. */
  | { readonly kind: 'left' }
  | { readonly kind: 'pending' };

interface Refused {
  readonly cluster: KeptCluster;
  readonly crd: Crd;
  readonly text: string;
}

/** What a real API server needs until it serves a new kind is about a second. */
const SERVED_WITHIN_MS = 15_000;
const ASK_AGAIN_MS = 50;
/** Objects that are named. */
const TOLD_MAX = 3;

/** @param clusters  as they are at each call */
export function createCrdKeeper(clusters: Iterable<KeptCluster>, emit: (event: DevEvent) => void): CrdKeeper {
  let wanted: readonly Crd[] = [];
  const kept = new Map<string, Kept>();
  const keyOf = (cluster: KeptCluster, crd: Crd): string => `${cluster.name}/${crd.metadata.name}`;
  const warn = (text: string): void => emit({ kind: 'notice', level: 'warn', text });
  /** What keeps a cluster from answering, as it was told last: it is asked every few seconds. */
  const told = new Map<KeptCluster, string>();

  /** @returns what it is refused for */
  async function bring(cluster: KeptCluster, crd: Crd, known?: Kept): Promise<Refused | 'unavailable' | undefined> {
    const key = keyOf(cluster, crd);
    kept.set(key, { kind: 'pending' });
    const before = cluster.isOwn ? ({ kind: 'absent' } as const) : await cluster.calls.read(crd);
    if (before.kind === 'unavailable') return unavailable(cluster, before.problem);
    if (before.kind === 'stored' && before.crd.otherWriter !== undefined) {
      await leave(cluster, crd, before.crd, before.crd.otherWriter);
      return undefined;
    }
    const answer = await cluster.calls.apply(crd);
    if (answer.kind === 'unavailable') return unavailable(cluster, answer.problem);
    if (answer.kind === 'refused') {
      kept.set(key, { kind: 'left' });
      return { cluster, crd, text: answer.text };
    }
    told.delete(cluster);
    kept.set(key, { kind: 'there', generation: answer.crd.generation });
    if (!cluster.isOwn) tellApplied(cluster, crd, before.kind === 'stored' ? before.crd : undefined, answer.crd);
    await served(cluster, crd);
    if (cluster.isOwn && known?.kind === 'there' && known.generation !== answer.crd.generation) await tellMisfits(cluster, crd);
    return undefined;
  }

  async function tellMisfits({ name, calls }: KeptCluster, crd: Crd): Promise<void> {
    const misfits = await calls.misfits(crd);
    if (misfits.length > 0)
      warn(`${nameOf(crd)} has changed, and objects in ${name} do not fit it: ${misfits.slice(0, TOLD_MAX).join('; ')}`);
  }

  function unavailable(cluster: KeptCluster, problem: string): 'unavailable' {
    if (told.get(cluster) !== problem) emit({ kind: 'notice', level: 'error', text: `${cluster.name}: ${problem}` });
    told.set(cluster, problem);
    return 'unavailable';
  }

  async function leave(cluster: KeptCluster, crd: Crd, stored: StoredCrd, writer: string): Promise<void> {
    kept.set(keyOf(cluster, crd), { kind: 'there', generation: stored.generation });
    const result = await cluster.calls.compare(crd, stored);
    const name = `${nameOf(crd)} in ${cluster.name}`;
    const why = `is left as it is, because ${writer} has applied it`;
    switch (result.kind) {
      case 'same':
        return emit({ kind: 'step', text: `${nameOf(crd)} is in ${cluster.name} as the code has it` });
      case 'different':
        return warn(`${name} is not as the code has it, and ${why}: compare it with what dogwatch crds prints`);
      case 'unavailable':
        return emit({ kind: 'step', text: `${name} ${why}; whether it is as the code has it cannot be tried: ${result.problem}` });
    }
  }

  function tellApplied({ name }: KeptCluster, crd: Crd, before: StoredCrd | undefined, now: StoredCrd): void {
    if (before === undefined) emit({ kind: 'step', text: `applied ${nameOf(crd)} to ${name}, where it was not` });
    else if (before.generation !== now.generation)
      emit({ kind: 'step', text: `applied ${nameOf(crd)} to ${name}, where a development run had applied another version of it` });
  }

  async function served(cluster: KeptCluster, crd: Crd): Promise<void> {
    const endMs = performance.now() + SERVED_WITHIN_MS;
    while (!(await cluster.calls.isServed(crd))) {
      if (performance.now() > endMs) return warn(`${nameOf(crd)} is applied to ${cluster.name}, but the kind is not served there`);
      await sleep(ASK_AGAIN_MS);
    }
  }

  /** One after another in a cluster: where it is not available for one, it is not for the others. */
  async function bringAll(cluster: KeptCluster, crds: readonly Crd[]): Promise<Refused[]> {
    const before = new Map(kept);
    for (const crd of crds) kept.set(keyOf(cluster, crd), { kind: 'pending' });
    const refused: Refused[] = [];
    for (const crd of crds) {
      const result = await bring(cluster, crd, before.get(keyOf(cluster, crd)));
      if (result === 'unavailable') break;
      if (result !== undefined) refused.push(result);
    }
    return refused;
  }

  async function tellLeftBehind(before: readonly Crd[]): Promise<void> {
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    for (const crd of before.filter(({ metadata }) => !names.has(metadata.name))) {
      for (const cluster of clusters) {
        const objects = await cluster.calls.objects(crd);
        if (objects !== undefined)
          warn(
            `${crd.spec.names.kind} is no longer defined: ${nameOf(crd)} stays in ${cluster.name} with ${objects}, which nobody reconciles`,
          );
      }
    }
  }

  async function lookAt(cluster: KeptCluster, crd: Crd): Promise<'unavailable' | undefined> {
    const key = keyOf(cluster, crd);
    const known = kept.get(key);
    if (known === undefined || known.kind === 'left') return undefined;
    if (known.kind === 'pending') {
      const refused = await bring(cluster, crd);
      if (refused === 'unavailable') return refused;
      if (refused !== undefined) emit({ kind: 'notice', level: 'error', text: refusalText([refused]) });
      return undefined;
    }
    const now = await cluster.calls.read(crd);
    if (now.kind === 'unavailable') return 'unavailable'; // The watcher's cells tell how it is with a cluster that has gone.
    if (kept.get(key) !== known) return undefined;
    if (now.kind === 'absent') {
      await missing(cluster, crd);
    } else if (!now.crd.isDeleting && now.crd.generation !== known.generation) {
      kept.set(key, { kind: 'there', generation: now.crd.generation });
      warn(
        `${nameOf(crd)} in ${cluster.name} was changed by ${now.crd.writer}${cluster.isOwn ? ': save a file of the code, and it is applied again' : ''}`,
      );
    }
    return undefined;
  }

  async function missing(cluster: KeptCluster, crd: Crd): Promise<void> {
    if (!cluster.isOwn) {
      kept.set(keyOf(cluster, crd), { kind: 'left' });
      return warn(`${nameOf(crd)} was deleted in ${cluster.name}, with its objects: save a file of the code, and it is applied again`);
    }
    warn(`${nameOf(crd)} was deleted in ${cluster.name}, with its objects, and is applied again`);
    await bring(cluster, crd);
  }

  return {
    async use(crds) {
      const before = wanted;
      const results = await Promise.all(Array.from(clusters, (cluster) => bringAll(cluster, crds)));
      const refused = results.flat();
      if (refused.length > 0) throw new ConfigError('crd-refused', await refusalWithObjects(refused));
      wanted = crds;
      await tellLeftBehind(before);
    },
    async look() {
      await Promise.all(
        Array.from(clusters, async (cluster) => {
          for (const crd of wanted) if ((await lookAt(cluster, crd)) === 'unavailable') return;
        }),
      );
    },
  };
}

function refusalText(refused: readonly Refused[]): string {
  const [first] = refused;
  if (first === undefined) return '';
  const same = refused.filter(({ crd, text }) => crd === first.crd && text === first.text);
  return `${nameOf(first.crd)} is refused by ${same.map(({ cluster }) => cluster.name).join(' and ')}: ${first.text}`;
}

/** A cluster that refuses a change of a CRD often does so for the objects that are there. */
async function refusalWithObjects(refused: readonly Refused[]): Promise<string> {
  const [first] = refused;
  const objects = first === undefined ? undefined : await first.cluster.calls.objects(first.crd);
  if (first === undefined || objects === undefined) return refusalText(refused);
  return `${refusalText(refused)}; ${first.cluster.name} has ${objects}, and kubectl delete crd ${first.crd.metadata.name} deletes them with it`;
}
