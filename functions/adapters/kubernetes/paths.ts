/** Paths and queries of the API, and the Accept headers that fit each verb. */
import type { ObjectAddress, ResourceType } from '../../../events/resource.ts';
import { TerminalError } from '../../core/errors.ts';
import type { ListForm } from './port.ts';

export const JSON_TYPE = 'application/json';
export const APPLY_PATCH = 'application/apply-patch+yaml';
export const MERGE_PATCH = 'application/merge-patch+json';

/** For GET, the answer of a PATCH, and WATCH. A LIST with it is 406, and a GET with the one for lists is 500. */
export const METADATA = accept('PartialObjectMetadata');
/** For LIST only. */
const METADATA_LIST = accept('PartialObjectMetadataList');
/** For LIST and WATCH. */
const TABLE = accept('Table');

function accept(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

/** The Accept header of a list or watch in a form. */
export function acceptOf(form: ListForm, verb: 'list' | 'watch'): string {
  if (form === 'table') return TABLE;
  return verb === 'list' ? METADATA_LIST : METADATA;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** All objects of a kind; in one namespace where it is given. */
export function collectionPath(type: ResourceType, namespace?: string | undefined, query: Query = {}): string {
  const group = type.group === '' ? `/api/${segment(type.version)}` : `/apis/${segment(type.group)}/${segment(type.version)}`;
  const within = namespace === undefined ? '' : `/namespaces/${segment(namespace)}`;
  return `${group}${within}/${segment(type.plural)}${queryOf(query)}`;
}

/**
 * One object, or a subresource of it.
 *
 * @throws TerminalError `bad-request` for a name that a path would take apart, or a namespace that is missing or too much for
 * the kind: the server would answer about something else
 */
export function objectPath(type: ResourceType, at: ObjectAddress, query: Query = {}, subresource?: 'status'): string {
  if ((type.scope === 'Namespaced') !== (at.namespace !== undefined)) {
    throw new TerminalError(
      'bad-request',
      'the address does not fit the scope of the kind; give a namespace exactly where it is namespaced',
      {
        facts: { kind: type.kind, scope: type.scope, name: at.name },
      },
    );
  }
  const collection = collectionPath(type, at.namespace);
  return `${collection}/${segment(at.name)}${subresource === undefined ? '' : `/${subresource}`}${queryOf(query)}`;
}

function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') {
    throw new TerminalError('bad-request', 'this is no name of a Kubernetes object', { facts: { segment: text } });
  }
  return encodeURIComponent(text);
}

function queryOf(query: Query): string {
  const parts = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : `${key}=${encodeURIComponent(value)}`));
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
