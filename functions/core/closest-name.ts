/** What somebody may have meant who wrote a name that we do not know. */

/**
 * The known name that is nearest to `name`, letter case apart; the first of several, undefined where none is within `maxEdits`
 * insertions, deletions and substitutions.
 */
export function closestName(name: string, known: readonly string[], maxEdits: number = Number.POSITIVE_INFINITY): string | undefined {
  let closest: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits <= maxEdits && (closest === undefined || edits < closest.edits)) closest = { candidate, edits };
  }
  return closest?.candidate;
}

/** Levenshtein's distance: insertions, deletions and substitutions that make `b` of `a`. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [i, left] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, right] of [...b].entries()) {
      next.push(Math.min((row[j] ?? 0) + (left === right ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
