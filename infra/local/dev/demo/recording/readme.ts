/** The place in README that a recording fills. */
import { ConfigError } from '../../../../../functions/core/errors.ts';

/** What README shows of a run, and what is around it. */
const PLACE = /(<!-- recorded by infra\/local\/dev\/demo\/record\.ts -->\n```\n)([\s\S]*?)(```\n<!-- end of the recording -->)/;

/** The lines that stand there. @throws ConfigError where README has no such place */
export function recordedLines(readme: string): string[] {
  const [, , lines] = PLACE.exec(readme) ?? [];
  if (lines === undefined)
    throw new ConfigError('no-place', 'README.md has no place for the recording: the two comments around it are gone');
  return lines.trimEnd().split('\n');
}

/** README with these lines there. @throws ConfigError where it has no such place */
export function withRecording(readme: string, lines: readonly string[]): string {
  recordedLines(readme);
  return readme.replace(PLACE, (_, before: string, __, after: string) => `${before}${lines.join('\n')}\n${after}`);
}
