import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import { all, hasLabel, labelChanged, not } from '../../../functions/core/predicates.ts';
import { defineReconciler } from '../../../functions/core/reconciler.ts';
import { type WatchDeclaration, watchRules } from '../../../functions/core/watch-rules.ts';
import { metadataOf, ticketOf, tickets } from './tickets.ts';

const gold = ticketOf({ metadata: metadataOf({ labels: { tier: 'gold' } }) });
const bare = ticketOf();

describe('watchRules', () => {
  it('selects everything where nothing is declared', () => {
    const rules = watchRules('Ticket', {}, true);
    assert.deepEqual(
      [rules.labelSelector, rules.fieldSelector, rules.filter, rules.selects(bare)],
      [undefined, undefined, undefined, true],
    );
  });

  it('writes selectors that are given as objects', () => {
    const { labelSelector, fieldSelector } = watchRules(
      'Ticket',
      { labelSelector: { tier: 'gold', 'a.example/b': '' }, fieldSelector: { 'spec.title': 'a=b,c\\d', 'metadata.name': 'x' } },
      false,
    );
    assert.equal(labelSelector, 'tier=gold,a.example/b=');
    assert.equal(fieldSelector, 'spec.title=a\\=b\\,c\\\\d,metadata.name=x');
  });

  const rows: readonly [name: string, watch: WatchDeclaration, gold: boolean, bare: boolean][] = [
    ['a label selector', { labelSelector: 'tier in (gold)' }, true, false],
    ['a field selector', { fieldSelector: 'metadata.name=one' }, true, true],
    ['another field selector', { fieldSelector: { 'spec.title': 'other' } }, false, false],
    ['a predicate', { predicate: all(hasLabel('tier'), labelChanged('tier')) }, true, false],
    ['a predicate turned round', { predicate: not(hasLabel('tier')) }, false, true],
    ['all of them', { labelSelector: 'tier', fieldSelector: 'metadata.name=one', predicate: hasLabel('tier', 'silver') }, false, false],
  ];
  for (const [name, watch, selectsGold, selectsBare] of rows) {
    it(`selects by ${name}`, () => {
      const { selects } = watchRules('Ticket', watch, false);
      assert.deepEqual([selects(gold), selects(bare)], [selectsGold, selectsBare]);
    });
  }

  const refused: readonly [name: string, watch: object, code: string, says: RegExp][] = [
    ['a field it does not know', { selector: 'a' }, 'unknown-field', /watch\.selector/],
    ['a label selector that cannot be', { labelSelector: 'tier in gold' }, 'bad-selector', /watch\.labelSelector has "tier in gold"/],
    ['an empty one', { labelSelector: {} }, 'bad-selector', /watch\.labelSelector/],
    ['one that is a number', { labelSelector: 7 }, 'bad-selector', /neither a text nor an object/],
    ['a field selector that cannot be', { fieldSelector: 'metadata.name' }, 'bad-selector', /watch\.fieldSelector/],
    ['a predicate that is a function', { predicate: () => true }, 'bad-predicate', /watch\.predicate is no predicate/],
    [
      'a selector together with a finalizer',
      { finalizer: 'a.example/b', labelSelector: 'tier' },
      'finalizer-with-selector',
      /wait for ever/,
    ],
    [
      'a field selector together with one',
      { finalizer: 'a.example/b', fieldSelector: { a: 'b' } },
      'finalizer-with-selector',
      /use predicate/,
    ],
  ];
  for (const [name, { finalizer, ...watch }, code, says] of refused as [string, { finalizer?: string }, string, RegExp][]) {
    it(`refuses ${name}, naming the reconciler`, () => {
      const declared = { resource: tickets, watch, reconcile: async () => ({ status: { phase: 'x' } }), ...(finalizer && { finalizer }) };
      assert.throws(
        () => defineReconciler(declared),
        (error) =>
          error instanceof ConfigError && error.code === code && says.test(error.message) && /reconciler of Ticket/.test(error.message),
      );
    });
  }
});
