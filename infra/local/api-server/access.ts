/** Who may ask: the holder of the token, for everything. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ApiFault, notHere } from './api-fault.ts';
import type { ResourceRoute, Route } from './routes.ts';

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** @throws ApiFault 401 for a wrong token, 403 without one, 501 for impersonation */
export function checkAccess(http: IncomingMessage, route: Route, pathname: string, token: string): void {
  if (http.headers['impersonate-user'] !== undefined) throw notHere('Impersonation');
  const given = /^Bearer (.+)$/.exec(http.headers.authorization ?? '')?.[1];
  if (given !== undefined) {
    if (isSame(given, token)) return;
    throw new ApiFault(401, 'Unauthorized', { reason: 'Unauthorized' });
  }
  if (http.headers.authorization !== undefined) throw new ApiFault(401, 'Unauthorized', { reason: 'Unauthorized' });
  if (route.kind === 'health' || route.kind === 'version') return;
  throw forbidden(http.method ?? 'GET', route, pathname);
}

function forbidden(method: string, route: Route, pathname: string): ApiFault {
  const user = 'User "system:anonymous" cannot';
  if (route.kind !== 'resource') {
    const message = `forbidden: ${user} ${method.toLowerCase()} path ${JSON.stringify(pathname)}`;
    return new ApiFault(403, message, { reason: 'Forbidden', details: {} });
  }
  const { name, namespace, plural, subresource, group } = route;
  const resource = subresource === '' ? plural : `${plural}/${subresource}`;
  const where = namespace === '' ? ' at the cluster scope' : ` in the namespace ${JSON.stringify(namespace)}`;
  const what = `${user} ${verbOf(method, route)} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)}${where}`;
  const subject = `${group === '' ? plural : `${plural}.${group}`}${name === '' ? '' : ` ${JSON.stringify(name)}`}`;
  return new ApiFault(403, `${subject} is forbidden: ${what}`, {
    reason: 'Forbidden',
    details: { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: plural },
  });
}

const verbOf = (method: string, { name }: ResourceRoute): string => VERBS[method] ?? (name === '' ? 'list' : 'get');

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
