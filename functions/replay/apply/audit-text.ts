/** The text of an audit, read: what applies before this one did. */
import * as z from 'zod';
import { ConfigError } from '../../core/errors.ts';
import { AUDIT_VERSION, type AuditLine } from './audit-line.ts';

/** Fields that a resume relies on; the rest of a line is for people. */
const messageIds = z.array(z.string());
const place = z.looseObject({
  cluster: z.string(),
  group: z.string(),
  version: z.string(),
  kind: z.string(),
  plural: z.string(),
  name: z.string(),
});
const line = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('begin'),
    at: z.string(),
    version: z.int(),
    madeAt: z.string().optional(),
    visibilitySeconds: z.number().optional(),
  }),
  z.looseObject({
    ...{ kind: z.literal('intent'), at: z.iso.datetime(), envelope: z.string(), object: place, letters: messageIds },
    replay: z.looseObject({ of: z.string(), by: z.string(), at: z.iso.datetime(), count: z.int() }),
    before: z.looseObject({ kind: z.enum(['absent', 'found']) }),
  }),
  z.looseObject({ kind: z.literal('result'), envelope: z.string(), result: z.string() }),
  z.looseObject({ kind: z.literal('fold'), envelope: z.string(), letters: messageIds }),
  z.looseObject({ kind: z.literal('verdict'), envelope: z.string(), verdict: z.string() }),
  z.looseObject({ kind: z.literal('deleted'), letters: messageIds }),
]);
const RELIED_ON = new Set(['begin', 'intent', 'result', 'fold', 'verdict', 'deleted']);

/**
 * The lines, oldest first. What a process left unfinished when it died is passed over: the end of the text, or what stands right before the
 * `begin` of the next. Kinds of line that this release does not know are kept as they are.
 *
 * @param path named in errors
 * @throws ConfigError `audit-damaged` with the number of the line, `audit-version`
 */
export function readAudit(text: string, path = 'the audit'): AuditLine[] {
  const texts = text.split('\n').map((one) => one.replace(/\r$/, ''));
  const lines: AuditLine[] = [];
  for (const [at, one] of texts.entries()) {
    if (one === '') continue;
    const parsed = parseLine(one);
    if (parsed !== undefined) {
      if (parsed.kind === 'begin' && parsed.version !== AUDIT_VERSION)
        throw new ConfigError('audit-version', `${path} is of another release; apply with that one, or make a new plan`, {
          facts: { line: at + 1, version: parsed.version },
        });
      lines.push(parsed);
      continue;
    }
    const isLast = texts.slice(at + 1).every((rest) => rest === '');
    if (isLast || parseLine(texts[at + 1] ?? '')?.kind === 'begin') continue;
    throw new ConfigError(
      'audit-damaged',
      `line ${at + 1} of ${path} is damaged, so that what was sent before cannot be told; mend it from a copy, or make a new plan`,
      { facts: { line: at + 1 } },
    );
  }
  return lines;
}

function parseLine(text: string): AuditLine | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const kind = typeof json === 'object' && json !== null && 'kind' in json ? json.kind : undefined;
  if (typeof kind !== 'string') return undefined;
  if (RELIED_ON.has(kind) && !line.safeParse(json).success) return undefined;
  return json as AuditLine;
}

/**
 * A new plan in the place of an older one has letters that came since: what the audit says was sent does not stand for them.
 *
 * @throws ConfigError `audit-other-plan`
 */
export function checkAuditPlan({ past, path }: { readonly past: readonly AuditLine[]; readonly path: string }, madeAt: string): void {
  const other = past.find((one) => one.kind === 'begin' && one.madeAt !== undefined && one.madeAt !== madeAt);
  if (other?.kind !== 'begin') return;
  throw new ConfigError(
    'audit-other-plan',
    `the audit ${path} is of a plan of ${other.madeAt}, and this one is of ${madeAt}; rename this plan, so that it has an audit of its own`,
  );
}

export type Intent = Extract<AuditLine, { kind: 'intent' }>;

/** What was accepted before, and what is open of it. */
export interface Past {
  /** By message id of each letter that was replaced. */
  readonly sent: ReadonlyMap<string, Intent>;
  /** Accepted, and without a verdict. */
  readonly open: readonly Intent[];
  readonly deleted: ReadonlySet<string>;
  /** The last apply came to no end: how many seconds after its death its letters may be hidden still. */
  readonly hiddenSeconds: number | undefined;
}

/** An intent without the result `sent` counts as not sent: it may be sent twice, but never not at all. */
export function pastOf(lines: readonly AuditLine[]): Past {
  const intents = new Map<string, Intent>();
  const sent = new Map<string, Intent>();
  const open = new Map<string, Intent>();
  const deleted = new Set<string>();
  let hiddenSeconds: number | undefined;
  for (const one of lines) {
    if (one.kind === 'begin') hiddenSeconds = one.visibilitySeconds;
    else if (one.kind === 'end') hiddenSeconds = undefined;
    else if (one.kind === 'deleted') for (const messageId of one.letters) deleted.add(messageId);
    else if (one.kind === 'intent') intents.set(one.envelope, one);
    else if (one.kind === 'result' && one.result === 'sent') {
      const intent = intents.get(one.envelope);
      if (intent === undefined) continue;
      for (const messageId of intent.letters) sent.set(messageId, intent);
      open.set(one.envelope, intent);
    } else if (one.kind === 'fold') {
      const intent = intents.get(one.envelope);
      if (intent !== undefined) for (const messageId of one.letters) sent.set(messageId, intent);
    } else if (one.kind === 'verdict' && one.verdict !== 'unjudged') open.delete(one.envelope);
  }
  return { sent, open: [...open.values()], deleted, hiddenSeconds };
}
