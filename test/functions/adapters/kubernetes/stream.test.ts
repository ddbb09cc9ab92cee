import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { splitLines } from '../../../../functions/adapters/kubernetes/stream.ts';

async function* chunksOf(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

async function linesOf(text: string, sizes: readonly number[] = [], maxBytes = 1_000_000): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of splitLines(chunksOf(Buffer.from(text), sizes), maxBytes)) lines.push(line);
  return lines;
}

describe('splitLines', () => {
  it('yields whole lines only', async () => {
    assert.deepEqual(await linesOf('a\nb\nhalf'), ['a', 'b']);
  });

  it('leaves out empty lines', async () => {
    assert.deepEqual(await linesOf('\n\na\n\n'), ['a']);
  });

  it('splits at 0x0A and at nothing else', async () => {
    assert.deepEqual(await linesOf('a\u2028b\u2029c\rd\u0085e\n'), ['a\u2028b\u2029c\rd\u0085e']);
  });

  it('gives the same lines however the bytes are cut', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\n'));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(7)), async (lines, sizes) => {
        assert.deepEqual(await linesOf(lines.map((text) => `${text}\n`).join(''), sizes), lines);
      }),
    );
  });

  it('refuses a line without end', async () => {
    await assert.rejects(linesOf('x'.repeat(100), [10, 10, 10], 50), RangeError);
  });
});
