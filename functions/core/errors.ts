/**
 * Errors, divided by what happens next and not by where they came from.
 *
 * `code` is stable and greppable; the message is constant text that ends in what to do; `facts` holds what varies
 * (never an object's body, a token or a Secret's data); `cause` is always the original.
 */

/** The variable part of an error, for a log line or a diagnosis. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean>>;

export interface ErrorOptions {
  readonly cause?: unknown;
  readonly facts?: ErrorFacts;
}

export abstract class DogwatchError extends Error {
  abstract override readonly name: string;
  readonly code: string;
  readonly facts: ErrorFacts;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.facts = options.facts ?? {};
  }
}

/** May pass by itself. `retryAfterSeconds`, where the server named one, is the floor of the next wait. */
export class TransientError extends DogwatchError {
  override readonly name = 'TransientError';
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, options: ErrorOptions & { readonly retryAfterSeconds?: number | undefined } = {}) {
    super(code, message, options);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** We acted on an old read: read again. */
export class ConflictError extends DogwatchError {
  override readonly name = 'ConflictError';
}

/** The same input fails for ever: a dead letter now. A change of the spec or the end of a pause runs the object again. */
export class TerminalError extends DogwatchError {
  override readonly name = 'TerminalError';
}

/** We are deployed wrong: stop the process, or fail the invocation. Never eats a message. */
export class ConfigError extends DogwatchError {
  override readonly name = 'ConfigError';
}

/** The longest piece of somebody else's text that we keep, in characters. */
const FOREIGN_TEXT_MAX = 256;

/**
 * A foreign text cut to `max` UTF-16 units without leaving half of a surrogate pair; ill-formed halves become U+FFFD. What
 * was cut ends in an ellipsis, which counts.
 */
export function cutText(text: string, max: number = FOREIGN_TEXT_MAX): string {
  if (text.length <= max) return text.toWellFormed();
  if (max < 1) return '';
  const last = text.charCodeAt(max - 2);
  const end = last >= 0xd800 && last <= 0xdbff ? max - 2 : max - 1;
  return `${text.slice(0, end).toWellFormed()}…`;
}

/** A text of several lines as one, for whoever prints a line for each fault. */
export function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}

/** The longest stack that we keep, in characters. */
const STACK_MAX = 2_000;

/**
 * Where an error was thrown: the frames of its stack without the message, which is told elsewhere. Undefined for what has none;
 * never throws.
 */
export function stackOf(error: unknown): string | undefined {
  try {
    if (typeof error !== 'object' || error === null) return undefined;
    const { stack, message } = error as { stack?: unknown; message?: unknown };
    if (typeof stack !== 'string') return undefined;
    // A message may have lines that look like frames.
    const messageEnd = typeof message === 'string' && stack.includes(message) ? stack.indexOf(message) + message.length : 0;
    const frames = stack
      .slice(messageEnd)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.startsWith('at '));
    return frames.length === 0 ? undefined : cutText(frames.join('\n'), STACK_MAX);
  } catch {
    return undefined;
  }
}
