/** A manifest: the objects in a YAML file, and what is wrong with it, by file, document and field. */
import { readFileSync } from 'node:fs';
import { loadAll, YAMLException } from 'js-yaml';

/** An object to be applied, as far as its place in a cluster needs it. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

interface ManifestEntry {
  readonly object: ManifestObject;
  /** Where it stands, for messages: `tenants.yaml: document 2`. */
  readonly where: string;
}

export interface Manifest {
  readonly entries: readonly ManifestEntry[];
  /** One line each. Documents that are right are among the entries all the same. */
  readonly problems: readonly string[];
}

/** The manifest in the file. Never throws: a file that cannot be read is a problem. */
export function readManifest(file: string): Manifest {
  try {
    return parseManifest(readFileSync(file, 'utf8'), file);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return { entries: [], problems: [`${file} cannot be read (${code})`] };
  }
}

/** @param text  YAML or JSON, of any number of documents; empty ones are left out @param file  its name, for messages */
export function parseManifest(text: string, file: string): Manifest {
  let documents: unknown[];
  try {
    documents = loadAll(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line, column } = error.mark ?? {};
    const place = line === undefined ? '' : `:${line + 1}:${(column ?? 0) + 1}`;
    return { entries: [], problems: [`${file}${place}: ${error.reason}`] };
  }
  const entries: ManifestEntry[] = [];
  const problems: string[] = [];
  for (const [index, object] of documents.entries()) {
    if (object === null || object === undefined) continue;
    const where = documents.length === 1 ? file : `${file}: document ${index + 1}`;
    for (const one of itemsOf(object, where)) {
      const problem = manifestProblem(one.object);
      if (problem === undefined) entries.push({ ...one, object: one.object as ManifestObject });
      else problems.push(`${one.where}: ${problem}`);
    }
  }
  return { entries, problems };
}

/** What kubectl prints for several objects, and takes: the items of a list, also of a list in it, or the one object that it is. */
function itemsOf(object: unknown, where: string): { readonly object: unknown; readonly where: string }[] {
  if (!isRecord(object) || !isText(object['kind']) || !object['kind'].endsWith('List') || !Array.isArray(object['items'])) {
    return [{ object, where }];
  }
  return object['items'].flatMap((item: unknown, index) => itemsOf(item, `${where}${where.includes(': ') ? ', ' : ': '}item ${index + 1}`));
}

/** What keeps it from being an object that can be applied; undefined where nothing does. */
export function manifestProblem(document: unknown): string | undefined {
  if (!isRecord(document)) return 'is no mapping; an object begins with apiVersion, kind and metadata';
  const { apiVersion, kind, metadata } = document;
  if (!isText(apiVersion)) return missing('apiVersion', apiVersion);
  if (!isText(kind)) return missing('kind', kind);
  if (!isRecord(metadata)) return metadata === undefined ? missing('metadata.name', metadata) : 'metadata is no mapping';
  if (!isText(metadata['name'])) return missing('metadata.name', metadata['name']);
  const namespace = metadata['namespace'];
  return namespace === undefined || isText(namespace) ? undefined : missing('metadata.namespace', namespace);
}

function missing(field: string, value: unknown): string {
  return value === undefined ? `${field} is missing` : `${field} is no text`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
