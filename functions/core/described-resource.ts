/**
 * A kind that somebody else owns (a built-in one, or another controller's) as the source of a reconciler. It is described, never
 * generated: no CustomResourceDefinition is made of it, and nothing is ever written to its objects, not even a status; save for the
 * finalizer where its reconciler declares one.
 */
import * as z from 'zod';
import { isDnsLabel, isDnsSubdomain, type ResourceType } from '../../events/resource.ts';
import { ConfigError, TerminalError } from './errors.ts';
import { deepFreeze } from './frozen.ts';
import type { KubernetesObject } from './reconciler.ts';
import { describeIssues } from './resource-definition.ts';

/** A kind that is not ours. */
export interface DescribedResource<Spec = unknown> extends ResourceType {
  readonly isDescribed: true;
  readonly spec: z.ZodType<Spec> | undefined;
}

export interface DescribedDeclaration<Spec> extends ResourceType {
  /** A `z.object(...)` of the fields of spec that the reconciler reads; left out: spec is taken as it is. */
  readonly spec?: z.ZodType<Spec>;
}

/** An object of such a kind: whole, save for managedFields, and frozen. */
export interface DescribedObject<Spec = unknown> extends KubernetesObject {
  readonly spec: Spec;
}

/**
 * The description of a kind that is not ours. Nothing in the cluster says whether our work on an object of it is done, so each
 * runs at every start of a watcher, at every change and in the resync; none is ever settled.
 *
 * @throws ConfigError for a name that Kubernetes would refuse, or a spec that is no `z.object(...)`
 */
export function describeResource<Spec = unknown>(declaration: DescribedDeclaration<Spec>): DescribedResource<Spec> {
  const { group, version, kind, plural, scope, spec } = declaration;
  const refuse = (field: string, value: unknown, rule: string): never => {
    throw new ConfigError('bad-resource-name', `${kind}: ${field} ${JSON.stringify(value)} is not ${rule}`);
  };
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind)) refuse('kind', kind, 'a CamelCase word of at most 63 letters and digits');
  if (group !== '' && !isDnsSubdomain(group)) refuse('group', group, 'the name of an API group; the core group is the empty text');
  if (!isDnsLabel(version)) refuse('version', version, 'a version such as v1');
  if (!isDnsLabel(plural)) refuse('plural', plural, 'a lower-case DNS label');
  if (scope !== 'Cluster' && scope !== 'Namespaced') refuse('scope', scope, 'Cluster or Namespaced');
  if (spec !== undefined && !((spec as z.ZodType) instanceof z.ZodObject))
    throw new ConfigError('schema-no-object', `${kind}: spec is not a z.object(...)`);
  return { group, version, kind, plural, scope, isDescribed: true, spec };
}

/**
 * The object as its reconciler sees it, deeply frozen, its spec validated where there is a schema.
 *
 * @throws TerminalError `invalid-object` if the spec does not fit its schema, naming the fields
 */
export function parseDescribed<Spec>({ kind, spec: schema }: DescribedResource<Spec>, object: KubernetesObject): DescribedObject<Spec> {
  const { managedFields: _, ...metadata } = object.metadata;
  if (schema === undefined) return deepFreeze({ ...object, metadata, spec: object['spec'] as Spec });
  const spec = schema.safeParse(object['spec'] ?? {});
  if (spec.success) return deepFreeze({ ...object, metadata, spec: spec.data });
  const issues = describeIssues(spec.error, 'spec');
  throw new TerminalError('invalid-object', `The ${kind} does not fit what its reconciler expects; change its spec. ${issues}`, {
    facts: { kind, name: object.metadata.name },
  });
}
