import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject, JsonSchema } from '../../../../infra/local/api-server/api-object.ts';
import { applyDefaults, pruneNulls, pruneUnknownFields } from '../../../../infra/local/api-server/schema-coercion.ts';

const root = (spec: JsonSchema): JsonSchema => ({ type: 'object', properties: { spec } });
const known: JsonSchema = { type: 'object', properties: { a: { type: 'string' } } };

describe('pruneUnknownFields', () => {
  const rows: readonly (readonly [string, JsonSchema, unknown, unknown, readonly string[]])[] = [
    ['a field beside known ones', known, { a: 'x', b: 1 }, { a: 'x' }, ['spec.b']],
    ['fields of items', { type: 'array', items: known }, [{ a: 'x' }, { b: 1 }], [{ a: 'x' }, {}], ['spec[1].b']],
    ['nothing of a free map', { type: 'object', additionalProperties: { type: 'string' } }, { b: 'x' }, { b: 'x' }, []],
    ['fields of values of a map', { type: 'object', additionalProperties: known }, { k: { b: 1 } }, { k: {} }, ['spec.k.b']],
    [
      'nothing where unknown fields are preserved',
      { ...known, 'x-kubernetes-preserve-unknown-fields': true },
      { b: { c: 1 } },
      { b: { c: 1 } },
      [],
    ],
    [
      'fields of known fields even there',
      { type: 'object', properties: { a: known }, 'x-kubernetes-preserve-unknown-fields': true },
      { a: { b: 1 }, c: 1 },
      { a: {}, c: 1 },
      ['spec.a.b'],
    ],
    [
      'no type or metadata of an embedded resource',
      { ...known, 'x-kubernetes-embedded-resource': true },
      { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' }, b: 1 },
      { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' } },
      ['spec.b'],
    ],
    ["metadata that is no resource's", known, { metadata: {} }, {}, ['spec.metadata']],
  ];
  for (const [name, schema, spec, expected, paths] of rows) {
    it(`prunes ${name}`, () => {
      const object: JsonObject = { apiVersion: 'v1', kind: 'X', metadata: {}, spec };
      assert.deepEqual(pruneUnknownFields(root(schema), object), paths);
      assert.deepEqual(object, { apiVersion: 'v1', kind: 'X', metadata: {}, spec: expected });
    });
  }
});

describe('nulls and defaults', () => {
  const rows: readonly (readonly [string, JsonSchema, unknown, unknown])[] = [
    ['a default where nothing is', { type: 'object', properties: { a: { type: 'string', default: 'd' } } }, {}, { a: 'd' }],
    ['no default over a value', { type: 'object', properties: { a: { type: 'string', default: 'd' } } }, { a: 'x' }, { a: 'x' }],
    ['no null that has no default', known, { a: null }, {}],
    ['a default for a null', { type: 'object', properties: { a: { type: 'string', default: 'd' } } }, { a: null }, { a: 'd' }],
    [
      'a null that may be',
      { type: 'object', properties: { a: { type: 'string', nullable: true, default: 'd' } } },
      { a: null },
      { a: null },
    ],
    [
      'defaults inside of defaults',
      { type: 'object', properties: { o: { type: 'object', default: {}, properties: { a: { type: 'integer', default: 3 } } } } },
      {},
      { o: { a: 3 } },
    ],
    [
      'no default below what is not there',
      { type: 'object', properties: { o: { type: 'object', properties: { a: { default: 3 } } } } },
      {},
      {},
    ],
    [
      'defaults in items',
      { type: 'array', items: { type: 'object', properties: { a: { default: 3 } } } },
      [{}, { a: 1 }],
      [{ a: 3 }, { a: 1 }],
    ],
    [
      'defaults in values of a map',
      { type: 'object', additionalProperties: { properties: { a: { default: 3 } } } },
      { k: {} },
      { k: { a: 3 } },
    ],
  ];
  for (const [name, schema, spec, expected] of rows) {
    it(`leave ${name}`, () => {
      const object = { spec };
      pruneNulls(root(schema), object);
      applyDefaults(root(schema), object);
      assert.deepEqual(object, { spec: expected });
    });
  }

  it('share no default between objects', () => {
    const schema = root({ type: 'object', default: { list: [] } });
    const [one, other]: [JsonObject, JsonObject] = [{}, {}];
    applyDefaults(schema, one);
    applyDefaults(schema, other);
    assert.notEqual(one['spec'], other['spec']);
  });
});
