/**
 * Tenants of about 3 KB as an API server would send them, made from their number, so that 100,000 need no memory. Users,
 * owner and managedFields differ from object to object: a parser that remembers what it has seen must not have it easier
 * here than in a cluster.
 */
import { customResourceDefinition } from '../../functions/core/custom-resource-definition.ts';
import { tenant } from '../../functions/reconcilers/tenant.ts';
import type { ObjectState } from './scripted-collection.ts';

/** How the server is asked: by Accept header. */
export type Form = 'table' | 'metadata' | 'full';

const { group, version } = tenant.resource;
const API_VERSION = `${group}/${version}`;
/** When everything was created. */
export const CREATED = '2026-11-01T08:00:00Z';
const MEMBER_COUNT = 12;

/** The CustomResourceDefinition that says where the cells stand. */
export const TENANT_CRD = customResourceDefinition(tenant.resource);

/** Name of a Tenant. */
export function nameOf(index: number): string {
  return `team-${String(index).padStart(6, '0')}`;
}

/** The body that a user would apply, without status. */
export function tenantBody(index: number): { readonly metadata: object; readonly spec: object } {
  return {
    metadata: {
      name: nameOf(index),
      labels: { 'app.kubernetes.io/managed-by': 'gitops', 'platform.example/tier': index % 3 === 0 ? 'gold' : 'silver' },
      annotations: {
        'platform.example/contact': `https://contacts.example/teams/${nameOf(index)}`,
        'platform.example/cost-centre': `cc-${10_000 + index}`,
      },
    },
    spec: {
      owner: `owner@${nameOf(index)}.example`,
      quota: { cpu: String(2 + (index % 30)), memory: `${4 + (index % 60)}Gi`, pods: 20 + (index % 200) },
      members: membersOf(index),
    },
  };
}

/** The status that a successful run leaves. */
export function tenantStatus(index: number, observedGeneration: number): object {
  return {
    observedGeneration,
    namespace: `tenant-${nameOf(index)}`,
    members: MEMBER_COUNT,
    childrenDigest: `sha256:${String(index).padStart(64, '0')}`,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        observedGeneration,
        lastTransitionTime: CREATED,
        reason: 'Reconciled',
        message: 'The spec of this generation is in force.',
      },
    ],
  };
}

/** Table columns in the order of the cells of {@link tenantText}. */
export function columnsText(): string {
  const name = { name: 'Name', type: 'string', format: 'name', description: 'Name must be unique within a namespace.', priority: 0 };
  const others = printerColumns().map((column) => ({
    name: column.name,
    type: column.type,
    format: '',
    description: `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
    priority: 0,
  }));
  return JSON.stringify([name, ...others]);
}

/** One object as it stands in a list of the form: a row, or an item. */
export function tenantText(state: ObjectState, form: Form): string {
  const metadata = metadataText(state);
  if (form === 'table') return `{"cells":${cellsText(state)},"object":${partialText(metadata)}}`;
  if (form === 'metadata') return partialText(metadata);
  const { spec } = tenantBody(state.index);
  const status = tenantStatus(state.index, state.observedGeneration);
  return `{"apiVersion":"${API_VERSION}","kind":"Tenant","metadata":${metadata},"spec":${JSON.stringify(spec)},"status":${JSON.stringify(status)}}`;
}

function partialText(metadata: string): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":${metadata}}`;
}

function membersOf(index: number): string[] {
  return Array.from({ length: MEMBER_COUNT }, (_, at) => `user-${at}@${nameOf(index)}.example`);
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
}

function printerColumns(): readonly Column[] {
  const { versions } = TENANT_CRD.spec as { versions: readonly { additionalPrinterColumns: readonly Column[] }[] };
  return versions[0]?.additionalPrinterColumns ?? [];
}

const JSON_PATHS: readonly string[] = printerColumns().map(({ jsonPath }) => jsonPath);

function cellsText({ index, observedGeneration }: ObjectState): string {
  const values: Readonly<Record<string, unknown>> = {
    '.status.conditions[?(@.type=="Ready")].status': 'True',
    '.status.conditions[?(@.type=="Ready")].reason': 'Reconciled',
    '.status.conditions[?(@.type=="Ready")].observedGeneration': observedGeneration,
    '.status.observedGeneration': observedGeneration,
    '.status.namespace': `tenant-${nameOf(index)}`,
    '.status.members': MEMBER_COUNT,
    '.metadata.creationTimestamp': '28d',
  };
  return JSON.stringify([nameOf(index), ...JSON_PATHS.map((path) => values[path] ?? null)]);
}

function metadataText({ index, resourceVersion, generation }: ObjectState): string {
  const { metadata } = tenantBody(index);
  return JSON.stringify({
    ...metadata,
    uid: uidOf('tenant', index),
    resourceVersion: String(resourceVersion),
    generation,
    creationTimestamp: CREATED,
    managedFields: [
      managedBy('gitops', undefined, {
        'f:metadata': {
          'f:annotations': { '.': {}, 'f:platform.example/contact': {}, 'f:platform.example/cost-centre': {} },
          'f:labels': { '.': {}, 'f:app.kubernetes.io/managed-by': {}, 'f:platform.example/tier': {} },
        },
        'f:spec': {
          '.': {},
          'f:members': { '.': {}, ...Object.fromEntries(membersOf(index).map((member) => [`v:${JSON.stringify(member)}`, {}])) },
          'f:owner': {},
          'f:quota': { '.': {}, 'f:cpu': {}, 'f:memory': {}, 'f:pods': {} },
        },
      }),
      managedBy('dogwatch', 'status', {
        'f:status': {
          'f:childrenDigest': {},
          'f:conditions': {
            'k:{"type":"Ready"}': {
              '.': {},
              'f:lastTransitionTime': {},
              'f:message': {},
              'f:observedGeneration': {},
              'f:reason': {},
              'f:status': {},
              'f:type': {},
            },
          },
          'f:members': {},
          'f:namespace': {},
          'f:observedGeneration': {},
        },
      }),
    ],
  });
}

function managedBy(manager: string, subresource: string | undefined, fieldsV1: object): object {
  const entry = { manager, operation: 'Apply', apiVersion: API_VERSION, time: CREATED, fieldsType: 'FieldsV1', fieldsV1 };
  return subresource === undefined ? entry : { ...entry, subresource };
}

/** One uid a kind and number. */
export function uidOf(kind: string, index: number): string {
  const prefix = Buffer.from(kind.slice(0, 4).padEnd(4)).toString('hex');
  return `${prefix}-1111-4222-8333-${index.toString(16).padStart(12, '0')}`;
}
