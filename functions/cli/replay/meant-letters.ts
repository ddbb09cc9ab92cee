/** The letters that the words of a command mean, out of all that the queue has. */
import { type FilterWords, letterFilter } from '../../replay/letter-filter.ts';
import { LetterReader, type LetterRecord } from '../../replay/letter-record.ts';
import { type Desk, type Looked, lookAt } from './desk.ts';

export interface MeantLetters {
  readonly letters: readonly LetterRecord[];
  readonly looked: Looked;
}

/** Undefined where the look was stopped. @throws ConfigError `usage` for words that cannot be meant, before anything is received */
export async function meantLetters(desk: Desk, words: FilterWords): Promise<MeantLetters | undefined> {
  const isMeant = letterFilter(words, desk.clock.now());
  const reader = new LetterReader();
  const letters: LetterRecord[] = [];
  const looked = await lookAt(desk, (received) => {
    const letter = reader.recordOf(received);
    if (isMeant(letter)) letters.push(letter);
    return true;
  });
  return looked && { letters, looked };
}
