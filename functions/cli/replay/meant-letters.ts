/** The letters that the words of a command mean, out of all that the queue has. */
import { type FilterWords, letterFilter } from '../../replay/letter-filter.ts';
import { LetterReader } from '../../replay/letter-record.ts';
import { LetterTable } from '../../replay/letter-table.ts';
import { type Desk, type Looked, lookAt } from './desk.ts';

export interface MeantLetters {
  readonly letters: LetterTable;
  readonly looked: Looked;
}

/** Undefined where the look was stopped. @throws ConfigError `usage` for words that cannot be meant, before anything is received */
export async function meantLetters(desk: Desk, words: FilterWords): Promise<MeantLetters | undefined> {
  const isMeant = letterFilter(words, desk.clock.now());
  const reader = new LetterReader();
  const letters = new LetterTable();
  const looked = await lookAt(desk, (received) => {
    const letter = reader.recordOf(received);
    if (isMeant(letter)) letters.add(letter);
    return true;
  });
  return looked && { letters, looked };
}
