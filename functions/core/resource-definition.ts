/**
 * A kind as its author declares it: one definition yields the TypeScript types, the validation of what was read and of
 * what a Plan says, and the CustomResourceDefinition (`custom-resource-definition.ts`).
 */
import * as z from 'zod';
import type { ResourceType } from '../../events/resource.ts';
import { ConfigError } from './errors.ts';

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

/**
 * The definition of a kind of ours.
 *
 * @throws ConfigError if a schema is no `z.object(...)`, or for a reserved status field, naming it
 */
export function defineResource<Spec, Status>(declaration: ResourceDeclaration<Spec, Status>): ResourceDefinition<Spec, Status> {
  const { kind, spec, status } = declaration;
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
  return {
    ...declaration,
    singular: declaration.singular ?? kind.toLowerCase(),
    shortNames: declaration.shortNames ?? [],
    columns: declaration.columns ?? [],
  };
}
