import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { ConfigError } from '../../../functions/core/errors.ts';
import { structuralSchema } from '../../../functions/core/structural-schema.ts';

const unknownFields = { 'x-kubernetes-preserve-unknown-fields': true };

const fields: { name: string; schema: z.ZodType; expected: object }[] = [
  { name: 'a string', schema: z.string().min(1).max(3), expected: { type: 'string', minLength: 1, maxLength: 3 } },
  { name: 'a description', schema: z.boolean().describe('why'), expected: { description: 'why', type: 'boolean' } },
  { name: 'a literal as an enum', schema: z.literal('x'), expected: { type: 'string', enum: ['x'] } },
  { name: 'an enum', schema: z.enum(['a', 'b']), expected: { type: 'string', enum: ['a', 'b'] } },
  { name: 'null as nullable', schema: z.string().nullable(), expected: { type: 'string', nullable: true } },
  { name: 'no default of null', schema: z.string().nullable().default(null), expected: { type: 'string', nullable: true } },
  { name: 'a default', schema: z.boolean().default(false), expected: { type: 'boolean', default: false } },
  { name: 'an integer', schema: z.int(), expected: { type: 'integer', format: 'int64' } },
  { name: 'an integer of 32 bits', schema: z.int32(), expected: { type: 'integer', format: 'int32' } },
  { name: 'own bounds', schema: z.int().min(0).max(9), expected: { type: 'integer', format: 'int64', minimum: 0, maximum: 9 } },
  {
    name: 'an exclusive bound as a boolean',
    schema: z.number().gt(0),
    expected: { type: 'number', minimum: 0, exclusiveMinimum: true },
  },
  { name: 'a float without the bounds of its type', schema: z.float32(), expected: { type: 'number' } },
  { name: 'a whole step', schema: z.int().multipleOf(5), expected: { type: 'integer', format: 'int64', multipleOf: 5 } },
  { name: 'no fractional step, which the server misreads', schema: z.number().multipleOf(0.5), expected: { type: 'number' } },
  { name: 'a list', schema: z.array(z.string()).min(1), expected: { type: 'array', minItems: 1, items: { type: 'string' } } },
  { name: 'a map', schema: z.record(z.string(), z.boolean()), expected: { type: 'object', additionalProperties: { type: 'boolean' } } },
  { name: 'anything', schema: z.unknown(), expected: unknownFields },
  { name: 'a list of anything', schema: z.array(z.any()), expected: { type: 'array', items: unknownFields } },
  {
    name: 'a strict object without its additionalProperties',
    schema: z.strictObject({ a: z.string() }),
    expected: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
  },
  {
    name: 'a loose object',
    schema: z.looseObject({ a: z.boolean().optional() }),
    expected: { type: 'object', properties: { a: { type: 'boolean' } }, ...unknownFields },
  },
  {
    name: 'fields named like keywords',
    schema: z.object({ type: z.boolean(), default: z.boolean(), properties: z.boolean(), items: z.boolean() }).partial(),
    expected: {
      type: 'object',
      properties: { type: { type: 'boolean' }, default: { type: 'boolean' }, properties: { type: 'boolean' }, items: { type: 'boolean' } },
    },
  },
  {
    name: 'an intersection of objects as one object',
    schema: z.object({ a: z.boolean() }).and(z.object({ b: z.boolean() })),
    expected: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'boolean' }, b: { type: 'boolean' } } },
  },
  {
    name: 'the one union there is',
    schema: z.union([z.int(), z.string()]).describe('port'),
    expected: { description: 'port', 'x-kubernetes-int-or-string': true },
  },
  {
    name: "the author's own extensions",
    schema: z.array(z.string()).meta({ 'x-kubernetes-list-type': 'set', examples: [['a']] }),
    expected: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  },
  { name: 'a pattern', schema: z.string().regex(/^a+$/), expected: { type: 'string', pattern: '^a+$' } },
  { name: 'flags of a pattern', schema: z.string().regex(/^a+$/i), expected: { type: 'string', pattern: '(?i)^a+$' } },
  {
    name: 'several patterns',
    schema: z.string().startsWith('a').regex(/z/),
    expected: { type: 'string', allOf: [{ pattern: '^a.*' }, { pattern: 'z' }] },
  },
  { name: 'a format whose pattern looks ahead, without it', schema: z.iso.duration(), expected: { type: 'string' } },
  { name: 'a URL', schema: z.url(), expected: { type: 'string', format: 'uri' } },
  {
    name: 'a format that is not the last in its chain',
    schema: z.url().startsWith('https:'),
    expected: { type: 'string', format: 'uri', pattern: '^https:.*' },
  },
];

describe('structuralSchema', () => {
  for (const { name, schema, expected } of fields) {
    it(`writes ${name}`, () => {
      const root = structuralSchema(z.object({ field: schema.optional() }), 'spec');
      assert.deepEqual(root, { type: 'object', properties: { field: expected } });
    });
  }

  it('keeps the pattern of an e-mail address beside its format, so that both sides refuse the same', () => {
    const { properties } = structuralSchema(z.object({ owner: z.email() }), 'spec') as { properties: { owner: Record<string, string> } };
    assert.equal(properties.owner['format'], 'email');
    const pattern = new RegExp(properties.owner['pattern'] ?? '^$');
    for (const [address, isValid] of [
      ['a@b.org', true],
      ['Bob <a@b.org>', false],
    ] as const) {
      assert.equal(pattern.test(address), isValid);
      assert.equal(z.email().safeParse(address).success, isValid);
    }
  });

  it('asks for what has no default and for nothing else', () => {
    const root = structuralSchema(z.object({ a: z.boolean(), b: z.boolean().optional(), c: z.boolean().default(true) }), 'spec');
    assert.deepEqual(root['required'], ['a']);
  });

  const tree: z.ZodType = z.lazy(() => z.object({ children: z.array(tree).optional() }));
  const refused: { name: string; schema: z.ZodType; path: string; says: RegExp }[] = [
    { name: 'a union', schema: z.object({ a: z.union([z.string(), z.boolean()]) }), path: 'spec.a', says: /union/ },
    {
      name: 'a discriminated union in a list',
      schema: z.object({ a: z.array(z.discriminatedUnion('k', [z.object({ k: z.literal('x') }), z.object({ k: z.literal('y') })])) }),
      path: 'spec.a[]',
      says: /union/,
    },
    { name: 'a tuple', schema: z.object({ a: z.tuple([z.string(), z.boolean()]) }), path: 'spec.a[]', says: /tuple/ },
    { name: 'a recursive type', schema: z.object({ a: tree }), path: 'spec.a.children[]', says: /recursive/ },
    { name: 'a bigint', schema: z.object({ a: z.object({ b: z.bigint() }) }), path: 'spec.a.b', says: /BigInt/ },
    { name: 'a Date in a map', schema: z.object({ a: z.record(z.string(), z.date()) }), path: 'spec.a.*', says: /Date/ },
    { name: 'a catchall', schema: z.object({ a: z.object({ b: z.string() }).catchall(z.int()) }), path: 'spec.a', says: /catchall/ },
    { name: 'an enum of several types', schema: z.object({ a: z.literal(['x', 1]) }), path: 'spec.a', says: /several types/ },
    { name: 'an enum that may be null', schema: z.object({ a: z.enum(['x']).nullable() }), path: 'spec.a', says: /null/ },
    { name: 'an id', schema: z.object({ a: z.string().meta({ id: 'ref' }) }), path: 'spec.a', says: /id/ },
    { name: 'never', schema: z.object({ a: z.never().optional() }), path: 'spec.a', says: /never/ },
    { name: 'a look-ahead', schema: z.object({ a: z.string().regex(/^(?=.*\d)/) }), path: 'spec.a', says: /looks ahead/ },
    { name: 'a back reference', schema: z.object({ a: z.string().regex(/(.)\1/) }), path: 'spec.a', says: /refers back/ },
    { name: 'a count over 1,000', schema: z.object({ a: z.string().regex(/^a{1,2000}$/) }), path: 'spec.a', says: /1,000/ },
    { name: 'an unknown keyword', schema: z.object({ a: z.string().meta({ colour: 'red' }) }), path: 'spec.a', says: /colour/ },
  ];
  for (const { name, schema, path, says } of refused) {
    it(`refuses ${name} and names the field`, () => {
      assert.throws(
        () => structuralSchema(schema, 'spec'),
        (error) => error instanceof ConfigError && error.message.startsWith(`${path}: `) && says.test(error.message),
      );
    });
  }

  it('takes an escaped backslash before a digit for what it is', () => {
    const { properties } = structuralSchema(z.object({ a: z.string().regex(/\\1/) }), 'spec') as { properties: object };
    assert.deepEqual(properties, { a: { type: 'string', pattern: '\\\\1' } });
  });
});
