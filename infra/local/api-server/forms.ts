/** In which form an answer goes out: the object itself, its metadata, or rows of a Table; as the Accept header asks. */
import { ApiFault, notHere } from './api-fault.ts';
import { apiVersionOf, type JsonObject, type KindInfo, type KubeObject } from './api-object.ts';
import { cellsOf, columnDefinitions } from './table.ts';

type IncludeObject = 'None' | 'Metadata' | 'Object';

export type Form =
  | { readonly kind: 'object' }
  | { readonly kind: 'metadata'; readonly isList: boolean }
  | { readonly kind: 'table'; readonly includeObject: IncludeObject };

export interface Negotiated {
  readonly form: Form;
  readonly mediaType: 'application/json' | 'application/yaml';
}

export interface ListPage {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continueToken?: string;
  readonly remainingItemCount?: number;
}

const META = 'meta.k8s.io/v1';
const notAcceptable = (message: string): ApiFault => new ApiFault(406, message, { reason: 'NotAcceptable' });
const NONE_FITS = 'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';

/** The first form of the Accept header that can be served. @throws ApiFault 406; 501 for protobuf that a cluster would serve */
export function negotiate(accept: string | undefined, includeObject: string | null, kind?: KindInfo): Negotiated {
  const clauses = clausesOf(accept ?? '*/*');
  for (const { type, parameters } of clauses) {
    const mediaType = MEDIA_TYPES[type];
    if (mediaType === undefined) continue;
    const form = formOf(parameters, includeObject);
    if (form !== undefined) return { form, mediaType };
  }
  if (clauses.some((clause) => isServedElsewhere(clause, kind))) throw notHere('Protobuf');
  throw notAcceptable(NONE_FITS);
}

/** A cluster has protobuf for built-in kinds, and for the metadata of every kind. */
function isServedElsewhere({ type, parameters }: Clause, kind: KindInfo | undefined): boolean {
  if (type !== 'application/vnd.kubernetes.protobuf' || kind === undefined) return false;
  return !kind.isCustom || String(parameters['as']).startsWith('PartialObjectMetadata');
}

const MEDIA_TYPES: Readonly<Record<string, Negotiated['mediaType']>> = {
  'application/json': 'application/json',
  'application/yaml': 'application/yaml',
  'application/*': 'application/json',
  '*/*': 'application/json',
};

interface Clause {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

export function clausesOf(accept: string): Clause[] {
  const clauses = accept.split(',').map((text) => {
    const [type = '', ...pairs] = text.split(';').map((part) => part.trim());
    const parameters = Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
    const quality = Number(parameters['q'] ?? 1);
    return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 1 };
  });
  return clauses.sort((a, b) => b.quality - a.quality);
}

function formOf({ as, g, v }: Clause['parameters'], includeObject: string | null): Form | undefined {
  if (as === undefined) return { kind: 'object' };
  if (g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return undefined;
  if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return { kind: 'metadata', isList: as.endsWith('List') };
  if (as !== 'Table') return undefined;
  const include = includeObject ?? '';
  if (include === '' || include === 'Metadata') return { kind: 'table', includeObject: 'Metadata' };
  if (include === 'None' || include === 'Object') return { kind: 'table', includeObject: include };
  throw new ApiFault(400, `unrecognized includeObject value: ${JSON.stringify(include)}`, { reason: 'BadRequest' });
}

/** The object with the apiVersion of the path that asked for it: versions differ in nothing else. */
export function inVersion(object: KubeObject, kind: KindInfo): KubeObject {
  const apiVersion = apiVersionOf(kind);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

export function presentObject(object: KubeObject, kind: KindInfo, form: Form, now: Date): JsonObject {
  switch (form.kind) {
    case 'object':
      return inVersion(object, kind);
    case 'metadata':
      if (form.isList) throw new ApiFault(500, 'PartialObjectMetadataList was asked for, but the object is not a list');
      return metadataOf(object);
    case 'table':
      return tableOf([object], kind, form.includeObject, { resourceVersion: object.metadata.resourceVersion }, now);
  }
}

export function presentList(page: ListPage, kind: KindInfo, form: Form, now: Date): JsonObject {
  const metadata = {
    resourceVersion: page.resourceVersion,
    ...(page.continueToken === undefined ? {} : { continue: page.continueToken }),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
  };
  switch (form.kind) {
    case 'object': {
      const items = page.items.map((object) => (kind.isCustom ? inVersion(object, kind) : withoutType(object)));
      // A list of custom objects says that nothing follows; others leave it out.
      const whole = kind.isCustom ? { continue: '', ...metadata } : metadata;
      return { kind: kind.listKind, apiVersion: apiVersionOf(kind), metadata: whole, items };
    }
    case 'metadata':
      if (!form.isList) throw notAcceptable('you requested PartialObjectMetadata, but the requested object is a list');
      return { kind: 'PartialObjectMetadataList', apiVersion: META, metadata, items: page.items.map(metadataOf) };
    case 'table':
      return tableOf(page.items, kind, form.includeObject, metadata, now);
  }
}

/** The object of a watch event. Columns go with the first event of a stream only. */
export function presentEvent(object: KubeObject, kind: KindInfo, form: Form, isFirst: boolean, now: Date): JsonObject {
  if (form.kind !== 'table') return presentObject(object, kind, form.kind === 'metadata' ? { kind: 'metadata', isList: false } : form, now);
  const table = presentObject(object, kind, form, now);
  return isFirst ? table : { ...table, columnDefinitions: null };
}

/** An object as a list of a built-in kind has it. */
function withoutType({ apiVersion: _, kind: __, ...object }: KubeObject): JsonObject {
  return object;
}

const metadataOf = ({ metadata }: KubeObject): JsonObject => ({ kind: 'PartialObjectMetadata', apiVersion: META, metadata });

function tableOf(objects: readonly KubeObject[], kind: KindInfo, include: IncludeObject, metadata: JsonObject, now: Date): JsonObject {
  const rows = objects.map((object) => ({
    cells: cellsOf(object, kind, now),
    object: include === 'None' ? null : include === 'Metadata' ? metadataOf(object) : inVersion(object, kind),
  }));
  return { kind: 'Table', apiVersion: META, metadata, columnDefinitions: columnDefinitions(kind), rows };
}
