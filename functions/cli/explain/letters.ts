/** The dead letters of an object, and whether they still ask for something. */
import type { Environment } from '../../core/config.ts';
import type { Asked } from '../../core/doctor/finding.ts';
import { ConfigError, cutText, DogwatchError } from '../../core/errors.ts';
import { type LetterFacts, notAsked, type Place } from '../../core/explain/facts.ts';
import { readLetter } from '../../core/letter.ts';
import type { KubernetesObject, Reconciler } from '../../core/reconciler.ts';
import { variableOf } from '../../core/settings.ts';
import { LetterReader, type LetterRecord } from '../../replay/letter-record.ts';
import { stateOf } from '../../replay/object-state.ts';
import { kindFactsOf } from '../../replay/read-objects.ts';
import { judgeLetters, REASON_TEXTS, type Reading } from '../../replay/verdict.ts';
import { lookAt } from '../replay/desk.ts';
import { reasonText } from '../replay/text.ts';
import type { ExplainPorts } from './ports.ts';

export interface LookWords {
  /** URL of the dead-letter queue; that of the environment if left out. */
  readonly queue?: string;
  /** False: nobody looks, since a look is a receive. */
  readonly letters?: boolean;
}

/** A letter of the object, not judged. */
export interface FoundLetter {
  readonly record: LetterRecord;
  /** Of its diagnosis. */
  readonly message: string | undefined;
}

/**
 * All letters about the object's cluster, kind and name, whatever its uid. A queue that cannot be looked at is an answer: the rest is told
 * all the same.
 *
 * @throws ConfigError `usage` for a --queue that is no URL of a queue
 */
export async function findLetters(
  env: Environment,
  { queue, letters = true }: LookWords,
  place: Place,
  { atDesk, say }: Pick<ExplainPorts, 'atDesk' | 'say'>,
): Promise<Asked<readonly FoundLetter[]>> {
  if (!letters) return notAsked('left out by --no-letters');
  const variable = variableOf('deadLetterQueueUrl');
  if (queue === undefined && env[variable] === undefined) return notAsked(`no dead-letter queue is named, by --queue or ${variable}`);
  try {
    return await atDesk(env, queue === undefined ? {} : { queue }, async (desk) => {
      const found: FoundLetter[] = [];
      const reader = new LetterReader();
      if (desk.description.depth.visible > 0) say('looking through the dead letters; Ctrl-C leaves them out');
      const looked = await lookAt(desk, (received) => {
        const letter = readLetter(received);
        const record = reader.recordOf(received, letter);
        if (!isAbout(record, place)) return true;
        const diagnosis = letter.kind === 'diagnosed' ? letter.envelope.data.diagnosis : undefined;
        found.push({ record, message: diagnosis === undefined ? undefined : cutText(diagnosis.message) });
        return true;
      });
      if (looked === undefined) return notAsked('the look was stopped');
      await looked.givenBack;
      return { kind: 'told', value: found };
    });
  } catch (error) {
    if (!(error instanceof DogwatchError) || (error instanceof ConfigError && error.code === 'usage')) throw error;
    return { kind: 'untold', code: error.code, says: error.message };
  }
}

function isAbout({ target }: LetterRecord, { cluster, type, namespace, name }: Place): boolean {
  return (
    target !== undefined &&
    target.cluster === cluster &&
    target.group === type.group &&
    target.kind === type.kind &&
    target.namespace === namespace &&
    target.name === name
  );
}

/** What the letters come to by the object as it is now; undefined: there is none. */
export function judgeFound(
  letters: Asked<readonly FoundLetter[]>,
  object: KubernetesObject | undefined,
  reconciler: Reconciler,
): Asked<readonly LetterFacts[]> {
  if (letters.kind === 'untold') return letters;
  const reading: Reading = object === undefined ? { kind: 'absent' } : { kind: 'found', state: stateOf(object, reconciler) };
  const kind = kindFactsOf(reconciler);
  const value = letters.value.map(({ record, message }): LetterFacts => {
    const verdict = judgeLetters([record], reading, kind);
    return {
      ...{ messageId: record.messageId, code: record.code, message, deadLetteredMs: record.deadLetteredMs, generation: record.generation },
      needsRun: verdict.class === 'to-replay',
      because: reasonText(verdict.reason, REASON_TEXTS),
    };
  });
  return { kind: 'told', value };
}
