/** What a process writes, as lines. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Characters of a line without an end after which it counts as one: about the largest event of CloudWatch Logs (256 KiB). */
const LINE_MAX = 262_144;

/** Calls `each` for every line of UTF-8, without its end; also for a last one that has none. Only LF and CRLF end a line. */
export function forEachLine(stream: Readable, each: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) each(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (rest.length > LINE_MAX) {
      each(rest);
      rest = '';
    }
  });
  stream.on('end', () => {
    rest += decoder.end();
    if (rest !== '') each(rest);
  });
}
