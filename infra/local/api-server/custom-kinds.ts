/** What a CustomResourceDefinition says, checked as far as the embedded server understands it. */
import * as z from 'zod';
import { ApiFault, notHere, type StatusCause } from './api-fault.ts';
import { isJsonObject, type JsonSchema, type KindInfo, type KubeObject, type PrinterColumn } from './api-object.ts';

export const CRD_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

const column = z.object({
  name: z.string(),
  type: z.string(),
  jsonPath: z.string(),
  format: z.string().optional(),
  description: z.string().optional(),
  priority: z.number().optional(),
});
const version = z.object({
  name: z.string(),
  served: z.boolean(),
  storage: z.boolean(),
  schema: z.object({ openAPIV3Schema: z.record(z.string(), z.unknown()).optional() }).optional(),
  subresources: z.object({ status: z.object({}).optional(), scale: z.unknown().optional() }).optional(),
  additionalPrinterColumns: z.array(column).optional(),
  selectableFields: z.array(z.object({ jsonPath: z.string() })).optional(),
});
const definition = z.object({
  group: z.string().min(1),
  scope: z.enum(['Namespaced', 'Cluster']),
  names: z.object({
    plural: z.string().min(1),
    kind: z.string().min(1),
    singular: z.string().optional(),
    listKind: z.string().optional(),
    shortNames: z.array(z.string()).optional(),
    categories: z.array(z.string()).optional(),
  }),
  versions: z.array(version).min(1),
  conversion: z.object({ strategy: z.string() }).optional(),
});
type Definition = z.infer<typeof definition>;

/** The definition as it is stored: defaults, what the server accepts of it, and its own finalizer. @throws ApiFault 422, 501 */
export function completeCrd(crd: KubeObject, now: Date): KubeObject {
  const parsed = definition.safeParse(crd['spec']);
  if (!parsed.success) throw invalid(crd, parsed.error.issues.map(causeOf));
  const spec = parsed.data;
  const causes = problemsOf(crd, spec);
  if (causes.length > 0) throw invalid(crd, causes);
  refuseWhatIsNotHere(spec);
  const { kind } = spec.names;
  const names = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...spec.names };
  const { metadata } = crd;
  const isGoing = metadata.deletionTimestamp !== undefined;
  const finalizers = isGoing ? metadata.finalizers : [...new Set([...(metadata.finalizers ?? []), CRD_FINALIZER])];
  return {
    ...crd,
    metadata: { ...metadata, ...(finalizers === undefined ? {} : { finalizers }) },
    spec: { conversion: { strategy: 'None' }, ...(crd['spec'] as object), names },
    status: statusOf(crd, names, spec, now),
  };
}

function statusOf(crd: KubeObject, acceptedNames: object, spec: Definition, now: Date): object {
  const before = isJsonObject(crd['status']) ? crd['status'] : {};
  const conditions = Array.isArray(before['conditions']) && before['conditions'].length > 0 ? before['conditions'] : established(now);
  const stored = Array.isArray(before['storedVersions']) ? before['storedVersions'] : [];
  const storage = spec.versions.flatMap(({ name, storage: isStorage }) => (isStorage ? [name] : []));
  return { ...before, conditions, acceptedNames, storedVersions: [...new Set([...stored, ...storage])] };
}

function established(now: Date): object[] {
  const lastTransitionTime = now.toISOString().replace(/\.\d+/, '');
  return [
    { type: 'NamesAccepted', status: 'True', lastTransitionTime, reason: 'NoConflicts', message: 'no conflicts found' },
    {
      type: 'Established',
      status: 'True',
      lastTransitionTime,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
  ];
}

function problemsOf(crd: KubeObject, { names, group, versions }: Definition): StatusCause[] {
  const causes: StatusCause[] = [];
  const add = (field: string, reason: string, message: string) => causes.push({ reason, message, field });
  const name = `${names.plural}.${group}`;
  if (crd.metadata.name !== name) {
    const found = JSON.stringify(crd.metadata.name);
    add('metadata.name', 'FieldValueInvalid', `Invalid value: ${found}: must be spec.names.plural+"."+spec.group`);
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    add('spec.versions', 'FieldValueInvalid', 'Invalid value: must have exactly one version marked as storage version');
  }
  versions.forEach(({ schema }, at) => {
    const field = `spec.versions[${at}].schema.openAPIV3Schema`;
    if (schema?.openAPIV3Schema === undefined) add(field, 'FieldValueRequired', 'Required value: schemas are required');
    else if (schema.openAPIV3Schema['type'] !== 'object') {
      add(`${field}.type`, 'FieldValueInvalid', 'Invalid value: must be object at the root');
    }
  });
  return causes;
}

function refuseWhatIsNotHere({ versions, conversion }: Definition): void {
  if ((conversion?.strategy ?? 'None') !== 'None') throw notHere('Conversion between versions by a webhook');
  for (const { schema, subresources } of versions) {
    if (subresources?.scale !== undefined) throw notHere('The scale subresource');
    if (hasRules(schema?.openAPIV3Schema)) throw notHere('x-kubernetes-validations (CEL rules in a schema)');
  }
}

function hasRules(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasRules);
  if (!isJsonObject(schema)) return false;
  return Object.entries(schema).some(([key, value]) => (key === 'x-kubernetes-validations' && Array.isArray(value)) || hasRules(value));
}

const AGE: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'When the object was created.',
};

/** The kinds that a stored definition brings, one for each served version. */
export function kindsOf(crd: KubeObject): KindInfo[] {
  const { group, scope, names, versions } = definition.parse(crd['spec']);
  return versions
    .filter(({ served }) => served)
    .map(({ name, schema, subresources, additionalPrinterColumns, selectableFields }) => ({
      group,
      version: name,
      kind: names.kind,
      listKind: names.listKind ?? `${names.kind}List`,
      plural: names.plural,
      singular: names.singular ?? names.kind.toLowerCase(),
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      namespaced: scope === 'Namespaced',
      isCustom: true,
      schema: (schema?.openAPIV3Schema ?? { type: 'object' }) as JsonSchema,
      hasStatus: subresources?.status !== undefined,
      hasGeneration: true,
      columns: additionalPrinterColumns === undefined ? [AGE] : additionalPrinterColumns.map(printerColumn),
      selectableFields: (selectableFields ?? []).map(({ jsonPath }) => jsonPath),
    }));
}

function printerColumn({ name, type, jsonPath, format, description, priority }: z.infer<typeof column>): PrinterColumn {
  return {
    name,
    type,
    jsonPath,
    ...(format === undefined ? {} : { format }),
    description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    ...(priority === undefined ? {} : { priority }),
  };
}

function causeOf({ path, message, code }: z.core.$ZodIssue): StatusCause {
  const field = path.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${String(step)}`), 'spec');
  return { reason: code === 'invalid_type' ? 'FieldValueTypeInvalid' : 'FieldValueInvalid', message: `Invalid value: ${message}`, field };
}

function invalid(crd: KubeObject, causes: readonly StatusCause[]): ApiFault {
  const { name } = crd.metadata;
  const group = 'apiextensions.k8s.io';
  const listed = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = listed.length === 1 ? String(listed[0]) : `[${listed.join(', ')}]`;
  return new ApiFault(422, `CustomResourceDefinition.${group} ${JSON.stringify(name)} is invalid: ${text}`, {
    reason: 'Invalid',
    details: { name, group, kind: 'CustomResourceDefinition', causes },
  });
}
