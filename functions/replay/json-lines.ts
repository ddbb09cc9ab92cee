/** Files of a line of JSON each, read a line at a time: one may be larger than what memory takes. */
import { createReadStream } from 'node:fs';

/** The object of each line that is not empty; undefined for a line that is none, such as one that was never finished. */
export async function* jsonLinesOf(path: string): AsyncGenerator<Readonly<Record<string, unknown>> | undefined> {
  for await (const text of linesOf(path)) if (text !== '') yield parse(text);
}

/** At 0x0A only: node:readline ends a line at U+2028 as well, which a text in JSON may have in it. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' }) as AsyncIterable<string>) {
    const texts = (rest + chunk).split('\n');
    rest = texts.pop() ?? '';
    yield* texts;
  }
  yield rest;
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
