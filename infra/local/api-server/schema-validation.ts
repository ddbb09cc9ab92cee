/**
 * Checks a value against a structural schema, with the causes and words of the API server. Rules in CEL
 * (x-kubernetes-validations) are not run here.
 * What is wrong with a value that an update leaves as it was is not told (see schema-ratcheting.ts).
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonSchema } from './api-object.ts';
import { type FieldError, invalid, notSupported, required, tooLong, tooMany, typeInvalid } from './field-error.ts';
import { fitsFormat, isKnownFormat } from './schema-format.ts';
import { formerItems, isUnchanged } from './schema-ratcheting.ts';

/**
 * What is wrong with `value`. `old` is the value that an update replaces. `prefix` goes before the field of each cause but
 * not into its text, as the server has it for `status`.
 */
export function validateSchema(schema: JsonSchema, value: unknown, old?: unknown, prefix = ''): FieldError[] {
  const errors = withoutRepeats(validateValue(schema, value, '', old));
  return prefix === '' ? errors : errors.map((error) => ({ ...error, field: error.field === '' ? prefix : `${prefix}.${error.field}` }));
}

/** What several branches of a schema find is told once. */
function withoutRepeats(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [`${error.reason} ${error.field} ${error.message}`, error])).values()];
}

/** The path of a cause: the server drops the dot that a path from the root begins with, but keeps it in the text. */
const fieldOf = (path: string): string => path.replace(/^\./, '');

function validateValue(schema: JsonSchema, value: unknown, path: string, old: unknown): FieldError[] {
  const errors = checkValue(schema, value, path, old);
  return errors.length > 0 && isUnchanged(schema, value, old) ? [] : errors;
}

function checkValue(schema: JsonSchema, value: unknown, path: string, old: unknown): FieldError[] {
  const wrongType = checkType(schema, value, path) ?? [];
  if (value === null) return [...wrongType, ...checkEnum(schema, value, path)];
  // As on the server, a value of the wrong type is checked by what it is.
  return [
    ...wrongType,
    ...checkCombinations(schema, value, path, old),
    ...(typeof value === 'string' ? checkString(schema, value, path) : []),
    ...(typeof value === 'number' ? checkNumber(schema, value, path) : []),
    ...(Array.isArray(value) ? checkList(schema, value, path, old) : []),
    ...checkEnum(schema, value, path),
    ...(isJsonObject(value) ? checkObject(schema, value, path, old) : []),
  ];
}

/** The JSON type's name as the server prints it. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkType(schema: JsonSchema, value: unknown, path: string): FieldError[] | undefined {
  const wanted = schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : schema.type ? [schema.type] : [];
  if (wanted.length === 0) return undefined;
  const actual = typeName(value);
  if (value === null && schema['nullable'] === true) return undefined;
  if (wanted.includes(actual) || (actual === 'integer' && wanted.includes('number'))) return undefined;
  // A list passes for a text with a format: the server's own gap.
  if (actual === 'array' && schema.type === 'string' && typeof schema['format'] === 'string' && isKnownFormat(schema['format']))
    return undefined;
  const name = actual === 'null' || !isFormatted(schema, value) ? wanted.join(',') : String(schema['format']);
  const shown = name === schema['format'] ? formatOf(value) : actual;
  return [typeInvalid(fieldOf(path), shown, `${path} in body must be of type ${name}: ${JSON.stringify(shown)}`)];
}

/** A number where another type with a format is wanted: the server then names formats, not types. */
const isFormatted = (schema: JsonSchema, value: unknown): boolean =>
  typeof schema['format'] === 'string' && isSupportedFormat(schema) && typeof value !== 'string' && !Array.isArray(value);

/** Formats of other types are struck out of the schema before it is used. */
function isSupportedFormat(schema: JsonSchema): boolean {
  const format = String(schema['format']);
  if (schema.type === 'integer') return format === 'int32' || format === 'int64';
  if (schema.type === 'number') return format === 'float' || format === 'double';
  return (schema.type === 'string' || schema.type === undefined) && isKnownFormat(format);
}

function formatOf(value: unknown): string {
  if (typeof value !== 'number') return '';
  return Number.isInteger(value) ? 'int64' : 'float64';
}

function checkEnum(schema: JsonSchema, value: unknown, path: string): FieldError[] {
  const allowed = schema['enum'];
  if (!Array.isArray(allowed) || allowed.length === 0 || allowed.some((one) => isAllowed(one, value))) return [];
  return [notSupported(fieldOf(path), value, allowed)];
}

/** A number is cut to a whole one before it is compared with one. */
function isAllowed(one: unknown, value: unknown): boolean {
  const comparable = typeof value === 'number' && Number.isInteger(one) ? Math.trunc(value) : value;
  return isDeepStrictEqual(one, comparable);
}

/** Only the first fault of a string is told. */
function checkString(schema: JsonSchema, value: string, path: string): FieldError[] {
  const { maxLength, minLength, pattern, format } = schema as { maxLength?: number; minLength?: number; pattern?: string; format?: string };
  const length = [...value].length;
  const errors: FieldError[] = [];
  if (maxLength !== undefined && length > maxLength) errors.push(tooLong(fieldOf(path), maxLength));
  else if (minLength !== undefined && length < minLength) {
    errors.push(invalid(fieldOf(path), value, `${path} in body should be at least ${minLength} chars long`));
  } else if (pattern !== undefined && pattern !== '' && !matches(pattern, value)) {
    errors.push(invalid(fieldOf(path), value, `${path} in body should match '${pattern}'`));
  }
  if (format !== undefined && !fitsFormat(format, value)) {
    errors.push(typeInvalid(fieldOf(path), value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`));
  }
  return errors;
}

/** Patterns are Go's; one that JavaScript cannot read lets everything pass rather than refuse good values. */
function matches(pattern: string, value: string): boolean {
  const flags = pattern.startsWith('(?i)') ? 'iu' : 'u';
  const source = pattern
    .replace(/^\(\?i\)/, '')
    .replaceAll('\\A', '^')
    .replaceAll('\\z', '$');
  try {
    return new RegExp(source, flags).test(value);
  } catch {
    return true;
  }
}

function checkNumber(schema: JsonSchema, value: number, path: string): FieldError[] {
  const { multipleOf, minimum, maximum } = schema as Record<'minimum' | 'maximum' | 'multipleOf', number | undefined>;
  // The server compares a whole number with whole limits: what they have behind the point does not count.
  const limit = (number: number): number => (Number.isInteger(value) ? Math.trunc(number) : number);
  const errors = checkRange(schema, value, path);
  if (multipleOf !== undefined && !Number.isInteger(value / limit(multipleOf))) {
    errors.push(invalid(fieldOf(path), value, `${path} in body should be a multiple of ${limit(multipleOf)}`));
  }
  const above = schema['exclusiveMinimum'] === true;
  if (minimum !== undefined && (value < limit(minimum) || (above && value === limit(minimum)))) {
    errors.push(invalid(fieldOf(path), value, `${path} in body should be greater than ${above ? '' : 'or equal to '}${limit(minimum)}`));
  }
  const below = schema['exclusiveMaximum'] === true;
  if (maximum !== undefined && (value > limit(maximum) || (below && value === limit(maximum)))) {
    errors.push(invalid(fieldOf(path), value, `${path} in body should be less than ${below ? '' : 'or equal to '}${limit(maximum)}`));
  }
  return errors;
}

/** Whether the number fits the integer type that is wanted. The cause has no field. */
function checkRange({ type, format }: JsonSchema, value: number, path: string): FieldError[] {
  if (type !== 'integer') return [];
  const bits = format === 'int32' ? 31 : 63;
  if (Number.isInteger(value) && value < 2 ** bits && value >= -(2 ** bits)) return [];
  const wanted = format === 'int32' || format === 'int64' ? ` with format ${format}` : ' (default format)';
  return [invalid('', '', `Checked value must be of type integer${wanted} in ${path}`)];
}

function checkList(schema: JsonSchema, list: readonly unknown[], path: string, old: unknown): FieldError[] {
  const { items, minItems, maxItems } = schema as { items?: JsonSchema; minItems?: number; maxItems?: number };
  const before = formerItems(schema, old);
  const errors = items === undefined ? [] : list.flatMap((item, i) => validateValue(items, item, `${path}[${i}]`, before(item)));
  if (minItems !== undefined && list.length < minItems) {
    errors.push(invalid(fieldOf(path), list.length, `${path} in body should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && list.length > maxItems) errors.push(tooMany(fieldOf(path), list.length, maxItems));
  if (schema['uniqueItems'] === true && list.some((item, i) => list.slice(0, i).some((other) => isDeepStrictEqual(item, other)))) {
    errors.push(invalid(fieldOf(path), '', `${path} in body shouldn't contain duplicates`));
  }
  return errors;
}

function checkObject(schema: JsonSchema, object: JsonObject, path: string, old: unknown): FieldError[] {
  const former = isJsonObject(old) ? old : {};
  const { properties = {}, additionalProperties } = schema;
  const count = Object.keys(object).length;
  const { minProperties, maxProperties } = schema as { minProperties?: number; maxProperties?: number };
  const errors: FieldError[] = [];
  if (minProperties !== undefined && count < minProperties) {
    errors.push(invalid(fieldOf(path), count, `${path} in body should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && count > maxProperties) errors.push(tooMany(fieldOf(path), count, maxProperties));
  for (const [name, value] of Object.entries(object)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property !== undefined) errors.push(...validateValue(property, value, path === '' ? name : `${path}.${name}`, former[name]));
    else if (isJsonObject(additionalProperties))
      errors.push(...validateValue(additionalProperties, value, `${path}.${name}`, former[name]));
  }
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(object, name));
  return [...errors, ...missing.map((name) => required(fieldOf(`${path}.${name}`)))];
}

function checkCombinations(schema: JsonSchema, value: unknown, path: string, old: unknown): FieldError[] {
  const branches = (name: string): FieldError[][] =>
    ((schema[name] ?? []) as JsonSchema[]).map((branch) => checkValue(branch, value, path, old));
  const whole = (detail: string): FieldError => invalid('', '', `${JSON.stringify(path)} ${detail}`);
  const [all, any, one] = [branches('allOf'), branches('anyOf'), branches('oneOf')];
  const errors: FieldError[] = [];
  if (any.length > 0 && any.every((faults) => faults.length > 0)) {
    errors.push(whole('must validate at least one schema (anyOf)'), ...fewest(any));
  }
  const fitting = one.filter((faults) => faults.length === 0).length;
  if (one.length > 0 && fitting !== 1) {
    errors.push(
      whole(`must validate one and only one schema (oneOf). ${fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`}`),
    );
    if (fitting === 0) errors.push(...fewest(one));
  }
  const failed = all.filter((faults) => faults.length > 0);
  if (failed.length > 0)
    errors.push(whole(`must validate all the schemas (allOf)${failed.length === all.length ? '. None validated' : ''}`), ...failed.flat());
  if (isJsonObject(schema['not']) && checkValue(schema['not'] as JsonSchema, value, path, old).length === 0) {
    errors.push(whole('must not validate the schema (not)'));
  }
  return errors;
}

const fewest = (branches: FieldError[][]): FieldError[] => branches.reduce((best, one) => (one.length < best.length ? one : best));
