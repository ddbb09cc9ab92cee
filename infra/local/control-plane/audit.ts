import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** Who did what, never with which content; the stage RequestReceived is left out, for it only repeats. */
export const auditPolicy = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
});

/** One request to the API server. */
export interface AuditEvent {
  readonly user: string;
  /** `get`, `list`, `watch`, `create`, `patch`, `delete`, ... */
  readonly verb: string;
  /** API group, empty for the core group and for requests without a resource. */
  readonly group: string;
  /** Plural; empty where the path is no resource (`/readyz`, `/apis`). */
  readonly resource: string;
  /** `status`, ...; empty for the object itself. */
  readonly subresource: string;
  /** Empty for lists and watches. */
  readonly name: string;
  /** Empty for cluster-scoped resources and requests over all namespaces. */
  readonly namespace: string;
  /** HTTP status. 0 where no answer was sent. */
  readonly code: number;
  /** When the request arrived. */
  readonly at: Date;
  /** Path and query. */
  readonly uri: string;
  readonly userAgent: string;
}

const lineSchema = z.object({
  auditID: z.string(),
  stage: z.string(),
  requestURI: z.string(),
  verb: z.string(),
  user: z.object({ username: z.string().optional() }),
  userAgent: z.string().optional(),
  objectRef: z
    .object({
      resource: z.string().optional(),
      subresource: z.string().optional(),
      name: z.string().optional(),
      namespace: z.string().optional(),
      apiGroup: z.string().optional(),
    })
    .optional(),
  responseStatus: z.object({ code: z.number().optional() }).optional(),
  requestReceivedTimestamp: z.string(),
});

/**
 * Every request in an audit log once, in the order of its lines: a watch when it was answered, anything else when it was over.
 *
 * @param since  leave out what arrived before; the API server's clock and ours are one
 * @throws on a line that is no audit event; a last line without its newline is still being written and is left out
 */
export function readAudit(path: string, since?: Date): AuditEvent[] {
  const events: AuditEvent[] = [];
  const started = new Set<string>();
  for (const line of completeLines(path)) {
    const entry = lineSchema.parse(JSON.parse(line));
    if (entry.stage === 'ResponseStarted') started.add(entry.auditID);
    else if (started.delete(entry.auditID)) continue; // the end of a watch that was counted at its start
    const at = new Date(entry.requestReceivedTimestamp);
    if (since !== undefined && at < since) continue;
    events.push({
      user: entry.user.username ?? '',
      verb: entry.verb,
      group: entry.objectRef?.apiGroup ?? '',
      resource: entry.objectRef?.resource ?? '',
      subresource: entry.objectRef?.subresource ?? '',
      name: entry.objectRef?.name ?? '',
      namespace: entry.objectRef?.namespace ?? '',
      code: entry.responseStatus?.code ?? 0,
      at,
      uri: entry.requestURI,
      userAgent: entry.userAgent ?? '',
    });
  }
  return events;
}

function completeLines(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '');
}

/** How many requests there are of each sort: `"dogwatch patch tenants/status 200"` -> 3, sorted by that text. */
export function countRequests(events: readonly AuditEvent[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { user, verb, resource, subresource, code, uri } of events) {
    const target = resource === '' ? (uri.split('?')[0] ?? uri) : subresource === '' ? resource : `${resource}/${subresource}`;
    const key = `${user} ${verb} ${target} ${code}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
