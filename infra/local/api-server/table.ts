/** The Table form: what a client sees of an object in a row. */
import { isJsonObject, type JsonObject, type KindInfo, type KubeObject, type PrinterColumn } from './api-object.ts';
import { findAll } from './json-path.ts';

const NAME = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object: unique in its kind and namespace, never changed.',
  priority: 0,
};

export function columnDefinitions({ columns }: KindInfo): JsonObject[] {
  return [
    NAME,
    ...columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({ name, type, format, description, priority })),
  ];
}

/** One cell for each column; null where there is nothing to show. An object of a bookmark has metadata only, and no name. */
export function cellsOf(object: KubeObject, { columns }: KindInfo, now: Date): unknown[] {
  return [object.metadata.name ?? '', ...columns.map((column) => cell(column, object, now))];
}

function cell({ jsonPath, type }: PrinterColumn, object: KubeObject, now: Date): unknown {
  if (jsonPath.startsWith('=')) return computed(jsonPath.slice(1), object, now);
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

/** The cells of built-in kinds that are more than a field. */
function computed(what: string, object: KubeObject, now: Date): unknown {
  const count = (field: string): number => (isJsonObject(object[field]) ? Object.keys(object[field]).length : 0);
  const text = (field: string): string => String(findAll(field, object)[0] ?? '');
  switch (what) {
    case 'age':
      return ageOf(object.metadata.creationTimestamp, now);
    case 'dataCount':
      return count('data') + count('binaryData');
    case 'lastSeen':
      return ageOf(text('.lastTimestamp') || text('.eventTime') || object.metadata.creationTimestamp, now);
    case 'involved': {
      const at = isJsonObject(object['regarding']) ? '.regarding' : '.involvedObject';
      return `${text(`${at}.kind`).toLowerCase()}/${text(`${at}.name`)}`;
    }
    case 'role':
      return `${text('.roleRef.kind')}/${text('.roleRef.name')}`;
    default:
      return null;
  }
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Time since then as kubectl shows it, such as `85s`, `3m20s`, `5h`, `12d`; `<unknown>` without a time. */
export function ageOf(since: string | undefined, now: Date): string {
  const start = Date.parse(since ?? '');
  if (Number.isNaN(start)) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now.getTime() - start) / 1000));
  const pair = (big: number, bigName: string, small: number, smallName: string): string => {
    const rest = Math.floor((seconds % big) / small);
    return `${Math.floor(seconds / big)}${bigName}${rest === 0 ? '' : `${rest}${smallName}`}`;
  };
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return pair(DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  return seconds < 8 * YEAR ? pair(YEAR, 'y', DAY, 'd') : `${Math.floor(seconds / YEAR)}y`;
}
