/** A CloudFormation template as checks read it. */

export interface Resource {
  readonly Type: string;
  Properties: Record<string, unknown>;
}

export interface Template {
  readonly Resources: Record<string, Resource>;
  readonly Outputs: Record<string, { readonly Value: unknown }>;
}

/** What is wrong with a template, one sentence each. */
export type Check = (template: Template) => string[];

/** The resources of a type, by their logical ids. */
export function resourcesOf(template: Template, type: string): [id: string, properties: Record<string, unknown>][] {
  return Object.entries(template.Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([id, { Properties }]) => [id, Properties]);
}

/** What is at `path` in the properties of a resource; undefined where anything on the way is not there. */
export function propertyOf(template: Template, id: string, path: string): unknown {
  let value: unknown = template.Resources[id]?.Properties;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}

/** The same as a number; NaN where it is none, so that no comparison holds. */
export function numberOf(template: Template, id: string, path: string): number {
  const value = propertyOf(template, id, path);
  return typeof value === 'number' ? value : Number.NaN;
}

/** `LiveQueue.Arn` for a GetAtt, `LiveQueue` for a Ref, the text of a Sub or a literal. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Sub': text } = (value ?? {}) as Record<string, unknown>;
  if (typeof Ref === 'string') return Ref;
  if (Array.isArray(attribute)) return attribute.join('.');
  return typeof text === 'string' ? text : JSON.stringify(value);
}

/** A sentence where something does not hold. */
export function unless(holds: boolean, sentence: string): string[] {
  return holds ? [] : [sentence];
}

/** What is in `set` and not in `other`. */
export function without(set: ReadonlySet<string>, other: ReadonlySet<string>): string[] {
  return [...set].filter((item) => !other.has(item));
}

export const FUNCTION = 'ReconcileLambdaFunction';
export const WORK_QUEUES = ['LiveQueue', 'BulkQueue'] as const;
export const DEAD_LETTERS = 'DeadLetterQueue';
export const QUEUES = [...WORK_QUEUES, DEAD_LETTERS] as const;

/** The event source mapping of a work queue. */
export function mappingOf(template: Template, queue: string): string {
  const mappings = resourcesOf(template, 'AWS::Lambda::EventSourceMapping');
  return mappings.find(([, { EventSourceArn }]) => textOf(EventSourceArn) === `${queue}.Arn`)?.[0] ?? `mapping of ${queue}`;
}
