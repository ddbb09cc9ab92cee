/**
 * A kind as its author declares it: one definition yields the TypeScript types, the validation of what was read and of
 * what a Plan says, and the CustomResourceDefinition (`custom-resource-definition.ts`).
 */
import type * as z from 'zod';
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

export interface ResourceDeclaration<SpecSchema extends z.ZodType, StatusSchema extends z.ZodType> extends ResourceType {
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly spec: SpecSchema;
  readonly status: StatusSchema;
  readonly columns?: readonly PrinterColumn[];
}

/** Fields of status that the framework writes; a status schema may not declare them. */
export const RESERVED_STATUS_FIELDS = ['observedGeneration', 'observedRevision', 'conditions', 'nextReconcileTime', 'childrenDigest'] as const;

/**
 * The definition of a kind of ours.
 *
 * @throws ConfigError for a reserved status field, naming it
 */
export function defineResource<SpecSchema extends z.ZodObject, StatusSchema extends z.ZodObject>(
  declaration: ResourceDeclaration<SpecSchema, StatusSchema>,
): ResourceDefinition<z.infer<SpecSchema>, z.infer<StatusSchema>> {
  for (const field of RESERVED_STATUS_FIELDS) {
    if (field in declaration.status.shape) {
      throw new ConfigError('reserved-status-field', `status field ${field} of ${declaration.kind} is written by the framework; take it out of the schema`);
    }
  }
  return {
    ...declaration,
    singular: declaration.singular ?? declaration.kind.toLowerCase(),
    shortNames: declaration.shortNames ?? [],
    columns: declaration.columns ?? [],
  } as ResourceDefinition<z.infer<SpecSchema>, z.infer<StatusSchema>>;
}
