/** The objects of one kind in the scripted server: a few numbers each, and the order in which they changed. */

/** What is kept of an object. */
export interface ObjectState {
  readonly index: number;
  readonly resourceVersion: number;
  readonly generation: number;
  /** Differs from the generation while the object is not settled. */
  readonly observedGeneration: number;
}

export interface Change {
  readonly index: number;
  readonly version: number;
}

/** The first resourceVersion; some digits long, as they are in a cluster that has lived. */
export const FIRST_VERSION = 500_000_000;

export class ScriptedCollection {
  readonly size: number;
  readonly #versions: Float64Array;
  readonly #generations: Uint32Array;
  readonly #observed: Uint32Array;
  readonly #history: Change[] = [];

  /** So many objects, all settled, created one after another. */
  constructor(size: number) {
    this.size = size;
    this.#versions = Float64Array.from({ length: size }, (_, index) => FIRST_VERSION + index);
    this.#generations = new Uint32Array(size).fill(1);
    this.#observed = new Uint32Array(size).fill(1);
  }

  at(index: number): ObjectState {
    return {
      index,
      resourceVersion: this.#versions[index] ?? 0,
      generation: this.#generations[index] ?? 0,
      observedGeneration: this.#observed[index] ?? 0,
    };
  }

  /** A write at that version: of the spec, of a status that settles, or one that neither of them shows. */
  change(index: number, version: number, what: 'spec' | 'settle' | 'other'): void {
    if (what === 'spec') this.#generations[index] = (this.#generations[index] ?? 0) + 1;
    if (what === 'settle') this.#observed[index] = this.#generations[index] ?? 0;
    this.#versions[index] = version;
    this.#history.push({ index, version });
  }

  /** Changes after a position, oldest first, the creation of every object included. */
  *changesAfter(position: number): Generator<Change, void, undefined> {
    for (let index = Math.max(0, position - FIRST_VERSION + 1); index < this.size; index += 1) {
      yield { index, version: FIRST_VERSION + index };
    }
    let at = this.#history.length;
    while (at > 0 && (this.#history[at - 1]?.version ?? 0) > position) at -= 1;
    yield* this.#history.slice(at);
  }
}
