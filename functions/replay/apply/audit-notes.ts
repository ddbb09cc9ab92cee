/** What an apply writes down: lines in the order in which things happened, and those about letters that came late or stay. */
import { AUDIT_VERSION, type AuditLine } from './audit-line.ts';
import type { Past } from './audit-text.ts';
import type { ApplyOptions, AuditPort } from './contract.ts';
import type { Item } from './items.ts';
import { fateOf } from './tally.ts';

/** An audit to which one thing is written after the other, whoever asks. */
export class SerialAudit implements Pick<AuditPort, 'append'> {
  readonly #port: Pick<AuditPort, 'append'>;
  #last: Promise<void> = Promise.resolve();

  constructor(port: Pick<AuditPort, 'append'>) {
    this.#port = port;
  }

  append(lines: readonly AuditLine[], durability: 'synced' | 'buffered'): Promise<void> {
    const appended = this.#last.then(() => this.#port.append(lines, durability));
    this.#last = appended.catch(() => undefined); // whoever asked is told
    return appended;
  }
}

/** What an apply begins with. */
export function beginLine({ plan, settings, command }: ApplyOptions, at: string, visibilitySeconds: number): AuditLine {
  const { sha256, madeAt } = plan;
  return { kind: 'begin', at, version: AUDIT_VERSION, by: settings.by, command, plan: sha256, madeAt, settings, visibilitySeconds };
}

export interface LateLetters {
  readonly messageIds: readonly string[];
  readonly byLetter: ReadonlyMap<string, Item>;
  readonly past: Past;
  readonly batch: number;
  readonly at: string;
}

/** Why letters are deleted that came after their object was done with; nothing where the audit says it already. */
export function lateLines({ messageIds, byLetter, past, batch, at }: LateLetters): AuditLine[] {
  const byItem = Map.groupBy(messageIds, (messageId) => byLetter.get(messageId));
  return [...byItem].flatMap(([item, letters]): AuditLine[] => {
    if (item?.state.kind === 'acknowledged')
      return [{ kind: 'acknowledge', at, batch, ...placeOf(item), letters, reason: item.state.reason }];
    const news = letters.filter((messageId) => !past.sent.has(messageId));
    if (item?.state.kind !== 'sent' || news.length === 0) return [];
    return [{ kind: 'fold', at, batch, envelope: item.state.envelope, letters: news }];
  });
}

/** An item's letters that stay: a line for each reason. */
export function leftLines(item: Item, wasOurs: (messageId: string) => boolean, at: string): AuditLine[] {
  const fates = [...item.received.keys()].map((messageId) => ({ messageId, fate: fateOf(item, messageId, wasOurs) }));
  const byReason = Map.groupBy(fates, ({ fate }) => (fate.kind === 'left' ? fate.reason : undefined));
  return [...byReason].flatMap(([reason, letters]): AuditLine[] =>
    reason === undefined ? [] : [{ kind: 'left', at, ...placeOf(item), letters: letters.map(({ messageId }) => messageId), reason }],
  );
}

function placeOf({ place }: Item): Pick<Extract<AuditLine, { kind: 'left' }>, 'object'> {
  return place === undefined ? {} : { object: place };
}
