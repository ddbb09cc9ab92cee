/** `dogwatch replay export`: letters as they are, into a folder; they stay in the queue as well. */
import type { Environment } from '../../core/config.ts';
import { readLetter } from '../../core/letter.ts';
import { queueNameOf } from '../../core/settings.ts';
import { type ExportFolder, openExportFolder } from '../../replay/export-folder.ts';
import { copyOf } from '../../replay/letter-copy.ts';
import { type FilterWords, letterFilter } from '../../replay/letter-filter.ts';
import { LetterReader } from '../../replay/letter-record.ts';
import type { ExitCode } from '../main.ts';
import { atDesk, type Desk, lookAt } from './desk.ts';
import { filterWordsOf, type LsOptions } from './ls.ts';
import { plural } from './text.ts';

export async function replayExport(env: Environment, folder: string, options: LsOptions): Promise<ExitCode> {
  return atDesk(env, options, async (desk) => {
    const words = filterWordsOf(options);
    letterFilter(words, desk.clock.now()); // words that are none leave no folder behind
    const out = openExportFolder(folder);
    try {
      return await exportLetters(desk, words, out);
    } finally {
      out.dispose();
    }
  });
}

/** Writes the letters that are meant; 1 where it was stopped, and then nothing is there. @throws ConfigError `usage`, `out-unwritable` */
export async function exportLetters(desk: Desk, words: FilterWords, out: ExportFolder): Promise<ExitCode> {
  const { description, clock, json, print, say } = desk;
  const isMeant = letterFilter(words, clock.now());
  const reader = new LetterReader();
  let letters = 0;
  const looked = await lookAt(desk, (received) => {
    const letter = readLetter(received);
    if (!isMeant(reader.recordOf(received, letter))) return true;
    letters += 1;
    out.add({ ...copyOf(received), kind: letter.kind, code: letter.code });
    return true;
  });
  if (looked === undefined) {
    say('no letter was exported');
    return 1;
  }
  const { url, arn } = description;
  const counts = { receivedLetters: looked.report.seenCount, letters };
  const about = {
    version: 1,
    madeAt: clock.now().toISOString(),
    queue: { url, arn },
    filters: words,
    ...counts,
    warnings: looked.warnings,
  };
  try {
    out.finish(about);
  } finally {
    await looked.givenBack;
  }
  if (json) print(JSON.stringify({ ...about, path: out.path }));
  else {
    print(`${queueNameOf(url)}: ${plural(letters, 'letter')} of ${looked.report.seenCount} exported; nothing was sent or deleted`);
    print(`letters: ${out.path}`);
  }
  return 0;
}
