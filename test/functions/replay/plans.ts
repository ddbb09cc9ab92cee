/** Plans of a few letters for tests, made as the command makes them. */
import type { Reconciler } from '../../../functions/core/reconciler.ts';
import type { LetterRecord, Target } from '../../../functions/replay/letter-record.ts';
import { LetterTable } from '../../../functions/replay/letter-table.ts';
import { type PlanItem, writtenItems } from '../../../functions/replay/plan.ts';
import { PlanDraft } from '../../../functions/replay/plan-draft.ts';
import { type ObjectSource, readObjects } from '../../../functions/replay/read-objects.ts';
import type { Reading } from '../../../functions/replay/verdict.ts';

const TWO_WEEKS = 1_209_600;

/** A draft of the letters, of which no object was read. */
export function draftOf(letters: Iterable<LetterRecord>, reconcilers: readonly Reconciler[]): PlanDraft {
  const table = new LetterTable();
  for (const letter of letters) table.add(letter);
  return new PlanDraft(table, reconcilers);
}

/** The items as they are written; what is not in `readings` could not be read. */
export function planItems(
  letters: Iterable<LetterRecord>,
  readings: ReadonlyMap<Target, Reading>,
  reconcilers: readonly Reconciler[],
  retentionSeconds = TWO_WEEKS,
): PlanItem[] {
  const draft = draftOf(letters, reconcilers);
  for (const target of draft.targets) draft.judge(target, readings.get(target) ?? { kind: 'untold', code: 'not-read' });
  const written = [...writtenItems(draft, draft.items(), retentionSeconds)];
  return written.map(({ letters: own, ...item }) => ({ ...item, letters: [...own] }));
}

/** A reading of each, in their order. */
export async function readingsOf(targets: Iterable<Target>, source: ObjectSource): Promise<Map<Target, Reading>> {
  const readings = new Map<Target, Reading>([...targets].map((target) => [target, { kind: 'untold', code: 'not-read' }]));
  await readObjects(readings.keys(), source, (target, reading) => readings.set(target, reading));
  return readings;
}
