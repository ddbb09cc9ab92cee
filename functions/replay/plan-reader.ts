/** A plan read back from its file. Anybody may have edited it, so everything that is relied on is looked at, and a fault is a line. */
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';
import type { QueueDescription } from '../adapters/letter-queue-port.ts';
import { ConfigError } from '../core/errors.ts';
import { PLAN_VERSION, type PlanHead, type PlanItem } from './plan.ts';
import { REPLAY_CLASSES } from './verdict.ts';

export interface ReadPlan {
  /** Absolute, and without links in it: one plan has one audit, whatever it was called. */
  readonly path: string;
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
  readonly madeAt: string;
  readonly queue: Pick<PlanHead['queue'], 'url' | 'arn'>;
  readonly items: readonly PlanItem[];
}

/** Far more than a plan of all letters that SQS can hide at once. */
const PLAN_MAX_BYTES = 400_000_000;

const text = z.string().min(1);
const condition = z.looseObject({});
const state = z.object({
  ...{ uid: text, resourceVersion: text },
  ...{ generation: z.int().optional(), observedGeneration: z.int().optional(), observedRevision: z.int().optional() },
  ...{ isSettled: z.boolean(), isStalled: z.boolean(), isDeleting: z.boolean() },
  ...{ isHeld: z.boolean(), isPaused: z.boolean(), isSelected: z.boolean() },
  conditions: z.array(condition),
});
const object = z.object({
  ...{ cluster: text, group: z.string(), version: text, kind: text, plural: text, name: text },
  namespace: text.optional(),
});
const letter = z.looseObject({ messageId: text, code: z.string() });
const item = z.object({
  ...{ class: z.enum(REPLAY_CLASSES), reason: text },
  ...{ object: object.optional(), state: state.optional() },
  letters: z.array(letter).min(1),
});
const plan = z.object({ madeAt: z.iso.datetime(), queue: z.object({ url: text, arn: z.string() }), items: z.array(item) });

/**
 * The plan in the file. One that was edited by hand is as good as any other, as long as each letter has one place in it.
 *
 * @throws ConfigError `plan-unreadable`, `no-plan` for what is something else, `plan-version`, `plan-damaged`
 */
export function readPlan(file: string): ReadPlan {
  const { path, bytes } = readWhole(file);
  const refuse = refusalOf('plan-damaged', path);
  const json = parse(bytes, refuse);
  const head = z.looseObject({ plan: z.literal('dogwatch-replay'), version: z.unknown().optional() }).safeParse(json);
  if (!head.success) return refusalOf('no-plan', path)('it is JSON, but no plan of dogwatch replay');
  if (head.data.version !== PLAN_VERSION) {
    const version = typeof head.data.version === 'number' ? head.data.version : 'none';
    return refusalOf('plan-version', path)(`it is of version ${version}, and this release knows ${PLAN_VERSION}; make a new plan`);
  }
  const { success, data, error } = plan.safeParse(json);
  if (!success) {
    const [issue] = error.issues;
    return refuse(`${placeText(issue?.path ?? [])}: ${issue?.message ?? 'is wrong'}; mend it, or make a new plan`);
  }
  // What is left out and what is undefined are one and the same to whoever reads it.
  const items = data.items as unknown as readonly PlanItem[];
  checkItems(items, refuse);
  const { madeAt, queue } = data;
  return { path, sha256: createHash('sha256').update(bytes).digest('hex'), madeAt, queue, items };
}

/** Nothing is done to the letters of one queue by the plan of another. @throws ConfigError `other-queue`, before anything is received */
export function checkPlanQueue(
  { path, queue }: Pick<ReadPlan, 'path' | 'queue'>,
  { url, arn }: Pick<QueueDescription, 'url' | 'arn'>,
): void {
  // An URL has the endpoint in it, which may be called in many ways.
  const isSame = queue.arn !== '' && arn !== '' ? queue.arn === arn : queue.url === url;
  if (isSame) return;
  throw new ConfigError(
    'other-queue',
    `the plan ${path} is of ${queue.arn || queue.url}, and this is ${arn || url}; name its queue with --queue, or make a plan of this one`,
  );
}

type Refuse = (why: string, cause?: unknown) => never;

function refusalOf(code: string, path: string): Refuse {
  return (why, cause) => {
    throw new ConfigError(code, `the plan ${path} cannot be used: ${why}`, { cause });
  };
}

function readWhole(file: string): { readonly path: string; readonly bytes: Buffer } {
  const refuse = refusalOf('plan-unreadable', resolve(file));
  if (file === '') return refuse('its name is empty');
  let path: string;
  let stats: Stats;
  try {
    path = realpathSync(file);
    stats = statSync(path);
  } catch (error) {
    return refuse(whyOf(error), error);
  }
  // Its audit lies beside it, so it cannot come from a pipe.
  if (!stats.isFile()) return refuse(stats.isDirectory() ? 'it is a folder' : 'it is no file');
  if (stats.size === 0) return refuse('it is empty');
  if (stats.size > PLAN_MAX_BYTES) return refuse('it is larger than any plan; make plans of fewer letters, by the filters of replay plan');
  try {
    return { path, bytes: readFileSync(path) };
  } catch (error) {
    return refuse(whyOf(error), error);
  }
}

function whyOf(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'it is not there',
    ENOTDIR: 'it is not there',
    EACCES: 'we may not read it',
    EPERM: 'we may not read it',
  };
  return known[code] ?? code;
}

function parse(bytes: Buffer, refuse: Refuse): unknown {
  let whole: string;
  try {
    whole = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    return refuse('it is no text in UTF-8', error);
  }
  try {
    return JSON.parse(whole);
  } catch (error) {
    // What the engine says may quote the file; where it says it stands does not.
    const said = error instanceof Error ? error.message : '';
    const [, position, line, column] = /at position (\d+)(?: \(line (\d+) column (\d+)\))?/.exec(said) ?? [];
    const isCut = /end of JSON input/.test(said) || (position !== undefined && Number(position) >= whole.trimEnd().length);
    if (isCut) return refuse('it is cut off: the end of it is missing; make a new plan', error);
    return refuse(`it is not JSON${line === undefined ? '' : ` (line ${line}, column ${column})`}`, error);
  }
}

function placeText(path: readonly PropertyKey[]): string {
  return path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`)).join('') || 'it';
}

function checkItems(items: readonly PlanItem[], refuse: Refuse): void {
  const placeOf = new Map<string, number>();
  for (const [at, { class: name, object: about, letters }] of items.entries()) {
    if (name === 'to-replay' && about === undefined) refuse(`items[${at}] is to be replayed, but is about no object`);
    for (const { messageId } of letters) {
      const before = placeOf.get(messageId);
      // Quoted only where it could be one: it goes to a terminal.
      const name = /^[\w-]{1,100}$/.test(messageId) ? `the letter ${messageId}` : 'a letter';
      if (before !== undefined) refuse(`${name} stands in items[${before}] and in items[${at}]; leave it in one`);
      placeOf.set(messageId, at);
    }
  }
}
