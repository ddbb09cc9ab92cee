/** Where a declaration asks for much: what somebody who holds the credentials of a process could do with them, told before they do. */
import type { OwnedKind } from './owned-kind.ts';
import { type Declared, type Right, rightsOf, type Verb } from './rights.ts';
import type { Unit } from './settings.ts';

interface Concern {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  /** The end of a sentence that begins with kind and verbs. */
  readonly says: string;
}

const RBAC = 'rbac.authorization.k8s.io';

const CONCERNS: readonly Concern[] = [
  {
    group: '',
    resources: ['secrets'],
    verbs: ['get', 'list', 'watch'],
    says: 'whoever has the credentials of this process reads every one, since RBAC does not select by label',
  },
  { group: '', resources: ['namespaces'], verbs: ['delete'], says: 'with each goes everything in it, also in those that are not ours' },
  {
    group: '',
    resources: ['pods', 'replicationcontrollers'],
    verbs: ['create', 'patch'],
    says: 'a pod may run as any service account of its namespace and mount any Secret there',
  },
  {
    group: 'apps',
    resources: ['deployments', 'statefulsets', 'daemonsets', 'replicasets'],
    verbs: ['create', 'patch'],
    says: 'their pods may run as any service account of their namespace and mount any Secret there',
  },
  {
    group: 'batch',
    resources: ['jobs', 'cronjobs'],
    verbs: ['create', 'patch'],
    says: 'their pods may run as any service account of their namespace and mount any Secret there',
  },
  {
    group: 'admissionregistration.k8s.io',
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations', 'mutatingadmissionpolicies'],
    verbs: ['create', 'patch'],
    says: 'these see and change every write to the cluster',
  },
  {
    group: 'apiextensions.k8s.io',
    resources: ['customresourcedefinitions'],
    verbs: ['delete'],
    says: 'with each go all objects of its kind',
  },
];

/** Roles that give more than work in one namespace. */
const GREAT_ROLES = new Set(['cluster-admin', 'admin']);

/** One sentence for each right, or pair of rights, that is worth a second look; none where all is small. */
export function rbacWarnings(unit: Unit, reconcilers: readonly Declared[]): readonly string[] {
  const rights = rightsOf(unit, reconcilers);
  const plain = CONCERNS.flatMap(({ group, resources, verbs, says }) =>
    resources.flatMap((resource) => {
      const found = rights.filter((right) => right.group === group && right.resource === resource && verbs.includes(right.verb));
      return found.length === 0 ? [] : [`${whoseOf(found)}: ${found.map(({ verb }) => verb).join(', ')} on ${placeOf(found[0])}: ${says}`];
    }),
  );
  return unit === 'watcher' ? plain : [...plain, ...rights.flatMap(bindWarning), ...reconcilers.flatMap(roleWarnings)];
}

function whoseOf(rights: readonly Right[]): string {
  return [...new Set(rights.flatMap(({ because }) => because))].join(', ');
}

function placeOf(right: Right | undefined): string {
  if (right === undefined) return '';
  return right.name === undefined ? `all ${right.resource}` : `${right.resource} named ${right.name}, in all namespaces`;
}

function bindWarning({ verb, name = '', resource, because }: Right): readonly string[] {
  if (verb !== 'bind') return [];
  const role = `${because.join(', ')}: bind on ${resource === 'roles' ? 'every Role' : 'the ClusterRole'} ${name}`;
  if (GREAT_ROLES.has(name) || name.startsWith('system:')) {
    return [
      `${role}: whoever has the credentials of this process may give himself all that it allows, in every namespace; grant a smaller role`,
    ];
  }
  return [`${role}: the function may give it to anybody, itself too, in every namespace (kube-system is one)`];
}

/** RBAC lets nobody make a role, or bind one, that has rights which he lacks. */
function roleWarnings({ resource: { kind }, owns, grants }: Declared): readonly string[] {
  const owned = (plurals: readonly string[]): OwnedKind | undefined =>
    owns.find(({ group, plural }) => group === RBAC && plurals.includes(plural));
  const roles = owned(['roles', 'clusterroles']);
  const bindings = owned(['rolebindings', 'clusterrolebindings']);
  return [
    ...(roles === undefined
      ? []
      : [
          `${kind}: owns ${roles.kind}s: the API server refuses those with rights that the function lacks. Give it these rights in a role ` +
            'of your own; `escalate` would do too, and is as much as all rights: it is not printed',
        ]),
    ...(bindings === undefined || grants.length > 0
      ? []
      : [
          `${kind}: owns ${bindings.kind}s and names no role in grants: the API server refuses all but those with rights that the function has`,
        ]),
  ];
}
