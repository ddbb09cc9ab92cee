/** The cells of built-in kinds that are more than a field. */
import { isJsonObject, type KubeObject } from './api-object.ts';
import { ageOf } from './human-age.ts';
import { findAll } from './json-path.ts';

type Cell = (object: KubeObject, now: Date) => unknown;

const text = (object: KubeObject, path: string): string => String(findAll(path, object)[0] ?? '');
const keyCount = (object: KubeObject, field: string): number => (isJsonObject(object[field]) ? Object.keys(object[field]).length : 0);
const subjects = (object: KubeObject, kind: string, path: (subject: KubeObject) => string): string =>
  findAll('.subjects[*]', object)
    .filter((subject) => isJsonObject(subject) && subject['kind'] === kind)
    .map((subject) => path(subject as KubeObject))
    .join(', ');

/** `requests.cpu: 1/2` for each resource, limits apart from the others. */
function quota(object: KubeObject, isLimit: boolean): string {
  const [hard] = findAll('.status.hard', object);
  const [used] = findAll('.status.used', object);
  const names = isJsonObject(hard) ? Object.keys(hard).sort() : [];
  return names
    .filter((name) => name.startsWith('limits.') === isLimit)
    .map((name) => `${name}: ${String(isJsonObject(used) ? (used[name] ?? 0) : 0)}/${String((hard as Record<string, unknown>)[name])}`)
    .join(', ');
}

const CELLS: Readonly<Record<string, Cell>> = {
  age: (object, now) => ageOf(object.metadata.creationTimestamp, now),
  dataCount: (object) => keyCount(object, 'data') + keyCount(object, 'binaryData'),
  lastSeen: (object, now) => ageOf(text(object, '.lastTimestamp') || text(object, '.eventTime') || object.metadata.creationTimestamp, now),
  firstSeen: (object, now) =>
    ageOf(text(object, '.firstTimestamp') || text(object, '.eventTime') || object.metadata.creationTimestamp, now),
  count: (object) => Number(text(object, '.count') || text(object, '.series.count') || 1),
  involved(object) {
    const at = isJsonObject(object['regarding']) ? '.regarding' : '.involvedObject';
    return `${text(object, `${at}.kind`).toLowerCase()}/${text(object, `${at}.name`)}`;
  },
  source(object) {
    const component = text(object, '.source.component') || text(object, '.reportingComponent') || text(object, '.reportingController');
    const host = text(object, '.source.host') || text(object, '.reportingInstance');
    return host === '' ? component : `${component}, ${host}`;
  },
  role: (object) => `${text(object, '.roleRef.kind')}/${text(object, '.roleRef.name')}`,
  users: (object) => subjects(object, 'User', (subject) => String(subject['name'])),
  groups: (object) => subjects(object, 'Group', (subject) => String(subject['name'])),
  serviceAccounts: (object) =>
    subjects(object, 'ServiceAccount', (subject) => `${String(subject['namespace'])}/${String(subject['name'])}`),
  requests: (object) => quota(object, false),
  limits: (object) => quota(object, true),
};

/** Null for a cell that nobody knows. */
export function builtInCell(name: string, object: KubeObject, now: Date): unknown {
  return CELLS[name]?.(object, now) ?? null;
}
