/**
 * Fields and list types of the built-in kinds, as structural schemas, so that one code types built-in and custom objects.
 * Source of the fields and of what is atomic: the apply configurations of client-go 0.36 (applyconfigurations/internal).
 */
import type { JsonSchema, KindInfo } from './api-object.ts';

const text: JsonSchema = { type: 'string' };
const int: JsonSchema = { type: 'integer' };
const flag: JsonSchema = { type: 'boolean' };
/** Times and quantities: any scalar goes, as the real typing has it. */
const scalar: JsonSchema = { 'x-kubernetes-int-or-string': true };
const open: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const fields = (properties: Record<string, JsonSchema>): JsonSchema => ({ type: 'object', properties });
const atomic = (properties: Record<string, JsonSchema>): JsonSchema => ({ ...fields(properties), 'x-kubernetes-map-type': 'atomic' });
const mapOf = (additionalProperties: JsonSchema): JsonSchema => ({ type: 'object', additionalProperties });
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items, 'x-kubernetes-list-type': 'atomic' });
const setOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items, 'x-kubernetes-list-type': 'set' });
const keyed = (key: string, items: JsonSchema): JsonSchema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
});

/** metadata of every object. */
export const METADATA: JsonSchema = fields({
  annotations: mapOf(text),
  creationTimestamp: scalar,
  deletionGracePeriodSeconds: int,
  deletionTimestamp: scalar,
  finalizers: setOf(text),
  generateName: text,
  generation: int,
  labels: mapOf(text),
  managedFields: listOf(open),
  name: text,
  namespace: text,
  ownerReferences: keyed(
    'uid',
    atomic({ apiVersion: text, blockOwnerDeletion: flag, controller: flag, kind: text, name: text, uid: text }),
  ),
  resourceVersion: text,
  selfLink: text,
  uid: text,
});

const objectReference = atomic({
  apiVersion: text,
  fieldPath: text,
  kind: text,
  name: text,
  namespace: text,
  resourceVersion: text,
  uid: text,
});
const eventSource = fields({ component: text, host: text });
const series = fields({ count: int, lastObservedTime: scalar });
const condition = fields({ lastTransitionTime: scalar, message: text, observedGeneration: int, reason: text, status: text, type: text });
const texts = listOf(text);
const rules = listOf(fields({ apiGroups: texts, nonResourceURLs: texts, resourceNames: texts, resources: texts, verbs: texts }));
const binding = fields({
  roleRef: atomic({ apiGroup: text, kind: text, name: text }),
  subjects: listOf(atomic({ apiGroup: text, kind: text, name: text, namespace: text })),
});

const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ConfigMap: fields({ binaryData: mapOf(text), data: mapOf(text), immutable: flag }),
  Secret: fields({ data: mapOf(text), immutable: flag, stringData: mapOf(text), type: text }),
  ServiceAccount: fields({
    automountServiceAccountToken: flag,
    imagePullSecrets: listOf(atomic({ name: text })),
    secrets: keyed('name', objectReference),
  }),
  Namespace: fields({
    spec: fields({ finalizers: texts }),
    status: fields({ conditions: keyed('type', condition), phase: text }),
  }),
  ResourceQuota: fields({
    spec: fields({ hard: mapOf(scalar), scopeSelector: atomic({ matchExpressions: listOf(open) }), scopes: texts }),
    status: fields({ hard: mapOf(scalar), used: mapOf(scalar) }),
  }),
  Event: fields({
    action: text,
    count: int,
    eventTime: scalar,
    firstTimestamp: scalar,
    involvedObject: objectReference,
    lastTimestamp: scalar,
    message: text,
    reason: text,
    related: objectReference,
    reportingComponent: text,
    reportingInstance: text,
    series,
    source: eventSource,
    type: text,
  }),
  'Event.events.k8s.io': fields({
    action: text,
    deprecatedCount: int,
    deprecatedFirstTimestamp: scalar,
    deprecatedLastTimestamp: scalar,
    deprecatedSource: eventSource,
    eventTime: scalar,
    note: text,
    reason: text,
    regarding: objectReference,
    related: objectReference,
    reportingController: text,
    reportingInstance: text,
    series,
    type: text,
  }),
  'Lease.coordination.k8s.io': fields({
    spec: fields({
      acquireTime: scalar,
      holderIdentity: text,
      leaseDurationSeconds: int,
      leaseTransitions: int,
      preferredHolder: text,
      renewTime: scalar,
      strategy: text,
    }),
  }),
  'ClusterRole.rbac.authorization.k8s.io': fields({ aggregationRule: fields({ clusterRoleSelectors: listOf(open) }), rules }),
  'Role.rbac.authorization.k8s.io': fields({ rules }),
  'ClusterRoleBinding.rbac.authorization.k8s.io': binding,
  'RoleBinding.rbac.authorization.k8s.io': binding,
  'CustomResourceDefinition.apiextensions.k8s.io': fields({
    spec: open,
    status: fields({ acceptedNames: open, conditions: keyed('type', condition), storedVersions: texts, observedGeneration: int }),
  }),
};

/** The schema of a kind's objects without apiVersion, kind and metadata. A built-in kind that is not described takes any field. */
export function schemaOf(kind: KindInfo): JsonSchema {
  return kind.schema ?? SCHEMAS[kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`] ?? open;
}
