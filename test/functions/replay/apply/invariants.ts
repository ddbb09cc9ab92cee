/** What holds whoever was killed when: no letter is lost, and next to nothing is sent twice. */
import assert from 'node:assert/strict';
import { readAudit } from '../../../../functions/replay/apply/audit-text.ts';
import type { PlanItem } from '../../../../functions/replay/plan.ts';
import type { World } from './world.ts';

export interface Checked {
  readonly world: World;
  readonly items: readonly PlanItem[];
  /** Texts of the audits of all who applied the plan. */
  readonly audits: readonly string[];
  /** Message ids that others deleted, or sent and deleted. */
  readonly takenByOthers?: ReadonlySet<string>;
}

/** Every letter of the plan that is gone was replaced by a message which was accepted, or acknowledged as its object justifies. */
export function assertNothingLost({ world, items, audits, takenByOthers = new Set() }: Checked): void {
  const lines = audits.flatMap((text) => readAudit(text));
  const accepted = new Set(world.accepted.map(({ id }) => id));
  const replaced = new Set<string>();
  const acknowledged = new Set<string>();
  const intents = new Map<string, readonly string[]>();
  const isSent = (envelope: string): boolean => accepted.has(envelope);
  for (const line of lines) {
    if (line.kind === 'intent') intents.set(line.envelope, line.letters);
    if (line.kind === 'result' && line.result === 'sent') {
      assert.ok(isSent(line.envelope), `${line.envelope} is on record as sent, but nobody accepted it`);
      for (const letter of intents.get(line.envelope) ?? []) replaced.add(letter);
    }
    if (line.kind === 'fold') for (const letter of line.letters) if (isSent(line.envelope)) replaced.add(letter);
    if (line.kind === 'acknowledge') for (const letter of line.letters) acknowledged.add(letter);
  }
  const present = new Set(world.letters.stored.map(({ messageId }) => messageId));
  for (const item of items) {
    for (const { messageId } of item.letters) {
      if (present.has(messageId) || takenByOthers.has(messageId) || replaced.has(messageId)) continue;
      assert.ok(acknowledged.has(messageId), `letter ${messageId} of ${item.object?.name} is lost`);
      assert.ok(needsNothing(world, item), `letter ${messageId} of ${item.object?.name} was acknowledged, but its object needs a run`);
    }
  }
}

/** True where the object shows that the letter asks for nothing; what is true of it once stays true. */
function needsNothing(world: World, { object, letters }: PlanItem): boolean {
  if (object === undefined) return true; // a heartbeat
  const found = world.object(object.name, object.cluster);
  const uid = letters[0]?.uid;
  if (found === undefined || (uid !== undefined && found.metadata.uid !== uid)) return true;
  const status = found['status'] as { observedGeneration?: number } | undefined;
  return status?.observedGeneration === found.metadata.generation;
}

/** The messages that were accepted for objects which had one already; each object of the plan has one letter's worth of sends. */
export function repeatedSends(world: World): { readonly count: number; readonly instants: ReadonlySet<string> } {
  const seen = new Map<string, string>();
  const instants = new Set<string>();
  let count = 0;
  for (const { data } of world.accepted) {
    const key = `${data.cluster}/${data.kind}/${data.name}/${data.uid}`;
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, data.replay?.at ?? '');
      continue;
    }
    count += 1;
    instants.add(first);
  }
  return { count, instants };
}
