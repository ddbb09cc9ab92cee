/** What README shows first is what the demo is: its text and its picture are held to the code that prints them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { STEPS } from '../infra/local/dev/demo/demo.ts';
import { recordedLines } from '../infra/local/dev/demo/recording/readme.ts';
import type { StepResult } from '../infra/local/dev/demo/story.ts';
import { summaryLines } from '../infra/local/dev/demo/summary.ts';

const AGAIN = 'the demo has changed: record it again with `node infra/local/dev/demo/record.ts`';
const root = resolve(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const lines = recordedLines(readme);
const picture = readFileSync(join(root, 'infra/local/dev/demo/demo.svg'), 'utf8');

/** The story's end as far as the text tells it: a row's figures, and of the last line the letters and the seconds. */
function told(): { readonly results: readonly StepResult[]; readonly seconds: number } {
  const [, seconds = '', letters = ''] = / in ([\d.]+) s, .*, (\d+) dead letters?$/.exec(lines.at(-1) ?? '') ?? [];
  const results = lines.slice(1, -1).map((line): StepResult => {
    const [, name = '', took, messages, runs, requests, text = ''] =
      /^(\S+(?: \S+)*) +([\d.]+) +(\d+) +(\d+) +(\d+) {2}(.+)$/.exec(line) ?? [];
    const figures = { messages: Number(messages), runs: Number(runs), requests: Number(requests), rereads: 0, sentAgain: 0 };
    return {
      name,
      kind: 'well',
      text,
      seconds: Number(took),
      figures: { ...figures, letters: name === 'dead letter' ? Number(letters) : 0 },
    };
  });
  return { results, seconds: Number(seconds) };
}

/** The texts of the picture, each line of the terminal as one, without what is between its columns. */
const drawn = Array.from(picture.matchAll(/<text id="l\d+">(.*)<\/text>/g), ([, spans = '']) =>
  plain(spans.replaceAll('</tspan>', ' ').replaceAll(/<[^>]*>/g, '')),
);

function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

describe("README's first screen", () => {
  it('has the steps of the demo, in the form that the demo prints', () => {
    assert.deepEqual(
      told().results.map(({ name }) => name),
      STEPS.map(({ name }) => name),
      AGAIN,
    );
    assert.deepEqual(summaryLines(told(), { width: 100, hasColor: false }), lines, AGAIN);
  });

  it('stands before everything that one scrolls to', () => {
    const [first = ''] = readme.split('\n## ');
    for (const part of ['(infra/local/dev/demo/demo.svg)', '\n    npm ci && npm run dev\n', '\n    npm ci && npm test\n', lines[0] ?? ''])
      assert.ok(first.includes(part), part);
  });

  it('is of one run, in the text and in the picture', () => {
    for (const line of lines) assert.ok(drawn.includes(plain(line)), `not in the picture: ${line}`);
  });

  it('has a picture of every step, in the words of the demo', () => {
    for (const [index, { name, text }] of STEPS.entries()) {
      const line = `${index + 1}/${STEPS.length} ${name}: ${text}`;
      assert.ok(drawn.includes(line), `${AGAIN}; not in the picture: ${line}`);
    }
  });

  it('has a picture that is small enough to be shown at once', () => {
    assert.ok(Buffer.byteLength(picture) < 150_000, `${Buffer.byteLength(picture)} bytes`);
  });
});
