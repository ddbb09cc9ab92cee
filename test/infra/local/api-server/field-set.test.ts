import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FieldSet } from '../../../../infra/local/api-server/field-set.ts';
import { typeOfKind } from '../../../../infra/local/api-server/field-types.ts';
import { compareElements, printPath } from '../../../../infra/local/api-server/path-element.ts';
import { widget } from './lab-kinds.ts';

const element = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"type":"A"}', 'v:"x"', 'v:2', 'i:0');
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 });
const sets = paths.map((some) => FieldSet.of(...some));
const texts = (set: FieldSet): string[] => [...set.paths()].map((path) => path.join(' ')).sort();

describe('FieldSet', () => {
  it('is encoded as the server encodes it', () => {
    const set = FieldSet.of(['f:spec', 'f:size'], ['f:spec'], ['f:status', 'f:conditions', 'k:{"type":"Ready"}']);
    assert.deepEqual(set.encode(), {
      'f:spec': { '.': {}, 'f:size': {} },
      'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': {} } },
    });
  });

  it('comes back from its encoding', () => {
    fc.assert(fc.property(sets, (set) => assert.deepEqual(texts(FieldSet.decode(set.encode())), texts(set))));
  });

  it('skips keys of kinds that are not known', () => {
    assert.deepEqual(FieldSet.decode({ 'f:a': {}, 'z:b': {}, odd: {} }).encode(), { 'f:a': {} });
  });

  it('does sums as sets of paths do', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const [left, right] = [texts(a), texts(b)];
        assert.deepEqual(texts(a.union(b)), [...new Set([...left, ...right])].sort());
        assert.deepEqual(
          texts(a.intersection(b)),
          left.filter((path) => right.includes(path)),
        );
        assert.deepEqual(
          texts(a.difference(b)),
          left.filter((path) => !right.includes(path)),
        );
      }),
    );
  });

  it('takes all below a path away where asked to', () => {
    const set = FieldSet.of(['f:status'], ['f:status', 'f:phase'], ['f:spec', 'f:size']);
    assert.deepEqual(texts(set.recursiveDifference(FieldSet.of(['f:status']))), ['f:spec f:size']);
    assert.deepEqual(texts(set.difference(FieldSet.of(['f:status']))), ['f:spec f:size', 'f:status f:phase']);
  });

  it('is empty only without a path', () => {
    fc.assert(fc.property(sets, (set) => assert.equal(set.isEmpty, texts(set).length === 0)));
    assert.equal(FieldSet.of([]).isEmpty, true);
  });

  it('knows the fields that have something below them, and no items or free keys', () => {
    const set = FieldSet.of(['f:status', 'f:conditions', 'k:{"type":"A"}', 'f:status'], ['f:metadata', 'f:labels', 'f:a', 'f:b']);
    assert.deepEqual(texts(set.withNamedFields(typeOfKind(widget))), [
      'f:metadata',
      'f:metadata f:labels',
      'f:metadata f:labels f:a f:b',
      'f:status',
      'f:status f:conditions',
      'f:status f:conditions k:{"type":"A"} f:status',
    ]);
  });

  it('tells of its paths level by level', () => {
    const set = FieldSet.of(['f:b'], ['f:a', 'f:z'], ['f:a', 'v:10'], ['f:a', 'v:9'], ['f:a', 'i:1']);
    assert.deepEqual([...set.paths()].map(printPath), ['.b', '.a.z', '.a[=9]', '.a[=10]', '.a[1]']);
  });
});

describe('path elements', () => {
  it('are in a total order', () => {
    fc.assert(
      fc.property(element, element, element, (a, b, c) => {
        assert.equal(Math.sign(compareElements(a, b)), -Math.sign(compareElements(b, a)) || 0);
        if (compareElements(a, b) <= 0 && compareElements(b, c) <= 0) assert.ok(compareElements(a, c) <= 0);
      }),
    );
  });

  it('are printed as in conflicts', () => {
    assert.equal(printPath(['f:status', 'f:conditions', 'k:{"type":"Synced"}', 'f:status']), '.status.conditions[type="Synced"].status');
    assert.equal(printPath(['f:spec', 'f:ports', 'k:{"port":80,"protocol":"TCP"}']), '.spec.ports[port=80,protocol="TCP"]');
    assert.equal(printPath(['f:metadata', 'f:finalizers', 'v:"a/b"']), '.metadata.finalizers[="a/b"]');
  });
});
