/**
 * The object of a kind that was last seen to change, as a witness of the history that we know. A cluster whose etcd was restored
 * may have written past our position again by the time we ask; its version alone then says nothing, but the witness is not there
 * as it was.
 *
 * No proof of the contrary: where nothing of the kind changed between the copy and the restore, or the witness was written
 * again since, both histories look the same.
 */
import type { ObjectMetadata } from './observed-object.ts';
import { compareResourceVersions } from './resource-version.ts';

export interface Witness {
  readonly uid: string;
  readonly namespace?: string;
  readonly name: string;
  /** Of its last change; of its deletion where it is gone. */
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly isGone: boolean;
}

/**
 * What a look at the witness tells.
 * - `same`: nothing speaks against it
 * - `unsure`: it is gone, and nobody saw it go: deleted meanwhile, or never created in this history; or it is there after it went,
 *   with a selector: back in the selection, or never out of it in this history
 * - `other`: impossible in the history that we know
 */
export type History = 'same' | 'unsure' | 'other';

/** The later of the witness so far and an object that was just seen. Where versions do not compare, what was just seen. */
export function laterWitness(witness: Witness | undefined, metadata: ObjectMetadata, isGone: boolean): Witness {
  const { uid, namespace, name, resourceVersion, generation } = metadata;
  if (witness !== undefined && compareResourceVersions(resourceVersion, witness.resourceVersion) === -1) return witness;
  return { uid, ...(namespace ? { namespace } : {}), name, resourceVersion, generation, isGone };
}

/**
 * Compares a witness with what a consistent read finds under its name.
 *
 * @param found undefined where nothing is there
 * @param isSelection a part of the kind is seen only, by a selector: what went may have left that part alive, and come back
 */
export function historyOf(witness: Witness, found: ObjectMetadata | undefined, isSelection: boolean): History {
  if (found === undefined) return witness.isGone ? 'same' : 'unsure';
  if (compareResourceVersions(found.resourceVersion, witness.resourceVersion) === -1) return 'other';
  if (found.uid !== witness.uid) return witness.isGone ? 'same' : 'unsure';
  if (witness.isGone) return isSelection ? 'unsure' : 'other';
  const isYounger = found.generation !== undefined && witness.generation !== undefined && found.generation < witness.generation;
  return isYounger ? 'other' : 'same';
}
