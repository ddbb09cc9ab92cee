/** `dogwatch replay show`: letters in full, beside their object as it is now and what changed since. */
import type { ReceivedLetter } from '../../adapters/letter-queue-port.ts';
import type { Environment } from '../../core/config.ts';
import { ConfigError } from '../../core/errors.ts';
import { type Letter, readLetter } from '../../core/letter.ts';
import { type Change, changesSince } from '../../replay/changes.ts';
import { kindTest } from '../../replay/letter-filter.ts';
import { expiryOf, LetterReader, type LetterRecord } from '../../replay/letter-record.ts';
import type { ObjectState } from '../../replay/object-state.ts';
import { kindFactsOf, type ObjectSource, readTarget, reconcilerFor } from '../../replay/read-objects.ts';
import { judgeLetters, type Reading, type Verdict, verdictWithoutObject } from '../../replay/verdict.ts';
import type { ExitCode } from '../main.ts';
import { atDesk, type Desk, type DeskOptions, lookAt, openSource } from './desk.ts';
import { letterText, nowText } from './letter-text.ts';
import { jsonLine, plural } from './text.ts';

export interface ShowOptions extends DeskOptions {
  readonly namespace?: string;
  readonly cluster?: string;
}

/** A letter, and what it comes to. */
export interface Shown {
  readonly received: ReceivedLetter;
  readonly letter: Letter;
  readonly record: LetterRecord;
  readonly expiresMs: number | undefined;
  readonly verdict: Verdict;
  readonly state: ObjectState | undefined;
  /** Why the object could not be read. */
  readonly untold: string | undefined;
  readonly changes: readonly Change[];
}

/** Letters that are shown; further ones are counted. */
const SHOWN_MAX = 10;

export async function replayShow(env: Environment, words: string, options: ShowOptions): Promise<ExitCode> {
  const isMeant = meant(words, options);
  return atDesk(env, options, async (desk) => {
    const source = await openSource(env, desk.say);
    try {
      return await showLetters(desk, source, words, isMeant);
    } finally {
      source.close();
    }
  });
}

/** Whether a letter is what the words name. @throws ConfigError `usage` */
export function meant(words: string, { namespace, cluster }: ShowOptions): (letter: LetterRecord) => boolean {
  const [, kind, name] = /^([^/]+)\/([^/]+)$/.exec(words) ?? [];
  if (kind === undefined) {
    if (!/^[\w-]{1,100}$/.test(words))
      throw new ConfigError('usage', `${JSON.stringify(words)} is neither KIND/NAME, such as tenant/acme, nor a message id`);
    return ({ messageId }) => messageId === words;
  }
  const isOfKind = kindTest(kind);
  return ({ target }) =>
    target !== undefined &&
    target.name === name &&
    (namespace === undefined || target.namespace === namespace) &&
    (cluster === undefined || target.cluster === cluster) &&
    isOfKind(target);
}

/** Prints the letters; 1 where there is none, or the look was stopped. */
export async function showLetters(
  desk: Desk,
  source: Pick<ObjectSource, 'clientOf' | 'reconcilers'>,
  words: string,
  isMeant: (letter: LetterRecord) => boolean,
): Promise<ExitCode> {
  const { clock, json, print, say } = desk;
  const reader = new LetterReader();
  const found: { readonly received: ReceivedLetter; readonly letter: Letter; readonly record: LetterRecord }[] = [];
  let moreCount = 0;
  const isOne = !words.includes('/');
  const looked = await lookAt(desk, (received) => {
    const letter = readLetter(received);
    const record = reader.recordOf(received, letter);
    if (!isMeant(record)) return true;
    if (found.length < SHOWN_MAX) found.push({ received, letter, record });
    else moreCount += 1;
    return !isOne;
  });
  if (looked === undefined) return 1;
  await looked.givenBack;
  if (found.length === 0) {
    if (json) print(JSON.stringify({ version: 1, letters: [] }));
    else say(`no letter of ${words} among ${looked.report.seenCount}`);
    return 1;
  }
  const shown: Shown[] = [];
  for (const one of found.sort((a, b) => (a.record.firstSeenMs ?? 0) - (b.record.firstSeenMs ?? 0)))
    shown.push(await look(one, desk, source));
  if (json) print(jsonLine({ version: 1, letters: shown.map(shownJson), more: moreCount }));
  else for (const one of shown) for (const line of [...letterText(one, clock.now()), ...nowText(one), '']) print(line);
  if (moreCount > 0) say(`${plural(moreCount, 'letter')} more of ${words}; a message id shows one`);
  return 0;
}

async function look(
  one: Pick<Shown, 'received' | 'letter' | 'record'>,
  { description, clock, stop }: Desk,
  { clientOf, reconcilers }: Pick<ObjectSource, 'clientOf' | 'reconcilers'>,
): Promise<Shown> {
  const { record } = one;
  const base = { ...one, expiresMs: expiryOf(record, description.retentionSeconds), state: undefined, untold: undefined, changes: [] };
  const { target } = record;
  const apart = verdictWithoutObject(record);
  if (apart !== undefined || target === undefined) return { ...base, verdict: apart ?? { class: 'unreadable', reason: 'foreign' } };
  const client = clientOf(target.cluster);
  const answer =
    typeof client === 'string'
      ? ({ kind: 'failed', code: client, says: client } as const)
      : await readTarget(client, target, { reconcilers, clock, signal: stop });
  const reading: Reading = answer.kind === 'read' ? answer.reading : { kind: 'untold', code: answer.code };
  const verdict = judgeLetters([record], reading, kindFactsOf(reconcilerFor(target, reconcilers)));
  const object = answer.kind === 'read' ? answer.object : undefined;
  return {
    ...base,
    verdict,
    state: reading.kind === 'found' ? reading.state : undefined,
    untold: answer.kind === 'failed' ? answer.says : undefined,
    changes: object === undefined ? [] : changesSince(object, record.deadLetteredMs ?? record.firstSeenMs ?? 0),
  };
}

function shownJson({ received, letter, record, expiresMs, verdict, state, changes }: Shown): object {
  const { messageId, body, attributes, receiveCount } = received;
  return {
    ...{ messageId, kind: letter.kind, code: letter.code, receiveCount: receiveCount ?? null },
    expires: expiresMs === undefined ? null : new Date(expiresMs).toISOString(),
    ...(record.why === undefined ? {} : { why: record.why }),
    ...{ attributes, ...('envelope' in letter ? { envelope: letter.envelope } : { body }) },
    ...{ verdict, ...(state === undefined ? {} : { state }), changes },
  };
}
