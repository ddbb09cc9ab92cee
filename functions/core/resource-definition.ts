/**
 * A kind as its author declares it: one definition yields the TypeScript types, the validation of what was read and of
 * what a Plan says, and the CustomResourceDefinition (`custom-resource-definition.ts`).
 */
import * as z from 'zod';
import { isDnsLabel, isDnsSubdomain, type ResourceType } from '../../events/resource.ts';
import { ConfigError, cutText, TerminalError } from './errors.ts';
import { deepFreeze } from './frozen.ts';
import { isJsonObject } from './plain-json.ts';
import type { CustomObject, KubernetesObject } from './reconciler.ts';

/** An own printer column. Ready, Reason, Age and the wide ones of the framework come by themselves. */
export interface PrinterColumn {
  readonly name: string;
  readonly jsonPath: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** 0 is shown always, 1 with `-o wide`. */
  readonly priority?: 0 | 1;
  readonly description?: string;
}

/** A kind of ours. `spec` and `status` are zod objects; what they infer to is what the reconciler sees and returns. */
export interface ResourceDefinition<Spec = unknown, Status = unknown> extends ResourceType {
  /** Tells it from a kind that is not ours: `described-resource.ts`. */
  readonly isDescribed: false;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly spec: z.ZodType<Spec>;
  readonly status: z.ZodType<Status>;
  readonly columns: readonly PrinterColumn[];
}

/** What an author writes; `spec` and `status` are `z.object(...)`. */
export interface ResourceDeclaration<Spec, Status> extends ResourceType {
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly spec: z.ZodType<Spec>;
  readonly status: z.ZodType<Status>;
  readonly columns?: readonly PrinterColumn[];
}

/** Fields of status that the framework writes; a status schema may not declare them. */
export const RESERVED_STATUS_FIELDS = [
  'observedGeneration',
  'observedRevision',
  'conditions',
  'nextReconcileTime',
  'childrenDigest',
] as const;

/** Names of the columns that every kind of ours has: {@link customResourceDefinition}. */
export const RESERVED_COLUMNS = ['Name', 'Ready', 'Reason', 'Age', 'Observed', 'Attempted', 'Revision', 'Stalled', 'Next'] as const;

/**
 * The definition of a kind of ours.
 *
 * @throws ConfigError for a name that Kubernetes would refuse, a schema that is no `z.object(...)`, a status field or a column that the
 *   framework writes, or a column that names no path; each names kind and field
 */
export function defineResource<Spec, Status>(declaration: ResourceDeclaration<Spec, Status>): ResourceDefinition<Spec, Status> {
  const { kind, spec, status } = declaration;
  const definition: ResourceDefinition<Spec, Status> = {
    ...declaration,
    isDescribed: false,
    singular: declaration.singular ?? kind.toLowerCase(),
    shortNames: declaration.shortNames ?? [],
    columns: declaration.columns ?? [],
  };
  checkNames(definition);
  if (!(spec instanceof z.ZodObject)) throw new ConfigError('schema-no-object', `${kind}: spec is not a z.object(...)`);
  if (!(status instanceof z.ZodObject)) throw new ConfigError('schema-no-object', `${kind}: status is not a z.object(...)`);
  for (const field of RESERVED_STATUS_FIELDS) {
    if (field in status.shape) {
      throw new ConfigError(
        'reserved-status-field',
        `${kind}: status field ${field} is written by the framework; take it out of the schema`,
      );
    }
  }
  checkColumns(definition);
  return definition;
}

function checkNames({ kind, group, version, plural, singular, shortNames, scope }: ResourceDefinition): void {
  const refuse = (field: string, value: string, rule: string): never => {
    throw new ConfigError('bad-resource-name', `${kind}: ${field} ${JSON.stringify(value)} is not ${rule}`);
  };
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind)) refuse('kind', kind, 'a CamelCase word of at most 63 letters and digits');
  if (!isDnsSubdomain(group) || !group.includes('.')) refuse('group', group, 'a domain name with a dot, such as platform.example');
  if (!isDnsLabel(version)) refuse('version', version, 'a version such as v1');
  if (scope !== 'Cluster' && scope !== 'Namespaced') refuse('scope', String(scope), 'Cluster or Namespaced');
  const words = [['plural', plural], ['singular', singular], ...shortNames.map((name) => ['shortNames', name])] as const;
  for (const [field = '', name = ''] of words) if (!isDnsLabel(name)) refuse(field, name, 'a lower-case DNS label');
}

function checkColumns({ kind, columns }: ResourceDefinition): void {
  const seen = new Set<string>(RESERVED_COLUMNS);
  for (const { name, jsonPath } of columns) {
    if (seen.has(name)) throw new ConfigError('column-twice', `${kind}: column ${name} is there already; give it another name`);
    if (!jsonPath.startsWith('.')) throw new ConfigError('bad-column', `${kind}: jsonPath of column ${name} does not begin with a dot`);
    seen.add(name);
  }
}

/** How many faults of one object are told; the first ones are enough to mend it. */
const ISSUES_MAX = 5;

/**
 * What went wrong where, as one line: `spec.owner: Invalid email address; spec.quota: ...`. zod's own messages come from the
 * schema alone and never quote a value; the message of an author's `refine` is shown as it is.
 */
export function describeIssues(error: z.ZodError, root: string): string {
  const told = error.issues
    .slice(0, ISSUES_MAX)
    .map(({ path, message }) => `${[root, ...path.map(String)].join('.')}: ${cutText(message, 120)}`);
  const more = error.issues.length - told.length;
  return more > 0 ? `${told.join('; ')}; and ${more} more` : told.join('; ');
}

/**
 * The object as its reconciler sees it, deeply frozen: spec validated and with its defaults; of status the author's fields that fit
 * their schema (an old shape of status must not stop the run that would repair it). managedFields are left out.
 *
 * @throws TerminalError `invalid-object` if the spec does not fit its schema, naming the fields
 */
export function parseObject<Spec, Status>(
  resource: ResourceDefinition<Spec, Status>,
  object: KubernetesObject,
): CustomObject<Spec, Status> {
  const spec = resource.spec.safeParse(object['spec'] ?? {});
  if (!spec.success) {
    const issues = describeIssues(spec.error, 'spec');
    throw new TerminalError('invalid-object', `The ${resource.kind} does not fit its schema; change its spec. ${issues}`, {
      facts: { kind: resource.kind, name: object.metadata.name },
    });
  }
  const { managedFields: _, ...metadata } = object.metadata;
  const status = parseStatus(resource, object['status']);
  const parsed = { apiVersion: object.apiVersion, kind: object.kind, metadata, spec: spec.data };
  return deepFreeze(status === undefined ? parsed : { ...parsed, status });
}

function parseStatus<Status>(resource: ResourceDefinition<unknown, Status>, status: unknown): Partial<Status> | undefined {
  if (!isJsonObject(status) || !(resource.status instanceof z.ZodObject)) return undefined;
  const fields: [string, unknown][] = [];
  for (const [name, schema] of Object.entries(resource.status.shape as Readonly<Record<string, z.ZodType>>)) {
    if (status[name] === undefined) continue;
    const field = schema.safeParse(status[name]);
    if (field.success) fields.push([name, field.data]);
  }
  return Object.fromEntries(fields) as Partial<Status>;
}
