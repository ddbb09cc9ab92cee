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

function definition(kind: string, { keys = {}, hasStatus = true }: { keys?: object; hasStatus?: boolean }): Definition {
  const plural = `${kind.toLowerCase()}s`;
  const status = {
    type: 'object',
    properties: {
      observedGeneration: { type: 'integer', format: 'int64' },
      phase: { type: 'string' },
      detail: { type: 'string' },
      conditions: { type: 'array', items: condition, ...keys },
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
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
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status, data: { type: 'string' } } } },
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
