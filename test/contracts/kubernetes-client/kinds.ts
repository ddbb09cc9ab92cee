/** The kinds that the contract uses, and their CRDs. */
import type { ResourceType } from '../../../events/resource.ts';

export const GROUP = 'contract.example';

/** The usual: namespaced, status subresource, conditions keyed by type. */
export const things: ResourceType = { group: GROUP, version: 'v1', kind: 'Thing', plural: 'things', scope: 'Namespaced' };
/** Without status subresource. */
export const plains: ResourceType = { group: GROUP, version: 'v1', kind: 'Plain', plural: 'plains', scope: 'Namespaced' };

/** Printer columns of `things`. */
export const COLUMNS = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Observed', type: 'integer', jsonPath: '.status.observedGeneration' },
];

const status = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer' },
    phase: { type: 'string', maxLength: 20 },
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: { type: 'object', required: ['type'], properties: { type: { type: 'string' }, status: { type: 'string' } } },
    },
  },
};
const spec = { type: 'object', properties: { size: { type: 'integer', minimum: 0 }, blob: { type: 'string' } } };

/** The CRD of one of them. */
export function crdOf(type: ResourceType): Record<string, unknown> {
  const own = type === things ? { subresources: { status: {} }, additionalPrinterColumns: COLUMNS } : {};
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${type.plural}.${type.group}` },
    spec: {
      group: type.group,
      scope: type.scope,
      names: { kind: type.kind, plural: type.plural, singular: type.kind.toLowerCase() },
      versions: [
        {
          name: type.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
          ...own,
        },
      ],
    },
  };
}
