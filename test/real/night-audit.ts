/** What the audits of a night say, read line by line, apart from the product's reader. */
import { readFileSync } from 'node:fs';
import type { AuditLine } from '../../functions/replay/apply/audit-line.ts';
import type { ApplySummary } from '../../functions/replay/apply/contract.ts';

type Line<Kind extends AuditLine['kind']> = Extract<AuditLine, { readonly kind: Kind }>;

export interface Account {
  /** Message ids of letters that were taken off the queue. */
  readonly deleted: ReadonlySet<string>;
  /** Letters that stayed, each with why: the last word of the audit. */
  readonly left: ReadonlyMap<string, string>;
  /** Names of objects that a message was accepted for, one entry a message. */
  readonly sent: readonly string[];
  /** Envelope ids whose intent has no result. */
  readonly unanswered: readonly string[];
  /** Name of each object with a verdict. */
  readonly verdicts: ReadonlyMap<string, string>;
  /** Of the applies that came to an end. */
  readonly summaries: readonly ApplySummary[];
}

/** Lines that are whole; one that a kill has cut off is none. */
export function auditLines(path: string): AuditLine[] {
  const texts = readFileSync(path, 'utf8').split('\n');
  return texts.flatMap((text) => {
    try {
      return [JSON.parse(text) as AuditLine];
    } catch {
      return [];
    }
  });
}

export function accountOf(lines: readonly AuditLine[]): Account {
  const of = <Kind extends AuditLine['kind']>(kind: Kind): Line<Kind>[] => lines.filter((line): line is Line<Kind> => line.kind === kind);
  const nameBy = new Map(of('intent').map(({ envelope, object }) => [envelope, object.name]));
  const name = (envelope: string): string => nameBy.get(envelope) ?? `nobody announced ${envelope}`;
  const answered = new Set(of('result').map(({ envelope }) => envelope));
  const deleted = new Set(of('deleted').flatMap(({ letters, notDeleted = [] }) => letters.filter((id) => !notDeleted.includes(id))));
  const left = new Map(of('left').flatMap(({ letters, reason }) => letters.map((id) => [id, reason] as const)));
  return {
    deleted,
    left: new Map([...left].filter(([id]) => !deleted.has(id))),
    sent: of('result').flatMap(({ envelope, result }) => (result === 'sent' ? [name(envelope)] : [])),
    unanswered: [...nameBy.keys()].filter((envelope) => !answered.has(envelope)),
    verdicts: new Map(of('verdict').map(({ envelope, verdict }) => [name(envelope), verdict])),
    summaries: of('end').map(({ summary }) => summary),
  };
}
