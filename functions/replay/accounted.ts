/** Letters of a plan that are not missed when they are not seen: what was done with them stands in a file beside the plan. */
import { auditPathOf } from './apply/audit-file.ts';
import { droppedPathOf } from './dropped-file.ts';
import { jsonLinesOf } from './json-lines.ts';

/**
 * Message ids of letters that an apply has replaced, or an apply or a drop has deleted or was about to. Reads leniently, since nothing is done
 * by it.
 */
export async function accountedFor(planPath: string): Promise<ReadonlySet<string>> {
  const accounted = new Set<string>();
  /** Letters of each message that was to be sent. */
  const intents = new Map<unknown, unknown>();
  const add = (letters: unknown): void => {
    if (Array.isArray(letters)) for (const messageId of letters) accounted.add(String(messageId));
  };
  for (const path of [auditPathOf(planPath), droppedPathOf(planPath)]) {
    try {
      for await (const line of jsonLinesOf(path)) {
        const { kind, letters, messageId, envelope, result } = line ?? {};
        if (kind === 'deleted' || kind === 'acknowledge' || kind === 'fold') add(letters);
        else if (kind === 'letter') add([messageId]);
        else if (kind === 'intent') intents.set(envelope, letters);
        else if (kind === 'result' && result === 'sent') add(intents.get(envelope));
      }
    } catch {
      // Not there, or not to be read: whoever writes it says so.
    }
  }
  return accounted;
}
