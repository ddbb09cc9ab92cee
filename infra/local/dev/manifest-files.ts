/** Applies what stands in files to every cluster, and tells what became of it. */
import { readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Applier } from './apply-object.ts';
import type { DevEvent } from './dev-state.ts';
import { type Manifest, type ManifestObject, readManifest } from './manifest.ts';

export type Appliers = ReadonlyMap<string, Applier>;

const SAMPLES = resolve(import.meta.dirname, '../../../events/samples');

/** Applies the file; what is wrong is a notice, and the rest is applied. */
export async function applyFile(file: string, appliers: Appliers, emit: (event: DevEvent) => void): Promise<void> {
  await applyManifest(readManifest(file), file, appliers, emit);
}

/** Applies those samples whose kind is among `kinds`, `<apiVersion> <kind>`: one of them is for a kind that users write first. */
export async function applySamples(kinds: ReadonlySet<string>, appliers: Appliers, emit: (event: DevEvent) => void): Promise<void> {
  for (const name of readdirSync(SAMPLES).filter((file) => file.endsWith('.yaml'))) {
    const file = join(SAMPLES, name);
    const { entries, problems } = readManifest(file);
    const known = entries.filter(({ object }) => kinds.has(`${object.apiVersion} ${object.kind}`));
    if (known.length + problems.length > 0)
      await applyManifest({ entries: known, problems }, relative(process.cwd(), file), appliers, emit);
  }
}

async function applyManifest(
  { entries, problems }: Manifest,
  file: string,
  appliers: Appliers,
  emit: (event: DevEvent) => void,
): Promise<void> {
  for (const text of problems) emit({ kind: 'notice', level: 'error', text });
  const applied = new Map([...appliers.keys()].map((cluster) => [cluster, new Set<string>()]));
  const left = new Map(appliers);
  for (const { object, where } of entries) {
    const refusals = await applyToAll(object, left);
    const refusing = [...refusals.values()].flat();
    for (const cluster of left.keys()) if (!refusing.includes(cluster)) applied.get(cluster)?.add(nameOf(object));
    for (const [text, clusters] of refusals)
      emit({ kind: 'notice', level: 'error', text: `${where}: ${nameOf(object)} in ${clusters.join(', ')}: ${text}` });
    // A file of a hundred objects would wait a hundred times.
    for (const [cluster, { isAnswering }] of left) if (!isAnswering) left.delete(cluster);
  }
  const byNames = Map.groupBy(applied, ([, names]) => [...names].join(', '));
  for (const [names, clusters] of byNames)
    if (names !== '') emit({ kind: 'step', text: `applied ${file} to ${clusters.map(([cluster]) => cluster).join(' and ')}: ${names}` });
}

/** What clusters refuse it for, and which. */
async function applyToAll(object: ManifestObject, appliers: Appliers): Promise<Map<string, string[]>> {
  const results = await Promise.all([...appliers].map(async ([cluster, applier]) => ({ cluster, refusal: await applier.apply(object) })));
  const refusals = new Map<string, string[]>();
  for (const { cluster, refusal } of results) if (refusal !== undefined) refusals.set(refusal, [...(refusals.get(refusal) ?? []), cluster]);
  return refusals;
}

export const nameOf = ({ kind, metadata }: ManifestObject): string => `${kind.toLowerCase()}/${metadata.name}`;
