/** How the lines of a screen are shared out among the parts that are drawn on it. */

export interface Part {
  /** Whose least is served first: the lowest. */
  readonly needs: number;
  /** The same for what it can use beyond that. */
  readonly uses: number;
  /** Lines below which it says nothing: it has as many, or none. */
  readonly least: number;
  /** Lines that it can use; 0 leaves it out. */
  readonly most: number;
}

/**
 * Lines for each part, in the order of the parts. With `between` lines before every part that is there but the first, all of it
 * is no more than `height`.
 */
export function share(parts: readonly Part[], height: number, between: number): number[] {
  const rooms = parts.map(() => 0);
  let free = height + between;
  const serve = (rank: 'needs' | 'uses', limit: (part: Part) => number): void => {
    const inOrder = parts.map((part, index) => ({ part, index })).sort((a, b) => a.part[rank] - b.part[rank]);
    for (const { part, index } of inOrder) {
      const has = rooms[index] ?? 0;
      const gap = has === 0 ? between : 0;
      const more = Math.min(limit(part) - has, free - gap);
      if (more <= 0 || has + more < Math.min(part.least, part.most)) continue;
      rooms[index] = has + more;
      free -= more + gap;
    }
  };
  serve('needs', ({ least, most }) => Math.min(least, most));
  serve('uses', ({ most }) => most);
  return rooms;
}
