/** The items that wait for their turn: those to be sent one of each cause after the other, so that a canary has some of each. */
import type { Item } from './items.ts';

export class Agenda {
  /** By cluster, kind and code. Sets keep the order, and let go of their first at no cost. */
  readonly #sends = new Map<string, { readonly cluster: string; readonly items: Set<Item> }>();
  /** Those that need nothing by the plan: looked at again, and acknowledged. */
  readonly #checks = new Set<Item>();

  get size(): number {
    let size = this.#checks.size;
    for (const { items } of this.#sends.values()) size += items.size;
    return size;
  }

  /** Twice is once. */
  add(item: Item): void {
    const { planned, target } = item;
    if (planned.class !== 'to-replay' || target === undefined) {
      this.#checks.add(item);
      return;
    }
    const key = [target.cluster, target.group, target.kind, planned.letters[0]?.code].join('/');
    const group = this.#sends.get(key);
    if (group === undefined) this.#sends.set(key, { cluster: target.cluster, items: new Set([item]) });
    else group.items.add(item);
  }

  /** Up to `max`, of clusters that may have one more; `mayTake` is asked for each, and counts. */
  takeSends(max: number, mayTake: (cluster: string) => boolean): Item[] {
    const taken: Item[] = [];
    const groups = new Set([...this.#sends].filter(([, { items }]) => items.size > 0));
    while (taken.length < max && groups.size > 0) {
      for (const group of groups) {
        const [key, { cluster, items }] = group;
        const [item] = items;
        if (taken.length === max) break;
        if (item === undefined || !mayTake(cluster)) {
          groups.delete(group);
          continue;
        }
        items.delete(item);
        taken.push(item);
        // Behind the others: the next turn begins with those that had none.
        const own = this.#sends.get(key);
        this.#sends.delete(key);
        if (own !== undefined) this.#sends.set(key, own);
      }
    }
    return taken;
  }

  /** Up to `max` that are looked at, of clusters that may be asked. */
  takeChecks(max: number, mayAsk: (cluster: string | undefined) => boolean): Item[] {
    const taken: Item[] = [];
    for (const item of this.#checks) {
      if (taken.length === max) break;
      if (!mayAsk(item.target?.cluster)) continue;
      this.#checks.delete(item);
      taken.push(item);
    }
    return taken;
  }

  /** Clusters that something waits for, and whether that is a send. */
  *waiting(): Generator<{ readonly cluster: string | undefined; readonly isSend: boolean }> {
    for (const { cluster, items } of this.#sends.values()) if (items.size > 0) yield { cluster, isSend: true };
    for (const cluster of new Set([...this.#checks].map(({ target }) => target?.cluster))) yield { cluster, isSend: false };
  }

  /** All of a cluster, which nothing is done about any more. */
  takeCluster(cluster: string): Item[] {
    const taken = [...this.#checks].filter(({ target }) => target?.cluster === cluster);
    for (const item of taken) this.#checks.delete(item);
    for (const [key, group] of this.#sends) {
      if (group.cluster !== cluster) continue;
      taken.push(...group.items);
      this.#sends.delete(key);
    }
    return taken;
  }
}
