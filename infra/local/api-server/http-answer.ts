/** What goes back over HTTP. */
import type { ServerResponse } from 'node:http';
import { dump } from 'js-yaml';
import { ApiFault } from './api-fault.ts';
import type { JsonObject } from './api-object.ts';

const JSON_TYPE = 'application/json';

export type Answer =
  | {
      readonly kind: 'object';
      readonly status: number;
      readonly body: JsonObject;
      readonly mediaType?: string;
      readonly warnings?: readonly string[];
    }
  | { readonly kind: 'text'; readonly status: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> };

export const notServed: Answer = { kind: 'text', status: 404, text: '404 page not found\n' };

export function send(response: ServerResponse, answer: Answer): void {
  if (answer.kind === 'text') {
    response.writeHead(answer.status, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      ...answer.headers,
    });
    response.end(answer.text);
    return;
  }
  const { status, body, mediaType = JSON_TYPE, warnings = [] } = answer;
  const text = mediaType === 'application/yaml' ? dump(body) : `${JSON.stringify(body)}\n`;
  const warning = warnings.map((each) => `299 - ${JSON.stringify(each)}`);
  if (warning.length > 0) response.setHeader('warning', warning);
  response.writeHead(status, {
    'content-type': mediaType,
    'cache-control': 'no-cache, private',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** A refusal as a Status; anything else that was thrown is a fault of this server, and says so. */
export function sendFault(response: ServerResponse, error: unknown): void {
  const fault =
    error instanceof ApiFault
      ? error
      : new ApiFault(500, `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`, {
          reason: 'InternalError',
        });
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { retryAfterSeconds } = fault.fields;
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
  send(response, { kind: 'object', status: fault.code, body: fault.toStatus() });
}
