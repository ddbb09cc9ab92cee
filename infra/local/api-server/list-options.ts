/** The options of a list or watch, checked as the real server checks them. */
import { ApiFault, badRequest, type StatusCause } from './api-fault.ts';

/** The number of a resourceVersion; undefined for an empty one. @throws ApiFault 500 without a reason, as the real server answers */
export function parseResourceVersion(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const quoted = JSON.stringify(text);
  throw new ApiFault(500, `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`);
}

/** @throws ApiFault 422 with all that is wrong, 400 for a resourceVersion beside a continue token */
export function checkListOptions(query: URLSearchParams, isWatch: boolean): void {
  const causes = isWatch ? watchCauses(query) : listCauses(query);
  if (causes.length > 0) throw invalidOptions('ListOptions', causes);
  if (!isWatch && query.get('continue') && !['', '0', null].includes(query.get('resourceVersion'))) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
}

const MATCH = 'resourceVersionMatch';
const forbidden = (field: string, text: string): StatusCause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${text}`,
  field,
});
const notSupported = (field: string, value: string, supported: readonly string[]): StatusCause => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((each) => JSON.stringify(each)).join(', ')}`,
  field,
});

function watchCauses(query: URLSearchParams): StatusCause[] {
  const match = query.get(MATCH) ?? '';
  const hasInitial = query.has('sendInitialEvents');
  const causes: StatusCause[] = [];
  if (hasInitial && match !== 'NotOlderThan') {
    causes.push(forbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match === '') return causes;
  if (!hasInitial) causes.push(forbidden(MATCH, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
  if (match !== 'NotOlderThan') causes.push(notSupported(MATCH, match, ['NotOlderThan']));
  if (query.get('continue')) causes.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
  return causes;
}

function listCauses(query: URLSearchParams): StatusCause[] {
  const match = query.get(MATCH) ?? '';
  const resourceVersion = query.get('resourceVersion') ?? '';
  const causes: StatusCause[] = [];
  if (match !== '') {
    if (resourceVersion === '') causes.push(forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (query.get('continue')) causes.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan') causes.push(notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0') {
      causes.push(forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.has('sendInitialEvents')) causes.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return causes;
}

/** 422 of the options of a request. */
export function invalidOptions(
  kind: 'ListOptions' | 'PatchOptions' | 'CreateOptions' | 'UpdateOptions' | 'DeleteOptions',
  causes: readonly StatusCause[],
): ApiFault {
  const listed = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = listed.length === 1 ? String(listed[0]) : `[${listed.join(', ')}]`;
  const details = { group: 'meta.k8s.io', kind, causes };
  return new ApiFault(422, `${kind}.meta.k8s.io "" is invalid: ${text}`, { reason: 'Invalid', details });
}

/** A query's number. @throws ApiFault 400 */
export function integerOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** A query's boolean, as Go reads one: present without a value is true. */
export function booleanOf(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  return text !== null && !['false', '0', 'f', 'F', 'FALSE', 'False'].includes(text);
}
