/** test/README.md says of each fault which tests show it, and the tests are there. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';

const root = resolve(import.meta.dirname, '..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Row {
  readonly number: string;
  readonly answer: string;
  /** File and the names of its tests. */
  readonly shownBy: readonly (readonly [string, readonly string[]])[];
}

const rows: Row[] = text('test/README.md')
  .split('\n')
  .filter((line) => /^\| B\d\d \|/.test(line))
  .map((line) => {
    const [number = '', , answer = '', cell = ''] = line.split(' | ').map((part) => part.replace(/^\| | \|$/g, ''));
    const shownBy = cell.split('<br>').flatMap((part) => {
      const [, file, names] = /^`(.+)`: (.+)$/.exec(part) ?? [];
      return file === undefined || names === undefined ? [] : [[file, names.split('; ')] as const];
    });
    return { number, answer, shownBy };
  });

describe('the map of faults', () => {
  it('has each number once', () => {
    assert.ok(rows.length > 35, `${rows.length} rows`);
    assert.equal(new Set(rows.map(({ number }) => number)).size, rows.length);
  });

  for (const { number, answer, shownBy } of rows) {
    it(`says of ${number} which tests show it, or what it waits for`, () => {
      if (shownBy.length === 0) assert.match(answer, /waits for issue \d/i);
      for (const [file, names] of shownBy) {
        assert.ok(existsSync(join(root, file)), file);
        const titles = titlesOf(text(file)).filter((title) => numbersOf(title).includes(number));
        for (const name of names) {
          assert.ok(
            titles.some((title) => title.includes(name)),
            `${file}: no test with ${number} in its name is called ${name}`,
          );
        }
      }
    });
  }

  it('has every number that a test carries', () => {
    const known = new Set(rows.map(({ number }) => number));
    for (const file of globSync('test/**/*.ts', { cwd: root })) {
      const unknown = titlesOf(text(file))
        .flatMap(numbersOf)
        .filter((number) => !known.has(number));
      assert.deepEqual(unknown, [], file);
    }
  });
});

/** String literals of a source; a title is one of them. */
function titlesOf(source: string): string[] {
  return [...source.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)].map(([, plain, template]) => plain ?? template ?? '');
}

/** The numbers in a title: `(B24)`, `(B24, B27)`. */
function numbersOf(title: string): string[] {
  return [...title.matchAll(/\((B\d\d(?:, B\d\d)*)\)/g)].flatMap(([, list = '']) => list.split(', '));
}
