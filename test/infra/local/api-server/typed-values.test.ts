import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JsonObject, JsonSchema } from '../../../../infra/local/api-server/api-object.ts';
import { type FieldType, typeOfKind } from '../../../../infra/local/api-server/field-types.ts';
import { printPath } from '../../../../infra/local/api-server/path-element.ts';
import { findTypeFaults } from '../../../../infra/local/api-server/typed-check.ts';
import { compareValues, fieldsOf } from '../../../../infra/local/api-server/typed-fields.ts';
import { mergeValues, removeFields } from '../../../../infra/local/api-server/typed-merge.ts';
import { customKind } from './lab-kinds.ts';

const item: JsonSchema = { type: 'object', properties: { k: { type: 'string' }, n: { type: 'integer' } } };
const schema: JsonSchema = {
  type: 'object',
  properties: {
    s: { type: 'string' },
    o: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'integer' } } },
    free: { type: 'object', additionalProperties: { type: 'string' } },
    list: { type: 'array', items: { type: 'integer' } },
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    map: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};
const type: FieldType = typeOfKind(customKind('Thing', schema));
const printed = (set: { paths(): Iterable<readonly string[]> }): string[] => [...set.paths()].map(printPath).sort();

describe('fieldsOf', () => {
  const rows: readonly (readonly [JsonObject, readonly string[]])[] = [
    [{ s: 'x' }, ['.s']],
    [{ o: { a: 1 } }, ['.o.a']],
    [{ o: {} }, ['.o']],
    [{ whole: { a: 1 } }, ['.whole']],
    [{ free: { x: 'y' } }, ['.free.x']],
    [{ list: [1, 2] }, ['.list']],
    [{ set: ['a', 'b'] }, ['.set[="a"]', '.set[="b"]']],
    [{ map: [{ k: 'a', n: 1 }] }, ['.map[k="a"]', '.map[k="a"].k', '.map[k="a"].n']],
    [{ map: [] }, []],
    [{ any: { x: { y: [1] } } }, ['.any.x', '.any.x.y']],
    [{ s: null }, ['.s']],
  ];
  for (const [value, fields] of rows) it(`of ${JSON.stringify(value)}`, () => assert.deepEqual(printed(fieldsOf(type, value)), fields));
});

describe('compareValues', () => {
  const rows: readonly (readonly [string, JsonObject, JsonObject, Partial<Record<'added' | 'removed' | 'modified', string[]>>])[] = [
    ['nothing', { o: { a: 1 } }, { o: { a: 1 } }, {}],
    ['a scalar', { s: 'x' }, { s: 'y' }, { modified: ['.s'] }],
    ['a new object, with what is in it', {}, { o: { a: 1 } }, { added: ['.o', '.o.a'] }],
    ['an object that goes', { o: { a: 1 } }, {}, { removed: ['.o', '.o.a'] }],
    ['an atomic object', { whole: { a: 1 } }, { whole: { a: 2 } }, { modified: ['.whole'] }],
    ['an atomic list', { list: [1] }, { list: [1, 2] }, { modified: ['.list'] }],
    ['entries of a set', { set: ['a', 'b'] }, { set: ['b', 'c'] }, { added: ['.set[="c"]'], removed: ['.set[="a"]'] }],
    [
      'items of a map, whatever their order',
      {
        map: [
          { k: 'a', n: 1 },
          { k: 'b', n: 1 },
        ],
      },
      {
        map: [
          { k: 'b', n: 2 },
          { k: 'a', n: 1 },
        ],
      },
      { modified: ['.map[k="b"].n'] },
    ],
    ['an item that is there twice now', { set: ['a'] }, { set: ['a', 'a'] }, { added: ['.set[="a"]'], removed: ['.set[="a"]'] }],
    ['a list that becomes empty', { list: [1] }, { list: [] }, { modified: ['.list'] }],
    ['a value that changes its shape', { any: { x: 1 } }, { any: { x: { y: 2 } } }, { modified: ['.any.x'], added: ['.any.x.y'] }],
  ];
  for (const [name, before, after, { added = [], removed = [], modified = [] }] of rows) {
    it(`sees ${name}`, () => {
      const comparison = compareValues(type, before, after);
      assert.deepEqual(
        { added: printed(comparison.added), removed: printed(comparison.removed), modified: printed(comparison.modified) },
        { added, removed, modified },
      );
    });
  }
});

describe('mergeValues', () => {
  const rows: readonly (readonly [string, JsonObject, JsonObject, JsonObject])[] = [
    ['keeps fields that are not applied', { s: 'x', o: { a: 1 } }, { o: { b: 2 } }, { s: 'x', o: { a: 1, b: 2 } }],
    ['replaces atomic values', { list: [1, 2], whole: { a: 1 } }, { list: [3], whole: {} }, { list: [3], whole: {} }],
    ['adds entries to a set', { set: ['a', 'b'] }, { set: ['b', 'c'] }, { set: ['a', 'b', 'c'] }],
    ['merges items by key', { map: [{ k: 'a', n: 1 }] }, { map: [{ k: 'a' }, { k: 'b' }] }, { map: [{ k: 'a', n: 1 }, { k: 'b' }] }],
    ['takes the applied order of shared items', { set: ['a', 'b', 'c'] }, { set: ['c', 'x', 'a'] }, { set: ['b', 'c', 'x', 'a'] }],
    ['keeps an empty list', { s: 'x' }, { list: [] }, { s: 'x', list: [] }],
    ['takes the shape that is applied', { any: { x: 1 } }, { any: { x: { y: 2 } } }, { any: { x: { y: 2 } } }],
  ];
  for (const [name, live, applied, merged] of rows) it(name, () => assert.deepEqual(mergeValues(type, live, applied), merged));

  const values = fc.record(
    {
      s: fc.string(),
      o: fc.record({ a: fc.nat(9), b: fc.nat(9) }, { requiredKeys: [] }),
      list: fc.array(fc.nat(9), { maxLength: 3 }),
      set: fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e')),
      map: fc.uniqueArray(fc.record({ k: fc.constantFrom('a', 'b', 'c', 'd'), n: fc.nat(9) }), { selector: ({ k }) => k }),
    },
    { requiredKeys: [] },
  );

  it('holds all that is applied and all else that was live, and is stable', () => {
    fc.assert(
      fc.property(values, values, (live, applied) => {
        const merged = mergeValues(type, live, applied) as JsonObject;
        assert.deepEqual(
          printed(fieldsOf(type, merged)),
          printed(fieldsOf(type, live).union(fieldsOf(type, applied))).filter((path) => path !== '.o' || isBareObject(merged)),
        );
        assert.equal(compareValues(type, mergeValues(type, merged, applied), merged).modified.isEmpty, true);
        assert.deepEqual(mergeValues(type, merged, applied), merged);
      }),
    );
  });

  it('in which the applied order of sets and maps is kept', () => {
    fc.assert(
      fc.property(values, values, (live, applied) => {
        const merged = mergeValues(type, live, applied) as { set?: string[] };
        assert.deepEqual(
          (merged.set ?? []).filter((entry) => applied.set?.includes(entry)),
          applied.set ?? [],
        );
      }),
    );
  });
});

const isBareObject = ({ o }: JsonObject): boolean => o !== undefined && Object.keys(o as object).length === 0;

describe('removeFields', () => {
  it('leaves null where everything goes', () => {
    const value = { o: { a: 1 }, set: ['a', 'b'], map: [{ k: 'a', n: 1 }] };
    const gone = fieldsOf(type, { o: { a: 1 }, set: ['a'], map: [{ k: 'a', n: 1 }] });
    assert.deepEqual(removeFields(type, value, gone), { o: null, set: ['b'], map: null });
  });
});

describe('findTypeFaults', () => {
  it('finds none in what fits', () => {
    assert.equal(findTypeFaults(type, { s: 'x', o: { a: 1 }, set: ['a'], map: [{ k: 'a' }], any: { x: [{}] }, list: null }), undefined);
  });

  const rows: readonly (readonly [unknown, string])[] = [
    [{ set: ['a', 'a'] }, '.set: duplicate entries for key [="a"]'],
    [{ set: [null] }, ".set: element 0: associative list without keys has an element that's an explicit null"],
    [{ map: ['a'] }, '.map: element 0: associative list with keys may not have non-map elements'],
    [{ map: [{ k: 'a', typo: 1 }] }, '.map[k="a"].typo: field not declared in schema'],
    [{ list: ['a'] }, '.list[0]: expected numeric (int or float), got string'],
    [{ o: [1] }, '.o: expected map, got &{[1]}'],
    [{ s: { a: 1 } }, '.s: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":1}}'],
  ];
  for (const [value, text] of rows) it(`finds ${text}`, () => assert.equal(findTypeFaults(type, value), text));
});
