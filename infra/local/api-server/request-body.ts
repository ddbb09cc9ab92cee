/** The body of a request: read, limited, and parsed as its media type says. */
import type { IncomingMessage } from 'node:http';
import { load } from 'js-yaml';
import { ApiFault, badRequest, notHere } from './api-fault.ts';
import { isJsonObject, type JsonObject, type KindInfo } from './api-object.ts';

const LIMIT_BYTES = 3 * 1024 * 1024;
const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';

/** The text of the body. A body over the limit is read to its end, so that the client hears the answer. @throws ApiFault 413 */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= LIMIT_BYTES) chunks.push(chunk);
  }
  if (bytes > LIMIT_BYTES) {
    throw new ApiFault(413, `Request entity too large: limit is ${LIMIT_BYTES}`, { reason: 'RequestEntityTooLarge' });
  }
  return Buffer.concat(chunks).toString();
}

const typeOf = (contentType: string | undefined): string => (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** Parsed JSON or YAML. @throws ApiFault 400, 415; 501 for protobuf */
export function parseBody(text: string, contentType: string | undefined): unknown {
  const type = typeOf(contentType);
  if (type === 'application/vnd.kubernetes.protobuf')
    throw notHere('A protobuf body', 'kubectl apply --server-side -f and kubectl create -f send JSON');
  if (type !== '' && type !== JSON_TYPE && type !== YAML_TYPE) throw unknownFormat([JSON_TYPE, YAML_TYPE]);
  return type === YAML_TYPE ? parseYaml(text) : parseJson(text);
}

export type Patch =
  | { readonly kind: 'merge'; readonly patch: unknown }
  | { readonly kind: 'json'; readonly patch: unknown }
  | { readonly kind: 'apply'; readonly body: JsonObject };

const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
const STRATEGIC = 'application/strategic-merge-patch+json';

/** @throws ApiFault 400, 415; 501 for a strategic merge of a built-in kind */
export function parsePatch(text: string, contentType: string | undefined, kind: KindInfo): Patch {
  const type = typeOf(contentType);
  switch (type) {
    case 'application/merge-patch+json':
      return { kind: 'merge', patch: parseJson(text) };
    case 'application/json-patch+json':
      return { kind: 'json', patch: parseJson(text) };
    case 'application/apply-patch+yaml': {
      const body = parseYaml(text);
      if (!isJsonObject(body)) throw badRequest('error decoding YAML: the patch is not an object');
      return { kind: 'apply', body };
    }
    case STRATEGIC:
      if (!kind.isCustom) throw notHere('Strategic merge patch', 'kubectl apply --server-side and kubectl patch --type=merge do without');
  }
  if (type === 'application/apply-patch+cbor') throw notHere('CBOR');
  throw unknownFormat(kind.isCustom ? PATCH_TYPES : [...PATCH_TYPES.slice(0, 2), STRATEGIC, ...PATCH_TYPES.slice(2)]);
}

function unknownFormat(accepted: readonly string[]): ApiFault {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new ApiFault(415, message, { reason: 'UnsupportedMediaType' });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`error decoding JSON: ${(error as Error).message}`);
  }
}

/** JSON is YAML, and much faster to read as JSON. */
function parseYaml(text: string): unknown {
  if (/^\s*\{/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // Flow style YAML, perhaps: the parser below tells.
    }
  }
  try {
    return load(text);
  } catch (error) {
    throw badRequest(`error decoding YAML: ${(error as Error).message.slice(0, 300)}`);
  }
}
