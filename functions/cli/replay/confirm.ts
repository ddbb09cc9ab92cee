/** A person says yes before anything is sent or deleted, knowing what it will be. */
import { ConfigError } from '../../core/errors.ts';
import { queueNameOf } from '../../core/settings.ts';
import type { Terminal } from './terminal.ts';
import { plural } from './text.ts';

export interface Deed {
  readonly queueUrl: string;
  /** What will happen, in figures. */
  readonly lines: readonly string[];
  /** Letters that will be deleted, whether or not something is sent in their place. */
  readonly letterCount: number;
}

export interface ConfirmOptions {
  /** Goes on without a question. */
  readonly yes: boolean;
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

const PRODUCTION: ReadonlySet<string> = new Set(['prod', 'production', 'prd']);

/** True of `dogwatch-prod-dead-letters`, and of no queue that only has it in a word, such as `dogwatch-preprod-dead-letters`. */
export function isProduction(queueUrl: string): boolean {
  return queueNameOf(queueUrl)
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .some((segment) => PRODUCTION.has(segment));
}

/**
 * Whether to go on. A yes is not enough on a production stage: the number of letters is to be typed.
 *
 * @throws ConfigError `not-confirmed` where nobody can be asked
 */
export async function confirm({ queueUrl, lines, letterCount }: Deed, options: ConfirmOptions): Promise<boolean> {
  const { yes, terminal, stop, say } = options;
  for (const line of lines) say(line);
  if (yes || letterCount === 0) return true;
  if (!terminal.isInteractive)
    throw new ConfigError('not-confirmed', 'nobody is here to say yes, so nothing was done; add --yes where none is needed');
  const letters = plural(letterCount, 'letter');
  const isTyped = isProduction(queueUrl);
  const question = isTyped
    ? `this is a production stage: type the number of letters (${letterCount}) to go on: `
    : `go on with ${letters}? (y/N) `;
  const answer = (await terminal.ask(question, stop))?.trim() ?? '';
  const isYes = !stop.aborted && (isTyped ? answer === String(letterCount) : /^y(es)?$/i.test(answer));
  if (!isYes) say('nothing was done');
  return isYes;
}
