/** Lines of a byte stream. */

/** 0x0A. Nothing else ends a line: U+2028 and carriage returns are data, unlike for node:readline. */
const NEWLINE = 0x0a;

/**
 * The lines without their ends, decoded as UTF-8 one by one, so that a character may lie across chunks. A last line without
 * an end is dropped: the sender had not finished it. Empty lines are left out.
 *
 * @throws RangeError for a line over `maxBytes`
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string, void, undefined> {
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      begun.push(chunk.subarray(start, end));
      const line = decode(begun);
      begun = [];
      begunBytes = 0;
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start === chunk.length) continue;
    begun.push(chunk.subarray(start));
    begunBytes += chunk.length - start;
    if (begunBytes > maxBytes) throw new RangeError(`a line has more than ${maxBytes} bytes`);
  }
}

function decode(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString('utf8');
}
