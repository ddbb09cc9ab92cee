/** README.md here says of each behaviour which cases show it; the cases are there, and none is of no behaviour. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { REPLAYS } from './sample-steps.ts';
import { SECTIONS } from './suite.ts';

const text = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

const KNOWN = {
  case: SECTIONS.flatMap(([, cases]) => cases.map(({ name }) => name)),
  sample: REPLAYS.map(({ sample }) => sample),
  faults: [...text('../../infra/local/api-server/server-faults.test.ts').matchAll(/\bit\('(.+?)', /g)].map(([, name = '']) => name),
};

interface Reference {
  readonly to: keyof typeof KNOWN;
  /** The beginning of its name; the whole of a sample's. */
  readonly name: string;
}

function referenceOf(words: string): Reference {
  const [, to, name] = /^(sample|faults) (.+)$/.exec(words) ?? [];
  return to === 'sample' || to === 'faults' ? { to, name: name ?? '' } : { to: 'case', name: words };
}

const rows = text('README.md')
  .split('\n')
  .filter((line) => /^\| (?!behaviour)/.test(line))
  .map((line) => {
    const [behaviour = '', shown = ''] = line.replace(/^\| | \|$/g, '').split(' | ');
    return { behaviour, shownBy: shown.split('<br>').map(referenceOf) };
  });

const fits = ({ to, name }: Reference, known: string): boolean => (to === 'sample' ? known === name : known.startsWith(name));

describe('the behaviours of the contract', () => {
  it('are a hundred and fifty cases and more', () => assert.ok(KNOWN.case.length >= 150, `${KNOWN.case.length} cases`));

  for (const { behaviour, shownBy } of rows) {
    it(behaviour, () => {
      for (const reference of shownBy) {
        assert.ok(
          KNOWN[reference.to].some((known) => fits(reference, known)),
          `${reference.to}: ${reference.name}`,
        );
      }
    });
  }

  for (const to of ['case', 'sample'] as const) {
    it(`are those of every ${to}`, () => {
      const references = rows.flatMap(({ shownBy }) => shownBy).filter((reference) => reference.to === to);
      assert.deepEqual(
        KNOWN[to].filter((known) => !references.some((reference) => fits(reference, known))),
        [],
      );
    });
  }
});
