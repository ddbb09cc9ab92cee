/** Whether a cluster serves what reconcilers are about, and our kinds in the form that Dogwatch works with. */
import { STATUS_PATHS } from '../../../events/columns.ts';
import type { ResourceType } from '../../../events/resource.ts';
import { customResourceDefinition } from '../custom-resource-definition.ts';
import { fullNameOf } from '../kind-names.ts';
import { isJsonObject, objectAt } from '../plain-json.ts';
import { RESERVED_STATUS_FIELDS, type ResourceDefinition } from '../resource-definition.ts';
import type { Declared } from '../rights.ts';
import type { ClusterFacts, ServedResource } from './facts.ts';
import { type Asked, type Finding, findingsOn } from './finding.ts';

type Json = Readonly<Record<string, unknown>>;
type Facts = Pick<ClusterFacts, 'name' | 'served' | 'definitions'>;

/** `platform.example/v1`, and `v1` for the core group. */
export function groupVersionOf({ group, version }: Pick<ResourceType, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Every kind that the reconcilers name, each once: their own, owned ones, and those they read. */
export function kindsOf(reconcilers: readonly Declared[]): readonly ResourceType[] {
  const all = reconcilers.flatMap(({ resource, owns, reads }) => [resource, ...owns, ...reads]);
  return [...new Map(all.map((type) => [`${groupVersionOf(type)} ${type.plural}`, type])).values()];
}

/** Of our kinds each check by itself; of all others whether they are served. */
export function kindFindings(facts: Facts, reconcilers: readonly Declared[]): Finding[] {
  const ours = reconcilers.flatMap(({ resource }) => (resource.isDescribed ? [] : [resource]));
  const others = kindsOf(reconcilers).filter((type) => !ours.some((own) => own.kind === type.kind && own.group === type.group));
  return [...ours.flatMap((resource) => ownFindings(facts, resource)), ...otherFindings(facts, others)];
}

function ownFindings(facts: Facts, resource: ResourceDefinition): Finding[] {
  const { kind, plural, version, scope } = resource;
  const on = findingsOn(`cluster ${facts.name}`);
  const install = `Run npm run -s dogwatch -- crds --apply --cluster ${facts.name}`;
  const check = (what: string): string => `${kind}: ${what}`;
  const served = facts.served.get(groupVersionOf(resource));
  const crd = facts.definitions.get(fullNameOf(resource));
  if (served === undefined || served.kind === 'untold') {
    return [on.notChecked(check('served'), `discovery was not answered (${reasonOf(served)})`, 'Run this again.')];
  }
  const found = served.value?.find((entry) => entry.name === plural && entry.kind === kind);
  if (found === undefined) {
    const isThere = crd?.kind === 'told' && crd.value !== undefined;
    const says = isThere
      ? `its CRD does not serve ${version}`
      : `${fullNameOf(resource)} is not served, so there is no CRD of it, or none in force`;
    return [on.failure(check('served'), says, `${install}.`)];
  }
  if (found.isNamespaced !== (scope === 'Namespaced')) {
    const says = `its CRD says ${found.isNamespaced ? 'Namespaced' : 'Cluster'}, its reconciler ${scope}`;
    return [
      on.failure(
        check('served'),
        says,
        'Make the two agree: a scope cannot be changed, only a CRD deleted (with its objects) and applied anew.',
      ),
    ];
  }
  const hasStatus = served.value?.some(({ name }) => name === `${plural}/status`) ?? false;
  return [
    on.ok(check('served'), version),
    hasStatus
      ? on.ok(check('status'), 'is a subresource')
      : on.failure(
          check('status'),
          'its CRD has no status subresource, so no run can be confirmed',
          `${install}; it has subresources.status.`,
        ),
    ...schemaFindings(facts, resource, crd, `${install}.`),
  ];
}

function schemaFindings({ name }: Facts, resource: ResourceDefinition, crd: Asked<unknown> | undefined, fix: string): Finding[] {
  const on = findingsOn(`cluster ${name}`);
  const check = (what: string): string => `${resource.kind}: ${what}`;
  if (crd === undefined || crd.kind === 'untold' || crd.value === undefined) {
    const says = crd?.kind === 'told' ? 'is served by something else than a CRD' : `the CRD may not be read (${reasonOf(crd)})`;
    return [on.notChecked(check('CRD'), says, "Run this with the watcher's registry: it may read the CRDs of its kinds.")];
  }
  const stored = versionOf(crd.value, resource.version);
  const ours = versionOf(customResourceDefinition(resource), resource.version);
  return [
    isListByType(statusOf(stored)['conditions'])
      ? on.ok(check('conditions'), 'are a list by type')
      : on.failure(
          check('conditions'),
          'are no list with the key type, so that others who write conditions and we take them from each other',
          fix,
        ),
    ...fieldFinding(resource, name, stored, fix),
    columnFinding(resource, name, columnsOf(stored), columnsOf(ours), fix),
  ];
}

function isListByType(conditions: unknown): boolean {
  if (!isJsonObject(conditions) || conditions['x-kubernetes-list-type'] !== 'map') return false;
  const keys = conditions['x-kubernetes-list-map-keys'];
  return Array.isArray(keys) && keys.length === 1 && keys[0] === 'type';
}

/** The server drops what a schema does not name. */
function fieldFinding({ kind }: ResourceDefinition, cluster: string, version: Json, fix: string): Finding[] {
  const on = findingsOn(`cluster ${cluster}`);
  const status = statusOf(version);
  const missing = RESERVED_STATUS_FIELDS.filter((field) => field !== 'conditions' && !(field in status));
  if (missing.length === 0) return [on.ok(`${kind}: status fields`, 'are all in its schema')];
  return [on.failure(`${kind}: status fields`, `its schema drops status.${missing.join(', status.')}`, fix)];
}

function columnFinding(
  { kind }: ResourceDefinition,
  cluster: string,
  stored: readonly Column[],
  ours: readonly Column[],
  fix: string,
): Finding {
  const on = findingsOn(`cluster ${cluster}`);
  const check = `${kind}: columns`;
  const missing = ours.filter(({ jsonPath }) => !stored.some((column) => column.jsonPath === jsonPath));
  if (missing.length === 0) return on.ok(check, 'are ours');
  const says = `its CRD lacks ${missing.map(({ name }) => name).join(', ')}`;
  const paths: readonly string[] = Object.values(STATUS_PATHS);
  // Of these the watcher reads how settled an object is; the others are for people.
  if (!missing.some(({ jsonPath }) => paths.includes(jsonPath))) return on.warning(check, says, fix);
  return on.failure(check, `${says}, by which the watcher tells what is settled`, fix);
}

interface Column {
  readonly name: string;
  readonly jsonPath: string;
}

function columnsOf(version: Json): Column[] {
  const columns = version['additionalPrinterColumns'];
  if (!Array.isArray(columns)) return [];
  return columns.filter(isJsonObject).map(({ name, jsonPath }) => ({ name: String(name), jsonPath: String(jsonPath) }));
}

function versionOf(crd: unknown, wanted: string): Json {
  const versions = objectAt(crd, 'spec')['versions'];
  const found = Array.isArray(versions) ? versions.find((version) => isJsonObject(version) && version['name'] === wanted) : undefined;
  return isJsonObject(found) ? found : {};
}

function statusOf(version: Json): Json {
  return objectAt(version, 'schema', 'openAPIV3Schema', 'properties', 'status', 'properties');
}

function otherFindings({ name, served }: Facts, types: readonly ResourceType[]): Finding[] {
  if (types.length === 0) return [];
  const on = findingsOn(`cluster ${name}`);
  const answers = types.map((type) => ({ type, answer: served.get(groupVersionOf(type)) }));
  const missing = answers.flatMap(({ type, answer }) => (answer?.kind === 'told' && !isServed(answer.value, type) ? [type] : []));
  const untold = answers.filter(({ answer }) => answer?.kind !== 'told').map(({ type }) => type.kind);
  const findings = missing.map((type) =>
    on.failure(
      `${type.kind}: served`,
      `${fullNameOf(type)} is not served in ${type.version}`,
      'Install what serves it, or change group, version and plural where the reconciler names it.',
    ),
  );
  if (untold.length > 0) findings.push(on.notChecked('kinds', `discovery was not answered for ${untold.join(', ')}`, 'Run this again.'));
  return findings.length > 0 ? findings : [on.ok('kinds', `${types.map(({ kind }) => kind).join(', ')} are served`)];
}

function isServed(entries: readonly ServedResource[] | undefined, { plural, kind }: ResourceType): boolean {
  return entries?.some((entry) => entry.name === plural && entry.kind === kind) ?? false;
}

function reasonOf(asked: Asked<unknown> | undefined): string {
  return asked?.kind === 'untold' ? asked.says : 'not asked';
}
