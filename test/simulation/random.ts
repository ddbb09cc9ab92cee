/** Random numbers from a seed: the same seed draws the same, on every machine. */

export class Random {
  #state: number;

  /** @param seed any integer; only its low 32 bits count */
  constructor(seed: number) {
    this.#state = seed >>> 0;
    // Seeds that follow each other must not draw alike.
    for (let round = 0; round < 4; round += 1) this.next();
  }

  /** A number in [0, 1). The mixing steps are those of splitmix32. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** @throws RangeError for an empty list */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** A stream of its own, so that what one actor draws does not shift what another one does. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
