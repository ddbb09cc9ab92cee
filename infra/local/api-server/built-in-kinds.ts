/** The built-in kinds that the embedded server stores, with the columns that the real server shows for them. */
import type { KindInfo, PrinterColumn } from './api-object.ts';

export const NAMESPACES = 'namespaces';
export const CRD_RESOURCE = 'customresourcedefinitions.apiextensions.k8s.io';

/** Cells that no JSON path yields are named by `=`: built-in-cells.ts computes them. */
const AGE: PrinterColumn = { name: 'Age', type: 'string', jsonPath: '=age' };
const column = (name: string, jsonPath: string, type = 'string', priority = 0): PrinterColumn => ({ name, type, jsonPath, priority });

type Given = Partial<KindInfo> & Pick<KindInfo, 'kind' | 'plural' | 'namespaced'>;

function builtIn(given: Given): KindInfo {
  return {
    group: '',
    version: 'v1',
    listKind: `${given.kind}List`,
    singular: given.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    isCustom: false,
    hasStatus: false,
    hasGeneration: false,
    columns: [AGE],
    selectableFields: [],
    ...given,
  };
}

const RBAC = { group: 'rbac.authorization.k8s.io' };
/** Events show their name last, and only where more is asked for. */
const eventColumns = (message: string): readonly PrinterColumn[] => [
  column('Last Seen', '=lastSeen'),
  column('Type', '.type'),
  column('Reason', '.reason'),
  column('Object', '=involved'),
  column('Subobject', '.involvedObject.fieldPath', 'string', 1),
  column('Source', '=source', 'string', 1),
  column('Message', message),
  column('First Seen', '=firstSeen', 'string', 1),
  column('Count', '=count', 'string', 1),
  column('Name', '.metadata.name', 'string', 1),
];
const EVENT_FIELDS = [
  '.involvedObject.kind',
  '.involvedObject.namespace',
  '.involvedObject.name',
  '.involvedObject.uid',
  '.involvedObject.apiVersion',
  '.involvedObject.resourceVersion',
  '.involvedObject.fieldPath',
  '.reason',
  '.reportingComponent',
  '.source',
  '.type',
];

export const BUILT_IN_KINDS: readonly KindInfo[] = [
  builtIn({
    kind: 'Namespace',
    plural: NAMESPACES,
    namespaced: false,
    shortNames: ['ns'],
    hasStatus: true,
    columns: [column('Status', '.status.phase'), AGE],
    selectableFields: ['.status.phase'],
  }),
  builtIn({
    kind: 'ConfigMap',
    plural: 'configmaps',
    namespaced: true,
    shortNames: ['cm'],
    columns: [column('Data', '=dataCount'), AGE],
  }),
  builtIn({
    kind: 'Secret',
    plural: 'secrets',
    namespaced: true,
    columns: [column('Type', '.type'), column('Data', '=dataCount'), AGE],
    selectableFields: ['.type'],
  }),
  builtIn({ kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true, shortNames: ['sa'] }),
  builtIn({
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    namespaced: true,
    shortNames: ['quota'],
    hasStatus: true,
    columns: [column('Request', '=requests'), column('Limit', '=limits'), AGE],
  }),
  builtIn({
    kind: 'Event',
    plural: 'events',
    namespaced: true,
    shortNames: ['ev'],
    columns: eventColumns('.message'),
    selectableFields: EVENT_FIELDS,
  }),
  builtIn({
    group: 'events.k8s.io',
    kind: 'Event',
    plural: 'events',
    namespaced: true,
    shortNames: ['ev'],
    columns: eventColumns('.note'),
    selectableFields: ['.reason', '.reportingController', '.type', '.regarding.kind', '.regarding.namespace', '.regarding.name'],
  }),
  builtIn({
    group: 'coordination.k8s.io',
    kind: 'Lease',
    plural: 'leases',
    namespaced: true,
    columns: [column('Holder', '.spec.holderIdentity'), AGE],
  }),
  builtIn({
    ...RBAC,
    kind: 'RoleBinding',
    plural: 'rolebindings',
    namespaced: true,
    columns: [
      column('Role', '=role'),
      AGE,
      column('Users', '=users', 'string', 1),
      column('Groups', '=groups', 'string', 1),
      column('ServiceAccounts', '=serviceAccounts', 'string', 1),
    ],
  }),
  builtIn({
    ...RBAC,
    kind: 'ClusterRole',
    plural: 'clusterroles',
    namespaced: false,
    columns: [column('Created At', '.metadata.creationTimestamp')],
  }),
  builtIn({
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    hasStatus: true,
    hasGeneration: true,
    columns: [column('Created At', '.metadata.creationTimestamp')],
  }),
];
