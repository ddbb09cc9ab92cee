/**
 * What is remembered of a letter: a small record, since a queue may hold a hundred thousand of them. Texts that many letters share are
 * kept once, and no body is kept at all.
 */
import type { Reason } from '../../events/envelope.ts';
import type { ReceivedLetter } from '../adapters/letter-queue-port.ts';
import { type Letter, readLetter } from '../core/letter.ts';

/** The object that letters are about. One and the same for all of them, so that it can be the key of a map. */
export interface Target {
  readonly cluster: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface LetterRecord {
  readonly messageId: string;
  readonly kind: Letter['kind'];
  readonly code: string;
  /** Of an envelope of ours. */
  readonly target: Target | undefined;
  /** Known of some other letters as well. */
  readonly cluster: string | undefined;
  readonly uid: string | undefined;
  /** The generation that the last run read, else the one that was sent. */
  readonly generation: number | undefined;
  readonly reason: Reason | undefined;
  readonly mustRun: boolean;
  /** How often it was replayed before. */
  readonly replayCount: number;
  /** Unix milliseconds, as all times here. When the change was first seen; of what is no envelope of ours, when it was sent. */
  readonly firstSeenMs: number | undefined;
  readonly deadLetteredMs: number | undefined;
  /** Of the send that retention counts from. */
  readonly sentMs: number | undefined;
  readonly receiveCount: number | undefined;
  /** What is wrong with a body that is no envelope of this release. */
  readonly why: string | undefined;
}

/** When SQS deletes the letter: retention counts from the first send of a message, also where SQS moved it by itself. */
export function expiryOf({ sentMs }: Pick<LetterRecord, 'sentMs'>, retentionSeconds: number | undefined): number | undefined {
  return sentMs === undefined || retentionSeconds === undefined ? undefined : sentMs + retentionSeconds * 1000;
}

/** Makes records of letters. One for all letters of a queue: what they share is shared between its records. */
export class LetterReader {
  /** By name within a kind's place, which most of them share. */
  readonly #targets = new Map<string, Map<string, Target>>();
  readonly #texts = new Map<string, string>();

  recordOf(received: ReceivedLetter, letter: Letter = readLetter(received)): LetterRecord {
    const { messageId, sentAtMs: sentMs, receiveCount } = received;
    const none = {
      ...{
        target: undefined,
        cluster: undefined,
        uid: undefined,
        generation: undefined,
        reason: undefined,
        mustRun: false,
        replayCount: 0,
      },
      ...{ firstSeenMs: sentMs, deadLetteredMs: undefined, why: undefined },
    };
    const base = { messageId, kind: letter.kind, code: this.#one(letter.code), ...none, sentMs, receiveCount };
    switch (letter.kind) {
      case 'diagnosed':
      case 'undiagnosed': {
        const { data } = letter.envelope;
        const { diagnosis, uid, reason, mustRun, replay } = data;
        return {
          ...base,
          target: this.#targetOf(data),
          cluster: this.#one(data.cluster),
          uid,
          generation: diagnosis?.generationSeen ?? data.generation,
          reason,
          mustRun,
          replayCount: replay?.count ?? 0,
          firstSeenMs: Date.parse(data.firstSeenAt),
          deadLetteredMs: diagnosis === undefined ? undefined : Date.parse(diagnosis.deadLetteredAt),
          why: letter.kind === 'undiagnosed' && letter.note !== undefined ? this.#one(letter.note) : undefined,
        };
      }
      case 'heartbeat':
        return { ...base, cluster: letter.cluster };
      case 'other-release':
        return { ...base, cluster: letter.place.cluster, why: this.#one(letter.type) };
      case 'foreign':
        return { ...base, why: this.#one(letter.why) };
    }
  }

  #targetOf({
    cluster,
    group,
    version,
    kind,
    plural,
    namespace,
    name,
  }: Omit<Target, 'namespace'> & { readonly namespace?: string | undefined }): Target {
    const key = [cluster, group, kind, namespace ?? ''].join('/');
    const named = this.#targets.get(key) ?? new Map<string, Target>();
    const known = named.get(name);
    if (known !== undefined) return known;
    this.#targets.set(key, named);
    const one = (text: string): string => this.#one(text);
    const target: Target = {
      ...{ cluster: one(cluster), group: one(group), version: one(version), kind: one(kind), plural: one(plural) },
      namespace: namespace === undefined ? undefined : one(namespace),
      name,
    };
    named.set(name, target);
    return target;
  }

  #one(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}
