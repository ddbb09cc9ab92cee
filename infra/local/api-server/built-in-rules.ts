/** What the server adds to built-in kinds by itself, and what of them may never change. */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type KindInfo } from './api-object.ts';
import { type FieldError, forbidden, invalid } from './field-error.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Fills in, in place, the defaults that decoding gives a built-in kind. */
export function fillBuiltIn({ kind, group, isCustom }: KindInfo, object: JsonObject): void {
  if (isCustom) return;
  if (group === RBAC && kind.endsWith('Binding')) fillBinding(object);
  if (group === '' && kind === 'Secret') fillSecret(object);
  if (group === '' && kind === 'Namespace') fillNamespace(object);
}

/** A namespace can be found by its name with a label selector. */
function fillNamespace({ metadata }: JsonObject): void {
  if (!isJsonObject(metadata) || typeof metadata['name'] !== 'string') return;
  const { labels, name } = metadata;
  metadata['labels'] = { ...(isJsonObject(labels) ? labels : {}), 'kubernetes.io/metadata.name': name };
}

/** stringData is for writing only: it becomes data. */
function fillSecret(object: JsonObject): void {
  const { stringData } = object;
  delete object['stringData'];
  if (isJsonObject(stringData)) {
    const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]);
    object['data'] = { ...(isJsonObject(object['data']) ? object['data'] : {}), ...Object.fromEntries(encoded) };
  }
  object['type'] ??= 'Opaque';
}

function fillBinding(object: JsonObject): void {
  if (isJsonObject(object['roleRef'])) object['roleRef']['apiGroup'] ??= RBAC;
  for (const subject of Array.isArray(object['subjects']) ? object['subjects'] : []) {
    if (isJsonObject(subject) && (subject['kind'] === 'User' || subject['kind'] === 'Group')) subject['apiGroup'] ??= RBAC;
  }
}

/** What a new object of a built-in kind begins with that no writer owns. */
export function beginBuiltIn({ kind, group, isCustom }: KindInfo): JsonObject {
  if (isCustom || group !== '') return {};
  if (kind === 'Namespace') return { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
  return kind === 'ResourceQuota' ? { status: {} } : {};
}

/** What an update of a built-in kind may not change. */
export function builtInChangeErrors({ kind, group, isCustom }: KindInfo, next: JsonObject, old: JsonObject): FieldError[] {
  if (isCustom) return [];
  const differs = (field: string): boolean => !isDeepStrictEqual(next[field], old[field]);
  if (group === RBAC && kind.endsWith('Binding'))
    return differs('roleRef') ? [invalid('roleRef', next['roleRef'], 'cannot change roleRef')] : [];
  if (kind === 'CustomResourceDefinition') return definitionChangeErrors(next['spec'], old['spec']);
  if (group !== '' || (kind !== 'ConfigMap' && kind !== 'Secret')) return [];
  const errors = kind === 'Secret' && differs('type') ? [invalid('type', next['type'], 'field is immutable')] : [];
  if (old['immutable'] !== true) return errors;
  const detail = 'field is immutable when `immutable` is set';
  if (next['immutable'] !== true) errors.push(forbidden('immutable', detail));
  return [...errors, ...['data', 'binaryData'].filter(differs).map((field) => forbidden(field, detail))];
}

/** Objects are stored by these; a definition here is established as soon as it is there. */
function definitionChangeErrors(next: unknown, old: unknown): FieldError[] {
  if (!isJsonObject(next) || !isJsonObject(old)) return [];
  const kindOf = ({ names }: JsonObject): unknown => (isJsonObject(names) ? names['kind'] : undefined);
  const errors = next['scope'] === old['scope'] ? [] : [invalid('spec.scope', next['scope'], 'field is immutable')];
  if (kindOf(next) !== kindOf(old)) errors.push(invalid('spec.names.kind', kindOf(next), 'field is immutable'));
  return errors;
}
