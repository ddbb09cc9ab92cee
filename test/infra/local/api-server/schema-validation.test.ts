import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonSchema } from '../../../../infra/local/api-server/api-object.ts';
import { findDuplicates } from '../../../../infra/local/api-server/list-uniqueness.ts';
import { fitsFormat } from '../../../../infra/local/api-server/schema-format.ts';
import { validateSchema } from '../../../../infra/local/api-server/schema-validation.ts';

const spec = (property: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { x: property } } },
});

/** Reasons without `FieldValue`, and messages, of a value at spec.x. */
const faultsOf = (property: JsonSchema, x: unknown, old?: unknown): string[] =>
  validateSchema(spec(property), { spec: { x } }, old === undefined ? undefined : { spec: { x: old } }).map(
    ({ reason, field, message }) => `${reason.replace('FieldValue', '')} ${field}: ${message}`,
  );

describe('validateSchema', () => {
  const rows: readonly (readonly [JsonSchema, unknown, ...string[]])[] = [
    [{ type: 'string' }, 'a'],
    [{ type: 'string' }, 5, 'TypeInvalid spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"'],
    [{ type: 'string' }, 1.5, 'TypeInvalid spec.x: Invalid value: "number": spec.x in body must be of type string: "number"'],
    [{ type: 'string' }, null, 'TypeInvalid spec.x: Invalid value: "null": spec.x in body must be of type string: "null"'],
    [{ type: 'string', nullable: true }, null],
    [{ type: 'integer' }, 'a', 'TypeInvalid spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"'],
    [{ type: 'integer', format: 'int64' }, 3],
    [
      { type: 'integer', maximum: 1 },
      1.5,
      'TypeInvalid spec.x: Invalid value: "number": spec.x in body must be of type integer: "number"',
      'Invalid : Invalid value: "": Checked value must be of type integer (default format) in spec.x',
      'Invalid spec.x: Invalid value: 1.5: spec.x in body should be less than or equal to 1',
    ],
    [
      { type: 'integer', format: 'int32' },
      2 ** 31,
      'Invalid : Invalid value: "": Checked value must be of type integer with format int32 in spec.x',
    ],
    [{ type: 'string', format: 'date' }, 5, 'TypeInvalid spec.x: Invalid value: "int64": spec.x in body must be of type date: "int64"'],
    [{ type: 'number' }, 3],
    [{ type: 'number', minimum: 0.5 }, 0],
    [{ type: 'string', format: 'ipv4' }, ['a list']],
    [{ type: 'boolean' }, [], 'TypeInvalid spec.x: Invalid value: "array": spec.x in body must be of type boolean: "array"'],
    [{ type: 'object' }, [], 'TypeInvalid spec.x: Invalid value: "array": spec.x in body must be of type object: "array"'],
    [{ 'x-kubernetes-int-or-string': true }, '10%'],
    [{ 'x-kubernetes-int-or-string': true }, 10],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      'TypeInvalid spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"',
    ],
    [{ 'x-kubernetes-preserve-unknown-fields': true }, { any: [1] }],
    [{ type: 'integer', minimum: 0 }, -1, 'Invalid spec.x: Invalid value: -1: spec.x in body should be greater than or equal to 0'],
    [
      { type: 'integer', minimum: 0, exclusiveMinimum: true },
      0,
      'Invalid spec.x: Invalid value: 0: spec.x in body should be greater than 0',
    ],
    [{ type: 'integer', maximum: 3 }, 4, 'Invalid spec.x: Invalid value: 4: spec.x in body should be less than or equal to 3'],
    [{ type: 'integer', maximum: 3, exclusiveMaximum: true }, 3, 'Invalid spec.x: Invalid value: 3: spec.x in body should be less than 3'],
    [{ type: 'integer', multipleOf: 3 }, 4, 'Invalid spec.x: Invalid value: 4: spec.x in body should be a multiple of 3'],
    [{ type: 'string', minLength: 2 }, 'a', 'Invalid spec.x: Invalid value: "a": spec.x in body should be at least 2 chars long'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'TooLong spec.x: Too long: may not be more than 2 bytes'],
    [{ type: 'string', maxLength: 2 }, '😀😀'],
    [{ type: 'string', pattern: '^a+$' }, 'b', 'Invalid spec.x: Invalid value: "b": spec.x in body should match \'^a+$\''],
    [{ type: 'string', pattern: '(?i)^A+$' }, 'aa'],
    [
      { type: 'string', format: 'date-time' },
      'soon',
      'TypeInvalid spec.x: Invalid value: "soon": spec.x in body must be of type date-time: "soon"',
    ],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'NotSupported spec.x: Unsupported value: "c": supported values: "a", "b"'],
    [{ type: 'integer', enum: [1, 2] }, 3, 'NotSupported spec.x: Unsupported value: 3: supported values: "1", "2"'],
    [{ type: 'array', items: { type: 'string' }, maxItems: 1 }, ['a', 'b'], 'TooMany spec.x: Too many: 2: must have at most 1 item'],
    [
      { type: 'array', items: { type: 'string' }, minItems: 1 },
      [],
      'Invalid spec.x: Invalid value: 0: spec.x in body should have at least 1 items',
    ],
    [
      { type: 'array', items: { type: 'integer' } },
      [1, 'a'],
      'TypeInvalid spec.x[1]: Invalid value: "string": spec.x[1] in body must be of type integer: "string"',
    ],
    [{ type: 'object', required: ['a'], properties: { a: { type: 'string' } } }, {}, 'Required spec.x.a: Required value'],
    [
      { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 },
      { a: 'b', c: 1 },
      'TooMany spec.x: Too many: 2: must have at most 1 item',
      'TypeInvalid spec.x.c: Invalid value: "integer": spec.x.c in body must be of type string: "integer"',
    ],
    [{ type: 'integer', anyOf: [{ minimum: 5 }, { maximum: 1 }] }, 7],
    [{ type: 'integer', not: { enum: [7] } }, 7, 'Invalid : Invalid value: "": "spec.x" must not validate the schema (not)'],
    [
      { type: 'integer', oneOf: [{ minimum: 5 }, { minimum: 6 }] },
      7,
      'Invalid : Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ];
  for (const [schema, value, ...faults] of rows) {
    it(`${faults.length === 0 ? 'lets' : 'refuses'} ${JSON.stringify(value)} for ${JSON.stringify(schema)}`, () =>
      assert.deepEqual(faultsOf(schema, value), faults));
  }

  it('does not ask again about what an update leaves alone', () => {
    assert.deepEqual(faultsOf({ type: 'integer', maximum: 3 }, 4, 4), []);
    assert.equal(faultsOf({ type: 'integer', maximum: 3 }, 5, 4).length, 1);
  });

  it('knows items of a keyed list again, and of no other', () => {
    const items: JsonSchema = { type: 'object', properties: { k: { type: 'string' }, n: { type: 'integer', maximum: 3 } } };
    const old = [{ k: 'a', n: 9 }];
    const next = [{ k: 'b', n: 1 }, ...old];
    const keyed = { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    assert.deepEqual(faultsOf(keyed, next, old), []);
    assert.equal(faultsOf({ type: 'array', items }, next, old).length, 1);
  });
});

describe('fitsFormat', () => {
  const rows: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    [
      'date-time',
      ['2026-11-29T15:38:44Z', '2026-11-29T15:38:44.123+02:00'],
      ['2026-11-29', '2026-02-30T00:00:00Z', '2026-11-29T25:00:00Z'],
    ],
    ['date', ['2024-02-29'], ['2026-02-29', '2026-13-01', '29.11.2026']],
    ['byte', ['YQ==', 'YWJj'], ['', 'a', 'YQ=']],
    ['duration', ['1h30m', '5 seconds', '0'], ['1', 'x']],
    ['ipv4', ['10.0.0.1'], ['10.0.0.256', '::1']],
    ['ipv6', ['::1', 'fe80::1'], ['10.0.0.1', 'g::1']],
    ['cidr', ['10.0.0.0/8', '::/0'], ['10.0.0.0/33', '10.0.0.0']],
    ['uuid4', ['7c9e6679-7425-40de-944b-e07fc1f90ae7'], ['7c9e6679-7425-10de-944b-e07fc1f90ae7']],
    ['uri', ['https://example.com/a?b', '/path'], ['no scheme']],
    ['hostname', ['a.example.com', 'a'], ['-a', 'a b', 'a-b-c', '2026.01']],
    ['never-heard-of', ['anything'], []],
  ];
  for (const [format, good, bad] of rows) {
    it(`knows ${format}`, () => {
      assert.deepEqual(
        good.filter((text) => !fitsFormat(format, text)),
        [],
      );
      assert.deepEqual(
        bad.filter((text) => fitsFormat(format, text)),
        [],
      );
    });
  }
});

describe('findDuplicates', () => {
  const set: JsonSchema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
  const map: JsonSchema = {
    type: 'array',
    items: { type: 'object', properties: { k: { type: 'string' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  };
  const rows: readonly (readonly [string, JsonSchema, unknown, readonly string[]])[] = [
    ['a set without any', set, ['a', 'b'], []],
    ['an entry of a set, once however often it is there', set, ['a', 'b', 'a', 'a'], ['spec.x[2]: Duplicate value: "a"']],
    ['an item of a map', map, [{ k: 'a' }, { k: 'b' }, { k: 'a', n: 1 }], ['spec.x[2]: Duplicate value: {"k":"a"}']],
    ['items without their key', map, [{}, {}], ['spec.x[1]: Duplicate value: {}']],
    ['a map of scalars', map, ['a'], ['spec.x[0]: Invalid value: "a": must be an object for an array of list-type map']],
    [
      'a set below an item',
      { type: 'array', items: { type: 'object', properties: { s: set } } },
      [{ s: ['a', 'a'] }],
      ['spec.x[0].s[1]: Duplicate value: "a"'],
    ],
    ['a set in a free map', { type: 'object', additionalProperties: set }, { a: ['b', 'b'] }, ['spec.x[a][1]: Duplicate value: "b"']],
  ];
  for (const [name, schema, x, expected] of rows) {
    it(`tells of ${name}`, () =>
      assert.deepEqual(
        findDuplicates(spec(schema), { spec: { x } }).map(({ field, message }) => `${field}: ${message}`),
        expected,
      ));
  }
});
