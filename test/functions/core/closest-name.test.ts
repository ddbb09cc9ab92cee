import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closestName } from '../../../functions/core/closest-name.ts';

describe('closestName', () => {
  const known = ['kubeconfig', 'context', 'inCluster'];
  const rows: { name: string; given: string; maxEdits?: number; expected: string | undefined }[] = [
    { name: 'the name itself', given: 'context', expected: 'context' },
    { name: 'one that lacks a letter', given: 'kubeconfg', maxEdits: 1, expected: 'kubeconfig' },
    { name: 'one with a letter too many', given: 'contextt', maxEdits: 1, expected: 'context' },
    { name: 'one with another letter', given: 'cantext', maxEdits: 1, expected: 'context' },
    { name: 'one in other letter case, which counts as no edit', given: 'INCLUSTER', maxEdits: 0, expected: 'inCluster' },
    { name: 'the nearest of all, however far, where no limit is given', given: 'zzz', expected: 'context' },
    { name: 'nothing over the limit', given: 'zzz', maxEdits: 3, expected: undefined },
    { name: 'a name for the empty text', given: '', expected: 'context' },
  ];
  for (const { name, given, maxEdits, expected } of rows) {
    it(`is ${name}`, () => assert.equal(closestName(given, known, maxEdits), expected));
  }

  it('is the first of those that are equally near', () => assert.equal(closestName('ac', ['ab', 'ad']), 'ab'));

  it('is nothing where nothing is known', () => assert.equal(closestName('a', []), undefined));
});
