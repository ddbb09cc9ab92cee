/** Things ordered by when they are due: a binary heap. Adding and taking cost O(log n), looking at the first O(1). */

export interface Timed {
  /** Milliseconds of the steady clock. */
  readonly notBeforeMs: number;
}

export class TimeHeap<T extends Timed> {
  #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The one that is due first. */
  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt] as T;
      if (parent.notBeforeMs <= item.notBeforeMs) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  /** Takes the first one away. */
  removeFirst(): void {
    const items = this.#items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      if (childAt >= items.length) break;
      if (childAt + 1 < items.length && (items[childAt + 1] as T).notBeforeMs < (items[childAt] as T).notBeforeMs) childAt += 1;
      const child = items[childAt] as T;
      if (child.notBeforeMs >= last.notBeforeMs) break;
      items[at] = child;
      at = childAt;
    }
    items[at] = last;
  }

  /** Keeps only what passes. */
  retain(isKept: (item: T) => boolean): void {
    const kept = this.#items.filter(isKept);
    this.#items = [];
    for (const item of kept) this.add(item);
  }
}
