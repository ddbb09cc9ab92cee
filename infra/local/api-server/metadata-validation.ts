/** What metadata may hold, and what of it an update may change. */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type KindInfo, type OwnerReference } from './api-object.ts';
import { type FieldError, forbidden, invalid, required, tooLong } from './field-error.ts';
import { labelFaults, labelValueFaults, pathSegmentFaults, qualifiedNameFaults, subdomainFaults } from './object-names.ts';

/** Of all annotations of an object together, keys and values (apimachinery 0.36). */
const ANNOTATIONS_MAX_BYTES = 256 * 1024;

type NameRule = (name: string, isPrefix: boolean) => string[];

function nameRule({ kind, group }: KindInfo): NameRule {
  if (group === 'rbac.authorization.k8s.io') return pathSegmentFaults;
  return kind === 'Namespace' && group === '' ? labelFaults : subdomainFaults;
}

/** What is wrong with the metadata of an object that is to be created. */
export function validateMetadata(kind: KindInfo, metadata: JsonObject): FieldError[] {
  return metadataErrors(kind, metadata, nameRule(kind));
}

/** What is wrong with metadata that replaces `old`. The name has been checked long ago and need only fit into a path. */
export function validateMetadataUpdate(kind: KindInfo, metadata: JsonObject, old: JsonObject): FieldError[] {
  const changes = changeErrors(metadata, old);
  // The server asks twice what may change: once for all kinds, once for the kind. So its causes are there twice.
  return [...metadataErrors(kind, metadata, pathSegmentFaults), ...changes, ...changes];
}

function metadataErrors({ namespaced }: KindInfo, metadata: JsonObject, rule: NameRule): FieldError[] {
  const { name, generateName, namespace } = metadata;
  const errors: FieldError[] = [];
  if (typeof generateName === 'string') {
    errors.push(...rule(generateName, true).map((fault) => invalid('metadata.generateName', generateName, fault)));
  }
  if (typeof name !== 'string') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...rule(name, false).map((fault) => invalid('metadata.name', name, fault)));
  if (namespaced && typeof namespace !== 'string') errors.push(required('metadata.namespace'));
  if (namespaced && typeof namespace === 'string') {
    errors.push(...labelFaults(namespace).map((fault) => invalid('metadata.namespace', namespace, fault)));
  }
  const finalizers = texts(metadata['finalizers']);
  errors.push(...finalizers.flatMap((name) => qualifiedNameFaults(name).map((fault) => invalid('metadata.finalizers', name, fault))));
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid('metadata.finalizers', finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return [...errors, ...contentErrors(metadata)];
}

function changeErrors(metadata: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (old['deletionTimestamp'] !== undefined) {
    const added = [...new Set(texts(metadata['finalizers']))].filter((name) => !texts(old['finalizers']).includes(name)).sort();
    const shown = `[]string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
    if (added.length > 0) {
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`;
      errors.push(forbidden('metadata.finalizers', detail));
    }
  }
  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds']) {
    if (!isDeepStrictEqual(metadata[field], old[field])) errors.push(invalid(`metadata.${field}`, metadata[field], 'field is immutable'));
  }
  return [...errors, ...contentErrors(metadata)];
}

/** Labels, annotations and owners: asked at every write. */
function contentErrors(metadata: JsonObject): FieldError[] {
  const errors = entries(metadata['labels']).flatMap(([key, value]) => [
    ...qualifiedNameFaults(key).map((fault) => invalid('metadata.labels', key, fault)),
    ...labelValueFaults(value).map((fault) => invalid('metadata.labels', value, fault)),
  ]);
  const annotations = entries(metadata['annotations']);
  for (const [key] of annotations) {
    errors.push(...qualifiedNameFaults(key.toLowerCase()).map((fault) => invalid('metadata.annotations', key, fault)));
  }
  const bytes = annotations.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (bytes > ANNOTATIONS_MAX_BYTES) errors.push(tooLong('metadata.annotations', ANNOTATIONS_MAX_BYTES));
  return [...errors, ...ownerErrors(metadata['ownerReferences'])];
}

function ownerErrors(references: unknown): FieldError[] {
  if (!Array.isArray(references)) return [];
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const reference of references as OwnerReference[]) {
    const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
    const path = 'metadata.ownerReferences';
    if (apiVersion === '') errors.push(invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
    for (const [field, value] of Object.entries({ kind, name, uid })) {
      if (value === '') errors.push(invalid(`${path}.${field}`, value, 'must not be empty'));
    }
    if (apiVersion === 'v1' && kind === 'Event') errors.push(invalid(path, reference, '/v1, Kind=Event is disallowed from being an owner'));
    if (reference.controller !== true) continue;
    const found = 'Found "true" in references for';
    if (controller === undefined) controller = `${kind}/${name}`;
    else
      errors.push(
        invalid(path, references, `Only one reference can have Controller set to true. ${found} ${controller} and ${kind}/${name}`),
      );
  }
  return errors;
}

const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Warnings about finalizers that `metadata` adds to `old` and whose names may clash with others'. */
export function finalizerWarnings(metadata: JsonObject, old: JsonObject = {}): string[] {
  const known = new Set(texts(old['finalizers']));
  const added = [...new Set(texts(metadata['finalizers']))].filter((name) => !known.has(name)).sort();
  return added.flatMap((name) => {
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return [];
    const path = name.includes('.') ? ' including a path (/)' : '';
    return [
      `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
    ];
  });
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

const entries = (value: unknown): [string, string][] =>
  isJsonObject(value) ? Object.entries(value).map(([key, text]) => [key, String(text)]) : [];
