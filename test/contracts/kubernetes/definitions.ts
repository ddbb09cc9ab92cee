/** The kinds of the contract: widgets are the usual; plains have no status subresource; atomics have conditions without list keys. */
export const GROUP = 'wire.example';

interface Definition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly names: { readonly plural: string; readonly kind: string; readonly singular: string };
    readonly [field: string]: unknown;
  };
}

const condition = {
  type: 'object',
  required: ['type', 'status'],
  properties: {
    type: { type: 'string' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string' },
    message: { type: 'string' },
  },
};
const spec = {
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 0 },
    tier: { type: 'string' },
    blob: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    level: { type: 'string', default: 'low' },
  },
};
const KEYED = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] };
const COLUMNS = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Observed', type: 'integer', jsonPath: '.status.observedGeneration', priority: 1 },
];

interface Shape {
  readonly keys?: object;
  readonly hasStatus?: boolean;
  readonly group?: string;
  readonly conditions?: object;
  readonly properties?: object;
  /** In place of spec, status and data. */
  readonly schema?: object;
}

function definition(kind: string, shape: Shape): Definition {
  const { keys = {}, hasStatus = true, group = GROUP, conditions = condition, properties = spec.properties } = shape;
  const plural = `${kind.toLowerCase()}s`;
  const status = {
    type: 'object',
    properties: {
      observedGeneration: { type: 'integer', format: 'int64' },
      phase: { type: 'string' },
      detail: { type: 'string' },
      conditions: { type: 'array', items: conditions, ...keys },
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          ...(hasStatus ? { subresources: { status: {} } } : {}),
          selectableFields: [{ jsonPath: '.spec.tier' }],
          additionalPrinterColumns: COLUMNS,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: shape.schema ?? { spec: { type: 'object', properties }, status, data: { type: 'string' } },
            },
          },
        },
      ],
    },
  };
}

export function definitions(): Definition[] {
  return [
    definition('Widget', { keys: KEYED }),
    definition('Plain', { keys: KEYED, hasStatus: false }),
    definition('Atomic', {}),
    // Their definitions are changed and deleted.
    definition('Quiet', { keys: KEYED }),
    definition('Brief', { keys: KEYED }),
  ];
}

/** The kinds of the recorded exchanges. */
export function labDefinitions(): Definition[] {
  const group = 'lab.example.com';
  const conditions = {
    ...condition,
    properties: {
      ...condition.properties,
      observedGeneration: { type: 'integer', format: 'int64' },
      lastTransitionTime: { type: 'string', format: 'date-time' },
    },
  };
  const { level: _, ...properties } = spec.properties;
  const of = (kind: string, keys: object, hasStatus = true): Definition => {
    return definition(kind, { keys, hasStatus, conditions, properties, group });
  };
  const loose = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const thing = definition('Thing', { group: `table.${group}`, schema: { spec: loose, status: loose } });
  return [of('Widget', KEYED), of('Plain', KEYED, false), of('Atomic', {}), of('Quiet', KEYED), thing];
}
