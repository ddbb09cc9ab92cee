/** What the path of a request leads to. */

export type Route =
  | { readonly kind: 'health' }
  | { readonly kind: 'version' }
  | { readonly kind: 'api-versions' }
  | { readonly kind: 'api-groups' }
  | { readonly kind: 'api-group'; readonly group: string }
  | { readonly kind: 'api-resources'; readonly group: string; readonly version: string }
  /** `document` is '' for the index, else such as `apis/lab.example.com/v1`. */
  | { readonly kind: 'openapi'; readonly document: string }
  /** The older form. */
  | { readonly kind: 'openapi-v2' }
  | ResourceRoute
  | { readonly kind: 'unknown' };

export interface ResourceRoute {
  readonly kind: 'resource';
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** '' where the path names none. */
  readonly namespace: string;
  /** '' for the collection. */
  readonly name: string;
  readonly subresource: string;
}

const HEALTH = ['/livez', '/readyz', '/healthz'];
const UNKNOWN: Route = { kind: 'unknown' };

export function routeOf(pathname: string): Route {
  if (HEALTH.some((path) => pathname === path || pathname.startsWith(`${path}/`))) return { kind: 'health' };
  if (pathname === '/version' || pathname === '/version/') return { kind: 'version' };
  const segments = decoded(pathname);
  if (segments === undefined) return UNKNOWN;
  const [root, ...rest] = segments;
  if (root === 'openapi' && rest.join('/') === 'v2') return { kind: 'openapi-v2' };
  if (root === 'openapi' && rest[0] === 'v3') return { kind: 'openapi', document: rest.slice(1).join('/') };
  if (root === 'api') {
    const [version, ...path] = rest;
    if (version === undefined) return { kind: 'api-versions' };
    return path.length === 0 ? { kind: 'api-resources', group: '', version } : resourceRoute('', version, path);
  }
  if (root !== 'apis') return UNKNOWN;
  const [group, version, ...path] = rest;
  if (group === undefined) return { kind: 'api-groups' };
  if (version === undefined) return { kind: 'api-group', group };
  return path.length === 0 ? { kind: 'api-resources', group, version } : resourceRoute(group, version, path);
}

function resourceRoute(group: string, version: string, path: readonly string[]): Route {
  // `namespaces/a/status` is a subresource of the namespace, `namespaces/a/configmaps` a collection in it.
  const isInside = path[0] === 'namespaces' && path.length >= 3 && !['status', 'finalize'].includes(path[2] ?? '');
  const namespace = isInside ? (path[1] ?? '') : '';
  const [plural = '', name = '', subresource = '', ...more] = isInside ? path.slice(2) : path;
  return more.length > 0 ? UNKNOWN : { kind: 'resource', group, version, plural, namespace, name, subresource };
}

/** Segments of a path; undefined if an escape in it is broken. */
function decoded(pathname: string): string[] | undefined {
  try {
    return pathname
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
