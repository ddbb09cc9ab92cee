import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Filter, filterOf, type Predicate } from '../../events/filter.ts';
import { all, annotationChanged, any, hasAnnotation, hasLabel, labelChanged, labelsMatch, not } from '../../functions/core/predicates.ts';

function filter(predicate: Predicate): Filter {
  const result = filterOf(predicate);
  assert.ok(result.kind === 'filter');
  return result.filter;
}

const managed = { labels: { managed: 'yes', tier: 'gold' }, annotations: { 'example.com/owner': 'ada' } };

describe('a predicate', () => {
  const rows: readonly [name: string, predicate: Predicate, admits: boolean, admitsBare: boolean][] = [
    ['hasLabel', hasLabel('managed'), true, false],
    ['hasLabel with a value', hasLabel('managed', 'no'), false, false],
    ['hasAnnotation', hasAnnotation('example.com/owner', 'ada'), true, false],
    ['labelsMatch', labelsMatch('tier in (gold,silver),!legacy'), true, false],
    ['not', not(hasLabel('managed')), false, true],
    ['all', all(hasLabel('managed'), hasLabel('tier', 'silver')), false, false],
    ['any', any(hasLabel('managed'), hasLabel('tier', 'silver')), true, false],
    ['not of any', not(any(hasLabel('none'), hasLabel('other'))), true, true],
    ['a change', labelChanged('tier'), true, true],
    ['all of a condition and a change', all(hasLabel('managed'), labelChanged('tier')), true, false],
    ['all within all', all(hasLabel('managed'), all(hasLabel('tier'), labelChanged('tier'))), true, false],
  ];
  for (const [name, predicate, admits, admitsBare] of rows) {
    it(`${name} holds back what does not meet it`, () => {
      const { admits: does } = filter(predicate);
      assert.deepEqual([does(managed), does({})], [admits, admitsBare]);
    });
  }

  const changes: readonly [name: string, predicate: Predicate, to: typeof managed, isNews: boolean][] = [
    ['a named label changed', labelChanged('tier'), { ...managed, labels: { ...managed.labels, tier: 'silver' } }, true],
    ['another label changed', labelChanged('tier'), { ...managed, labels: { ...managed.labels, managed: 'no' } }, false],
    ['an annotation of that name', labelChanged('example.com/owner'), { ...managed, annotations: { 'example.com/owner': 'bob' } }, false],
    [
      'a named annotation changed',
      annotationChanged('example.com/owner'),
      { ...managed, annotations: { 'example.com/owner': 'bob' } },
      true,
    ],
    ['one of two', any(labelChanged('x'), labelChanged('tier')), { ...managed, labels: { managed: 'yes', tier: '' } }, true],
    ['with a condition', all(hasLabel('managed'), labelChanged('tier')), { ...managed, labels: { managed: 'yes', tier: '' } }, true],
  ];
  for (const [name, predicate, to, isNews] of changes) {
    it(`${isNews ? 'lets pass' : 'does not let pass'}: ${name}`, () => {
      const { digest } = filter(predicate);
      assert.ok(digest);
      assert.equal(digest(managed) !== digest(to), isNews);
    });
  }

  it('tells a label that is empty from none, and moving a value from one to another', () => {
    const { digest } = filter(any(labelChanged('a'), labelChanged('b')));
    assert.ok(digest);
    const seen = [{ labels: { a: '' } }, {}, { labels: { a: 'x' } }, { labels: { b: 'x' } }].map(digest);
    assert.equal(new Set(seen).size, seen.length);
  });

  it('has no digest without a change', () => assert.equal(filter(hasLabel('a')).digest, undefined));

  const refused: readonly [name: string, predicate: unknown, problem: RegExp][] = [
    ['a function', () => true, /is no predicate/],
    ['an object of another kind', { kind: 'none' }, /is no predicate/],
    ['a bad name', labelChanged('a b'), /"a b"/],
    ['a bad selector', labelsMatch('a in b'), /has a selector that has "a in b"/],
    ['not of a change', not(labelChanged('a') as never), /not\(\) of a change/],
    ['all of two changes', all(labelChanged('a'), labelChanged('b')), /put them into any\(\)/],
    ['any of both', any(hasLabel('a'), labelChanged('b') as never), /put them into all\(\)/],
    ['nothing', all(), /all\(\) of nothing/],
    ['a fault within', all(hasLabel('a'), not(hasLabel(''))), /""/],
  ];
  for (const [name, predicate, problem] of refused) {
    it(`is refused: ${name}`, () => {
      const result = filterOf(predicate);
      assert.ok(result.kind === 'refused');
      assert.match(result.problem, problem);
    });
  }
});
