/** The Table form: what a client sees of an object in a row. */
import type { JsonObject, KindInfo, KubeObject, PrinterColumn } from './api-object.ts';
import { builtInCell } from './built-in-cells.ts';
import { ageOf } from './human-age.ts';
import { findAll } from './json-path.ts';

const NAME = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object: unique in its kind and namespace, never changed.',
  priority: 0,
};

export function columnDefinitions({ columns }: KindInfo): JsonObject[] {
  const others = columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
  return namesItself(columns) ? others : [NAME, ...others];
}

/** One cell for each column; null where there is nothing to show. An object of a bookmark has metadata only, and no name. */
export function cellsOf(object: KubeObject, { columns }: KindInfo, now: Date): unknown[] {
  const others = columns.map((column) => cell(column, object, now));
  return namesItself(columns) ? others : [object.metadata.name ?? '', ...others];
}

/** A kind may have its name in another place than the first. */
const namesItself = (columns: readonly PrinterColumn[]): boolean => columns.some(({ name }) => name === NAME.name);

function cell({ jsonPath, type }: PrinterColumn, object: KubeObject, now: Date): unknown {
  if (jsonPath.startsWith('=')) return builtInCell(jsonPath.slice(1), object, now);
  const [value] = findAll(jsonPath, object);
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : null;
    default:
      return typeof value === 'string' ? value : JSON.stringify(value);
  }
}
