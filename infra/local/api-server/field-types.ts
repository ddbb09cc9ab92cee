/**
 * The types that server-side apply works with: for each place of an object, whether it is a scalar, a list or a map there, and
 * whether a list or map is one value (atomic) or is owned part by part.
 */
import { isJsonObject, type JsonSchema, type KindInfo } from './api-object.ts';
import { METADATA, schemaOf } from './built-in-schemas.ts';

/** A list: one value, or one whose items are known again. */
export interface ListType {
  readonly isAtomic: boolean;
  /** Fields that identify an item; none in a set, where an item is its own identity. */
  readonly keys: readonly string[];
  readonly element: FieldType;
}

/** A map: one value, or fields that are owned apart. */
export interface MapType {
  readonly isAtomic: boolean;
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly defaults: ReadonlyMap<string, unknown>;
  /** Type of fields that are not named; undefined if there may be none. */
  readonly element: FieldType | undefined;
}

/** What may stand at one place. More than one member where the schema leaves it open. */
export interface FieldType {
  readonly scalar?: 'numeric' | 'string' | 'boolean' | 'untyped';
  readonly list?: ListType;
  readonly map?: MapType;
}

/** Where nothing is known: any value, as one whole. */
const untyped: FieldType = {
  scalar: 'untyped',
  get list() {
    return { isAtomic: true, keys: [], element: untyped };
  },
  get map() {
    return { isAtomic: true, fields: new Map(), defaults: new Map(), element: untyped };
  },
};

/** Where the schema lets anything in: maps are owned field by field, lists as one value. */
const deduced: FieldType = {
  scalar: 'untyped',
  list: { isAtomic: true, keys: [], element: untyped },
  get map() {
    return { isAtomic: false, fields: new Map(), defaults: new Map(), element: deduced };
  },
};

const known = new WeakMap<KindInfo, FieldType>();

/** The type of a kind's whole object. */
export function typeOfKind(kind: KindInfo): FieldType {
  const found = known.get(kind);
  if (found !== undefined) return found;
  const schema = schemaOf(kind);
  const text: JsonSchema = { type: 'string' };
  const properties = { ...schema.properties, apiVersion: text, kind: text, metadata: METADATA };
  // A custom kind's root is closed by having properties; metadata must not close one that is open.
  const isOpen = schema.properties === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const type = typeOf({ ...schema, properties, ...(isOpen ? { additionalProperties: true } : {}) }, false);
  known.set(kind, type);
  return type;
}

function typeOf(schema: JsonSchema, inheritedOpen: boolean): FieldType {
  const isOpen = inheritedOpen || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type) {
    case 'object':
      return { map: mapType(schema, isOpen) };
    case 'array':
      return { list: listType(schema, isOpen) };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'string':
      return { scalar: schema['format'] === undefined || schema['format'] === 'byte' ? 'string' : 'untyped' };
    default:
      return { scalar: 'untyped', list: listType(schema, isOpen), map: mapType(schema, isOpen) };
  }
}

function listType(schema: JsonSchema, isOpen: boolean): ListType {
  const type = schema['x-kubernetes-list-type'];
  return {
    isAtomic: type !== 'set' && type !== 'map',
    keys: type === 'map' ? ((schema['x-kubernetes-list-map-keys'] ?? []) as string[]) : [],
    element: schema.items === undefined ? untyped : typeOf(schema.items, isOpen),
  };
}

function mapType(schema: JsonSchema, isOpen: boolean): MapType {
  const properties = Object.entries(schema.properties ?? {});
  return {
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    fields: new Map(properties.map(([name, property]) => [name, typeOf(property, isOpen)])),
    defaults: new Map(properties.flatMap(([name, property]) => (property['default'] === undefined ? [] : [[name, property['default']]]))),
    element: elementOf(schema, isOpen, properties.length > 0),
  };
}

function elementOf({ additionalProperties }: JsonSchema, isOpen: boolean, hasProperties: boolean): FieldType | undefined {
  if (isJsonObject(additionalProperties)) return typeOf(additionalProperties, isOpen);
  if (additionalProperties === true) return deduced;
  if (additionalProperties === false) return undefined;
  return isOpen || !hasProperties ? deduced : undefined;
}

/** The type of the field `name` of a map. */
export const fieldOf = (map: MapType, name: string): FieldType | undefined => map.fields.get(name) ?? map.element;

/** Of what may stand there, what does: a value's own shape, or all of it for a null or a value that does not fit. */
export function narrow(type: FieldType, value: unknown): FieldType {
  if (value === undefined || value === null) return type;
  if (Array.isArray(value)) return type.list === undefined ? type : { list: type.list };
  if (typeof value === 'object') return type.map === undefined ? type : { map: type.map };
  return type.scalar === undefined ? type : { scalar: type.scalar };
}
