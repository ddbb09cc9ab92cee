import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { JsonObject, JsonSchema } from '../../../../infra/local/api-server/api-object.ts';
import type { FieldError } from '../../../../infra/local/api-server/field-error.ts';
import { findDuplicates } from '../../../../infra/local/api-server/list-uniqueness.ts';
import { applyDefaults, pruneNulls, pruneUnknownFields } from '../../../../infra/local/api-server/schema-coercion.ts';
import { validateSchema } from '../../../../infra/local/api-server/schema-validation.ts';

/** What the Go library found in an object, or in an update of `old`, and what it made of it. `schema` holds the properties of the root. */
interface Recorded {
  readonly schema: Record<string, JsonSchema>;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  readonly errors: FieldError[];
  readonly duplicates: FieldError[];
  readonly unknown: string[];
  readonly coerced: JsonObject;
}

const { cases } = JSON.parse(readFileSync(new URL('samples/schemas.json', import.meta.url), 'utf8')) as { cases: Recorded[] };

/** The library goes through fields in no order, and prints no path as one of its own. */
const texts = (errors: readonly FieldError[]): string[] =>
  errors.map(({ reason, field, message }) => `${reason} ${field === '' ? '<nil>' : field}: ${message}`).sort();

describe('schemas, against what the Go library was recorded to make of random objects', () => {
  for (const [i, { schema: properties, object, old, errors, duplicates, unknown, coerced }] of cases.entries()) {
    it(`are read alike in case ${i}`, () => {
      const schema: JsonSchema = { type: 'object', properties };
      assert.deepEqual(texts(validateSchema(schema, object, old)), texts(errors));
      assert.deepEqual(texts(findDuplicates(schema, object)), texts(duplicates));
      const copy = structuredClone(object);
      assert.deepEqual(pruneUnknownFields(schema, copy), unknown);
      pruneNulls(schema, copy);
      applyDefaults(schema, copy);
      assert.deepEqual(copy, coerced);
    });
  }
});
