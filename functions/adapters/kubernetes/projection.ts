/** From answers of the API server to what the rest of the project sees: rows, metadata, pages, watch frames. */
import type { ColumnDefinition, ObjectMetadata, OwnerReference, Row } from '../../../events/observed-object.ts';
import { cutText, TransientError } from '../../core/errors.ts';
import { ownFieldsOf } from '../../core/own-fields.ts';
import { statusOf } from './errors.ts';
import type { ListForm, ListPage, ServedKind, WatchFrame } from './port.ts';

/** How rows were asked for. */
export interface RowForm {
  readonly form: ListForm;
  readonly ownFields?: boolean | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** kubectl keeps a copy of the whole object there; rows promise to hold neither spec nor status. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** @throws TransientError `bad-response` for a text that is no JSON object (a proxy's page, for example), or one of another kind */
export function parseObject(text: string, kind?: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isJson(value)) throw badResponse('no JSON object');
  if (kind !== undefined) expectKind(value, kind);
  return value;
}

/** The fields of metadata that we use; managedFields and the rest are let go. */
export function projectMetadata(value: unknown): ObjectMetadata {
  const raw = isJson(value) ? value : {};
  const { name, uid, resourceVersion, namespace, generation, creationTimestamp, deletionTimestamp } = raw;
  if (typeof name !== 'string' || typeof uid !== 'string' || typeof resourceVersion !== 'string') {
    throw badResponse('an object without name, uid or resourceVersion');
  }
  const annotations = strings(raw['annotations']);
  return {
    name,
    ...(typeof namespace === 'string' ? { namespace } : {}),
    uid,
    resourceVersion,
    ...(typeof generation === 'number' ? { generation } : {}),
    ...(typeof creationTimestamp === 'string' ? { creationTimestamp } : {}),
    ...(typeof deletionTimestamp === 'string' ? { deletionTimestamp } : {}),
    ...(Array.isArray(raw['finalizers']) ? { finalizers: raw['finalizers'] as string[] } : {}),
    ...(raw['labels'] === undefined ? {} : { labels: strings(raw['labels']) }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    ...(Array.isArray(raw['ownerReferences']) ? { ownerReferences: raw['ownerReferences'] as OwnerReference[] } : {}),
  };
}

/** A page of a list. @throws TransientError `bad-response` if the server answered in another form than was asked for */
export function projectPage(text: string, { form, ownFields = false }: RowForm): ListPage {
  const body = parseObject(text, form === 'table' ? 'Table' : 'PartialObjectMetadataList');
  const metadata = isJson(body['metadata']) ? body['metadata'] : {};
  const { resourceVersion, continue: token } = metadata;
  if (typeof resourceVersion !== 'string') throw badResponse('a list without resourceVersion');
  return {
    rows: array(body[form === 'table' ? 'rows' : 'items']).map((entry) =>
      projectRow(form === 'table' ? entry : { cells: [], object: entry }, ownFields),
    ),
    columns: projectColumns(body['columnDefinitions']) ?? [],
    resourceVersion,
    continue: typeof token === 'string' && token !== '' ? token : undefined,
  };
}

/** One line of a watch. @throws TransientError `bad-frame` if it is not one, without quoting it */
export function parseFrame(line: string, rows: RowForm): WatchFrame {
  try {
    return projectFrame(parseObject(line), rows);
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
    throw new TransientError('bad-frame', 'a line of the watch is not a frame; list anew', { cause: error, facts: error.facts });
  }
}

function projectFrame({ type, object }: Json, { form, ownFields = false }: RowForm): WatchFrame {
  const body = isJson(object) ? object : {};
  if (type === 'ERROR') {
    const status = statusOf(body);
    return {
      type,
      code: status?.code ?? 500,
      reason: status?.reason ?? 'Unknown',
      message: cutText(status?.message ?? ''),
      retryAfterSeconds: status?.retryAfterSeconds,
    };
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') throw badResponse('a frame of unknown type');
  expectKind(body, form === 'table' ? 'Table' : 'PartialObjectMetadata');
  const columns = projectColumns(body['columnDefinitions']);
  const entry = form === 'table' ? onlyRow(body) : { cells: [], object: body };
  if (type === 'BOOKMARK') {
    const resourceVersion = resourceVersionOf(entry['object']) ?? resourceVersionOf(body);
    if (resourceVersion === undefined) throw badResponse('a bookmark without resourceVersion');
    return { type, resourceVersion, columns };
  }
  return { type, row: projectRow(entry, ownFields), columns };
}

/** What a CRD says of one of its versions; undefined if it does not serve that version. */
export function projectServedKind(text: string, version: string): ServedKind | undefined {
  const spec = parseObject(text)['spec'];
  const versions = isJson(spec) ? array(spec['versions']).filter(isJson) : [];
  const served = versions.find(({ name, served: isServed }) => name === version && isServed === true);
  if (served === undefined) return undefined;
  const columns = array(served['additionalPrinterColumns']).filter(isJson);
  const subresources = isJson(served['subresources']) ? served['subresources'] : {};
  return {
    printerColumns: columns.map(({ name, jsonPath }) => ({ name: String(name), jsonPath: String(jsonPath) })),
    hasStatusSubresource: isJson(subresources['status']),
  };
}

function projectRow(value: unknown, ownFields: boolean): Row {
  const { cells, object } = isJson(value) ? value : {};
  const metadata = isJson(object) ? object['metadata'] : undefined;
  const row: Row = { cells: array(cells), metadata: projectMetadata(metadata) };
  // Now, since managedFields are let go with the text: they are most of what a row weighs.
  const own = ownFields && isJson(metadata) ? ownFieldsOf(metadata['managedFields']) : undefined;
  return own === undefined ? row : { ...row, ownFields: own };
}

function projectColumns(value: unknown): ColumnDefinition[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter(isJson).map(({ name, type }) => ({ name: String(name), type: String(type) }));
}

function onlyRow(table: Json): Json {
  const rows = array(table['rows']);
  if (rows.length !== 1 || !isJson(rows[0])) throw badResponse(`a Table of ${rows.length} rows in a watch`);
  return rows[0];
}

function resourceVersionOf(object: unknown): string | undefined {
  const metadata = isJson(object) ? object['metadata'] : undefined;
  const resourceVersion = isJson(metadata) ? metadata['resourceVersion'] : undefined;
  return typeof resourceVersion === 'string' && resourceVersion !== '' ? resourceVersion : undefined;
}

/** A server that does not know the form answers with the whole object; reading it as empty rows would look like deletion. */
function expectKind(body: Json, kind: string): void {
  if (body['kind'] !== kind) throw badResponse(`another form than ${kind}`);
}

function badResponse(what: string): TransientError {
  return new TransientError('bad-response', 'the answer is not what the API server sends; look for a proxy on the way', {
    facts: { what },
  });
}

function strings(value: unknown): Record<string, string> {
  if (!isJson(value)) return {};
  const { [LAST_APPLIED]: _, ...rest } = value;
  return rest as Record<string, string>;
}

function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
