/**
 * A zod schema as the structural schema that a CustomResourceDefinition takes. The aim: whatever zod would refuse and the API
 * server can refuse, the API server refuses, so that it is an error of `kubectl apply` and not a dead letter.
 *
 * zod writes OpenAPI 3.0 (`nullable`, boolean `exclusiveMinimum`, `enum` for literals); here it is cut to an allow-list. What a
 * structural schema cannot say is a ConfigError that names the field, never a field left out in silence; only checks that zod
 * runs by code (`refine`) are left to the function.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
import * as z from 'zod';
import { ConfigError, cutText } from './errors.ts';
import { isJsonObject } from './plain-json.ts';
import { describeStrings } from './string-schema.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Kept as they are, in this order, so that a generated file never changes without a cause. */
const KEPT = [
  'title',
  'description',
  'type',
  'format',
  'nullable',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

/** Written by this file itself. */
const TRANSLATED = ['allOf', 'anyOf', 'oneOf', 'default', 'required', 'properties', 'items', 'additionalProperties'];

/** Notes for readers of a schema, for which a structural schema has no place; what refers to `definitions` is refused where it stands. */
const DROPPED = [
  '$schema',
  'definitions',
  'examples',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
];

const EXTENSION = 'x-kubernetes-';
const UNKNOWN_FIELDS = { 'x-kubernetes-preserve-unknown-fields': true } as const;

const INT32_MAX = 2 ** 31 - 1;
/** Just under the largest float of 32 bits, which is the bound zod gives to z.float32(). */
const FLOAT32_MAX = 3.4e38;

/**
 * The structural schema of what is written into the field (defaults not yet applied).
 *
 * @param root  the field's name, `spec` or `status`; errors name fields from here
 * @throws ConfigError `schema-not-structural`, naming the field and what to write instead
 */
export function structuralSchema(schema: z.ZodType, root: string): JsonSchema {
  return translate(openApiSchema(schema, root), root);
}

function openApiSchema(schema: z.ZodType, root: string): JsonSchema {
  try {
    return z.toJSONSchema(schema, {
      target: 'openapi-3.0',
      io: 'input',
      reused: 'inline',
      cycles: 'throw',
      unrepresentable: ({ path, message }) => refuse(fieldPath(root, path), `${message}; use a type that JSON has`),
      override: describeStrings((path, problem) => refuse(fieldPath(root, path), problem)),
    });
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const message = error instanceof Error ? error.message : '';
    const cycle = /^Cycle detected: #\/(.*)\/<root>/.exec(message)?.[1];
    if (cycle === undefined) throw new ConfigError('schema-not-structural', `${root}: ${cutText(message)}`, { cause: error });
    return refuse(fieldPath(root, cycle.split('/')), 'is recursive; a structural schema has a fixed depth, so use z.unknown() there');
  }
}

function refuse(path: string, problem: string): never {
  throw new ConfigError('schema-not-structural', `${path}: ${problem}`, { facts: { path } });
}

/** `spec.rules[].ports` for the JSON Schema path properties/rules/items/properties/ports. */
function fieldPath(root: string, path: readonly (string | number)[]): string {
  let text = root;
  for (let at = 0; at < path.length; at += 1) {
    const step = path[at];
    if (step === 'properties') {
      at += 1;
      text += `.${path[at]}`;
    } else if (step === 'items') text += '[]';
    else if (step === 'additionalProperties') text += '.*';
  }
  return text;
}

function translate(node: JsonSchema, path: string): JsonSchema {
  checkKeywords(node, path);
  const union = node['anyOf'] ?? node['oneOf'];
  if (Array.isArray(union)) return translateUnion(node, union, path);
  const schema: Record<string, unknown> = {};
  const bounded = translateNumber(node);
  for (const key of KEPT) if (bounded[key] !== undefined) schema[key] = bounded[key];
  // The API server finds null in no enum, whatever the enum holds and whatever nullable says (seen on 1.36).
  if (node['nullable'] === true && node['enum'] !== undefined) refuse(path, 'is an enum that may be null; make it optional instead');
  const extensions = Object.keys(node).filter((key) => key.startsWith(EXTENSION));
  for (const key of extensions.sort()) schema[key] = node[key];
  translateAllOf(node, schema, path);
  // A default of null is refused for fields that are not nullable, and says nothing for those that are.
  if (node['default'] !== undefined && node['default'] !== null) schema['default'] = node['default'];
  if (node['type'] === undefined && extensions.length === 0) {
    if (node['enum'] !== undefined) refuse(path, 'mixes values of several types; use values of one type');
    return { ...schema, ...UNKNOWN_FIELDS };
  }
  translateParts(node, schema, path);
  return schema;
}

function checkKeywords(node: JsonSchema, path: string): void {
  if (node['$ref'] !== undefined) refuse(path, 'has an id in its metadata, which turns it into a reference; leave the id out');
  if (node['not'] !== undefined) refuse(path, 'can never hold a value; leave the field out');
  for (const key of Object.keys(node)) {
    const isKnown = [KEPT, TRANSLATED, DROPPED].some((known) => (known as readonly string[]).includes(key));
    if (!isKnown && !key.startsWith(EXTENSION)) refuse(path, `${key} has no place in a structural schema; leave it out`);
  }
}

/** The one union that a structural schema has: an integer or a string, as ports and percentages are written. */
function translateUnion(node: JsonSchema, union: readonly unknown[], path: string): JsonSchema {
  const types = union.map((part) => (isJsonObject(part) ? part['type'] : undefined));
  if (types.length !== 2 || !types.includes('integer') || !types.includes('string')) {
    refuse(path, 'is a union or a tuple; use one object with optional fields (and an enum that says which), or z.enum(...)');
  }
  const schema: Record<string, unknown> = {};
  for (const key of ['title', 'description', 'nullable', 'default']) {
    if (node[key] !== undefined && node[key] !== null) schema[key] = node[key];
  }
  return { ...schema, 'x-kubernetes-int-or-string': true };
}

/** Several patterns of one string. Anything else that allOf may say (an intersection that zod could not fold) has no form here. */
function translateAllOf(node: JsonSchema, schema: Record<string, unknown>, path: string): void {
  const parts = node['allOf'];
  if (!Array.isArray(parts)) return;
  const patterns = parts.map((part) => (isJsonObject(part) && Object.keys(part).join() === 'pattern' ? part['pattern'] : undefined));
  if (patterns.includes(undefined)) refuse(path, 'is an intersection; write one z.object(...)');
  schema['allOf'] = patterns.map((pattern) => ({ pattern }));
}

/**
 * zod bounds every integer by what a JavaScript number holds exactly, and every float by its largest value. The API server's
 * formats say the same in one word; zod still refuses what lies between 2^53 and 2^63.
 */
function translateNumber(node: JsonSchema): JsonSchema {
  const { type, minimum, maximum, multipleOf, format: _, ...rest } = node;
  if (type !== 'integer' && type !== 'number') return node;
  const isInt32 = type === 'integer' && minimum === -INT32_MAX - 1 && maximum === INT32_MAX;
  const isBound = (value: unknown) => typeof value === 'number' && !isInt32 && !isTypeLimit(value);
  return {
    ...rest,
    type,
    ...(type === 'integer' ? { format: isInt32 ? 'int32' : 'int64' } : {}),
    ...(isBound(minimum) ? { minimum } : {}),
    ...(isBound(maximum) ? { maximum } : {}),
    // A fraction is cut to 0 when the value is a whole number, and then refuses it (seen on 1.36): left to zod.
    ...(Number.isInteger(multipleOf) ? { multipleOf } : {}),
  };
}

function isTypeLimit(value: number): boolean {
  const size = Math.abs(value);
  return size === Number.MAX_SAFE_INTEGER || size > FLOAT32_MAX;
}

function translateParts(node: JsonSchema, schema: Record<string, unknown>, path: string): void {
  const { required, properties, items, additionalProperties } = node;
  if (Array.isArray(required) && required.length > 0) schema['required'] = required;
  if (isJsonObject(properties)) {
    schema['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [name, translate(part as JsonSchema, `${path}.${name}`)]),
    );
  }
  if (isJsonObject(items)) schema['items'] = translate(items, `${path}[]`);
  // False (z.strictObject) is dropped: the API server prunes or refuses unknown fields by itself.
  if (!isJsonObject(additionalProperties)) return;
  if (!isJsonObject(properties)) schema['additionalProperties'] = translate(additionalProperties, `${path}.*`);
  else if (Object.keys(additionalProperties).length === 0) Object.assign(schema, UNKNOWN_FIELDS);
  else refuse(path, 'has named fields and a catchall; move the others into a field of their own, a z.record(...)');
}
