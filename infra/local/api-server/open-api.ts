/** OpenAPI documents, as much of them as kubectl needs: to leave validation to the server, and to explain a kind. */
import { apiVersionOf, type JsonObject, type KindInfo } from './api-object.ts';
import { METADATA, schemaOf } from './built-in-schemas.ts';

const GVK = 'x-kubernetes-group-version-kind';
const documentOf = ({ group, version }: Pick<KindInfo, 'group' | 'version'>): string =>
  group === '' ? `api/${version}` : `apis/${apiVersionOf({ group, version })}`;

/** The index of documents. */
export function openApiIndex(kinds: readonly KindInfo[]): JsonObject {
  const paths = new Set(kinds.map(documentOf));
  return { paths: Object.fromEntries([...paths].map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }])) };
}

/** The document of a version, such as `apis/lab.example.com/v1`. Undefined: not served. */
export function openApiOf(kinds: readonly KindInfo[], document: string): JsonObject | undefined {
  const served = kinds.filter((kind) => documentOf(kind) === document);
  if (served.length === 0) return undefined;
  const paths = served.map(({ group, version, kind, namespaced, plural }) => {
    return [`/${document}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}/{name}`, pathOf({ group, version, kind })] as const;
  });
  return {
    openapi: '3.0.0',
    info: { title: 'dogwatch embedded API server', version: 'v1.36' },
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(served.map((kind) => [nameOf(kind), describe(kind)])) },
  };
}

function pathOf(gvk: JsonObject): JsonObject {
  const parameters = [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }];
  return { patch: { parameters, responses: { 200: { description: 'OK' } }, 'x-kubernetes-action': 'patch', [GVK]: gvk } };
}

/** Such as `com.example.lab.v1.Widget`. */
const nameOf = ({ group, version, kind }: KindInfo): string => [...group.split('.').toReversed(), version, kind].filter(Boolean).join('.');

function describe(served: KindInfo): JsonObject {
  const { group, version, kind } = served;
  const text = (description: string): JsonObject => ({ type: 'string', description });
  const { properties = {}, ...rest } = schemaOf(served);
  return {
    ...rest,
    type: 'object',
    properties: {
      apiVersion: text('Group and version of the object.'),
      kind: text('Kind of the object.'),
      metadata: { ...METADATA, description: 'What every object has: name, labels, owners and the like.' },
      ...properties,
    },
    [GVK]: [{ group, version, kind }],
  };
}
