import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, objectAt, toPlainJson } from '../../../functions/core/plain-json.ts';

describe('toPlainJson', () => {
  it('copies every JSON value as it is and shares nothing with it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const copy = toPlainJson(value, 'root');
        assert.ok(copy.kind === 'json');
        assert.equal(JSON.stringify(copy.value), JSON.stringify(value));
        if (typeof value === 'object' && value !== null) assert.notEqual(copy.value, value);
      }),
    );
  });

  it('leaves out properties that are undefined', () => {
    assert.deepEqual(toPlainJson({ a: undefined, b: { c: undefined } }, ''), { kind: 'json', value: { b: {} } });
  });

  it('keeps a key called __proto__ a key', () => {
    const copy = toPlainJson(JSON.parse('{"__proto__":{"polluted":true}}'), '');
    assert.equal(JSON.stringify(copy.kind === 'json' && copy.value), '{"__proto__":{"polluted":true}}');
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  const cycle: Record<string, unknown> = {};
  cycle['a'] = cycle;
  const refused = [
    { name: 'NaN', value: { a: [{ b: Number.NaN }] }, path: 'a[0].b', found: 'NaN' },
    { name: 'infinity', value: { a: -Infinity }, path: 'a', found: '-Infinity' },
    { name: 'a function', value: { a: () => 1 }, path: 'a', found: 'function' },
    { name: 'a bigint', value: { a: 1n }, path: 'a', found: 'bigint' },
    { name: 'a symbol', value: { a: Symbol('x') }, path: 'a', found: 'symbol' },
    { name: 'a Date', value: { a: new Date(0) }, path: 'a', found: 'an instance of Date' },
    { name: 'a Map', value: { a: new Map() }, path: 'a', found: 'an instance of Map' },
    { name: 'undefined in an array', value: { a: [1, undefined] }, path: 'a[1]', found: 'undefined' },
  ];
  for (const { name, value, path, found } of refused) {
    it(`refuses ${name} and says where`, () => assert.deepEqual(toPlainJson(value, ''), { kind: 'refused', path, found }));
  }

  it('refuses a cycle instead of running for ever', () => {
    assert.equal(toPlainJson(cycle, '').kind, 'refused');
  });
});

describe('canonicalJson', () => {
  it('is the same text for the same value, whatever the order of its keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        assert.equal(canonicalJson(turned), canonicalJson(value));
        assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('differs where a list is in another order', () => assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1])));
});

describe('objectAt', () => {
  it('is what is there, or empty where it, or anything on the way, is no object', () => {
    const value = { a: { b: { c: 1 } }, list: [{}], none: null };
    assert.deepEqual(objectAt(value, 'a', 'b'), { c: 1 });
    for (const path of [['a', 'b', 'c'], ['a', 'x', 'c'], ['list', '0'], ['list'], ['none', 'x']])
      assert.deepEqual(objectAt(value, ...path), {});
  });
});
