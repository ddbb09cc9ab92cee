/**
 * Records the demo for README: `node infra/local/dev/demo/record.ts`. The real one is run in a pseudo-terminal, for about a minute; its
 * screens become demo.svg, beside this file, and its summary becomes text in README.md. Figures are those of this machine: record on a
 * calm one.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../../../functions/core/errors.ts';
import { exitWithOneLine } from '../../one-line.ts';
import { filmOf } from './recording/frames.ts';
import { pictureOf } from './recording/picture.ts';
import { withRecording } from './recording/readme.ts';
import { recordTerminal } from './recording/record-terminal.ts';
import { textOf } from './recording/screen-lines.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const README = join(ROOT, 'README.md');
const PICTURE = join(import.meta.dirname, 'demo.svg');
const WORDS = ['--demo', '--once'];
const SIZE = { columns: 100, rows: 31 } as const;
/** A long wait becomes two seconds; the summary is read longer than that. */
const FILM = { leastMs: 400, mostMs: 2000, leastLines: 16, lastMs: 10_000 } as const;
const TIMEOUT_SECONDS = 180;

async function record(): Promise<void> {
  const run = await recordTerminal(process.execPath, ['functions/cli/bin.js', 'dev', ...WORDS], {
    ...SIZE,
    cwd: ROOT,
    timeoutSeconds: TIMEOUT_SECONDS,
  });
  const left = run.screens.at(-1)?.lines.map(textOf) ?? [];
  if (run.code !== 0) {
    console.error(left.join('\n'));
    throw new ConfigError('demo-failed', 'the demo did not end well, so nothing was recorded: see above', {
      facts: { exitCode: String(run.code) },
    });
  }
  const summary = left.slice(left.findLastIndex((line) => line.startsWith('STEP ')));
  const frames = filmOf(run.screens, FILM);
  const picture = pictureOf(frames, {
    ...SIZE,
    title: `npm run dev -- ${WORDS.join(' ')}`,
    description: `The live view of a run whose story plays by itself, and its summary: ${summary.at(-1)}`,
  });
  writeFileSync(README, withRecording(readFileSync(README, 'utf8'), summary));
  writeFileSync(PICTURE, picture);
  console.log([...summary, `${frames.length} frames, ${Math.ceil(picture.length / 1024)} KiB: ${PICTURE}`].join('\n'));
}

await record().catch(exitWithOneLine);
