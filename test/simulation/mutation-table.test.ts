import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { MUTATIONS } from './mutation-table.ts';

const ROOT = new URL('../../', import.meta.url);

describe('the table of faults to be put into the sources', () => {
  for (const { name, edits } of MUTATIONS) {
    it(`still finds what to change: ${name}`, () => {
      for (const { file, find, replace } of edits) {
        const source = readFileSync(new URL(file, ROOT), 'utf8');
        assert.equal(source.split(find).length, 2, `${file} has not exactly one ${JSON.stringify(find)}`);
        assert.notEqual(find, replace);
      }
    });
  }
});
