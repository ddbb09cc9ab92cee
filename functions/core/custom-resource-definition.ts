/**
 * The CustomResourceDefinition of a kind of ours, apiextensions.k8s.io/v1.
 *
 * The columns are a contract and not decoration: the watcher reads from their cells how settled an object is, without ever
 * receiving spec or status (`events/columns.ts`). Key order is fixed, so that a generated file changes only with its definition.
 *
 * No transition rule keeps observedGeneration from going back: every status apply of ours carries the resourceVersion it was computed
 * from, which is the stronger fence, and a rule alone can wedge an object that was created anew under its old name.
 */
import type * as z from 'zod';
import { CONDITION_STATUSES } from './conditions.ts';
import { isJsonObject } from './plain-json.ts';
import type { PlannedObject } from './reconciler.ts';
import type { PrinterColumn, ResourceDefinition } from './resource-definition.ts';
import { type JsonSchema, structuralSchema } from './structural-schema.ts';

/** A CustomResourceDefinition as plain JSON, ready to be applied or written as YAML. */
export interface CustomResourceDefinition extends PlannedObject {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/**
 * The CRD that serves and stores the kind in its one version, with the status subresource.
 *
 * @throws ConfigError `schema-not-structural`, naming the field, if a schema says what a CRD cannot
 */
export function customResourceDefinition(resource: ResourceDefinition): CustomResourceDefinition {
  const { group, version, kind, plural, singular, shortNames, scope } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, singular, kind, listKind: `${kind}List`, ...(shortNames.length === 0 ? {} : { shortNames }) },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: rootSchema(resource) },
          subresources: { status: {} },
          additionalPrinterColumns: printerColumns(resource.columns),
        },
      ],
    },
  };
}

function rootSchema(resource: ResourceDefinition): JsonSchema {
  const spec = structuralSchema(resource.spec, 'spec');
  const isSpecRequired = spec['required'] !== undefined;
  return {
    type: 'object',
    ...(isSpecRequired ? { required: ['spec'] } : {}),
    properties: { spec, status: statusSchema(resource.status) },
  };
}

/**
 * The author's fields, all of them optional (a failure is written before the first success), then the framework's. Defaults
 * are left out: the server would add fields that no manager owns.
 */
function statusSchema(status: z.ZodType): JsonSchema {
  const { required: _, ...schema } = withoutDefaults(structuralSchema(status, 'status'));
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  return { ...schema, properties: { ...properties, ...FRAMEWORK_STATUS } };
}

function withoutDefaults(schema: JsonSchema): JsonSchema {
  const { default: _, properties, items, additionalProperties, ...rest } = schema;
  const inside: Record<string, unknown> = {};
  if (isJsonObject(properties)) {
    inside['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [name, withoutDefaults(part as JsonSchema)]),
    );
  }
  if (isJsonObject(items)) inside['items'] = withoutDefaults(items);
  if (isJsonObject(additionalProperties)) inside['additionalProperties'] = withoutDefaults(additionalProperties);
  return { ...rest, ...inside };
}

const int64 = (description: string) => ({ description, type: 'integer', format: 'int64' });
const text = (description: string) => ({ description, type: 'string' });

/**
 * Of a condition only type and status are required: when we let go of a condition of which another manager holds one
 * field, what stays must still be valid, or our own apply would be refused.
 */
const CONDITIONS = {
  description: 'Ready says whether the spec is in force; Stalled is there while the object waits as a dead letter.',
  type: 'array',
  items: {
    type: 'object',
    required: ['type', 'status'],
    properties: {
      type: text('CamelCase, or domain/CamelCase.'),
      status: { type: 'string', enum: [...CONDITION_STATUSES] },
      observedGeneration: int64('The generation of the spec that this condition speaks about.'),
      lastTransitionTime: { description: 'When status last changed.', type: 'string', format: 'date-time' },
      reason: text('One CamelCase word for programs.'),
      message: text('A sentence for people.'),
    },
  },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
};

const FRAMEWORK_STATUS = {
  observedGeneration: int64('The generation of the spec that the last successful run has seen.'),
  observedRevision: int64("The reconciler's revision that made it; absent counts as 1."),
  conditions: CONDITIONS,
  nextReconcileTime: { description: 'When the reconciler asked to run again.', type: 'string', format: 'date-time' },
  childrenDigest: text('Hash of the names of all children, so that a change of the set is noticed.'),
};

const READY_CONDITION = '.status.conditions[?(@.type=="Ready")]';

const FIRST_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'string', jsonPath: `${READY_CONDITION}.status` },
  { name: 'Reason', type: 'string', jsonPath: `${READY_CONDITION}.reason` },
];

const LAST_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Observed', type: 'integer', priority: 1, jsonPath: '.status.observedGeneration' },
  { name: 'Attempted', type: 'integer', priority: 1, jsonPath: `${READY_CONDITION}.observedGeneration` },
  { name: 'Revision', type: 'integer', priority: 1, jsonPath: '.status.observedRevision' },
  { name: 'Stalled', type: 'integer', priority: 1, jsonPath: '.status.conditions[?(@.type=="Stalled")].observedGeneration' },
  // A string and never a date: the cell of a date column holds an age, which no program can compare.
  { name: 'Next', type: 'string', priority: 1, jsonPath: '.status.nextReconcileTime' },
];

function printerColumns(own: readonly PrinterColumn[]): readonly JsonSchema[] {
  return [...FIRST_COLUMNS, ...own, ...LAST_COLUMNS].map(({ name, type, description, priority, jsonPath }) => ({
    name,
    type,
    ...(description === undefined ? {} : { description }),
    // 0 is the server's default and left out there too.
    ...(priority === undefined || priority === 0 ? {} : { priority }),
    jsonPath,
  }));
}
