/** Kubeconfigs over embedded servers, with the faults that users' have. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { ApiServer } from '../../../../infra/local/api-server/api-server.ts';

export interface ContextSpec {
  readonly server: ApiServer;
  /** In place of its own; null for none. */
  readonly token?: string | null;
  /** In place of its own. */
  readonly url?: string;
  readonly trustsNobody?: boolean;
  readonly namespace?: string;
  /** Further fields of the user. */
  readonly user?: Readonly<Record<string, unknown>>;
}

/** Writes a file with these contexts, each with a cluster and a user of its name; returns its path. */
export function writeKubeconfig(dir: string, contexts: Readonly<Record<string, ContextSpec>>, current?: string): string {
  const path = join(dir, 'config');
  const entries = Object.entries(contexts);
  const ca = (text = ''): string => Buffer.from(text).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    ...(current === undefined ? {} : { 'current-context': current }),
    contexts: entries.map(([name, { namespace }]) => ({
      name,
      context: { cluster: name, user: name, ...(namespace === undefined ? {} : { namespace }) },
    })),
    clusters: entries.map(([name, { server, url = server.url, trustsNobody }]) => ({
      name,
      cluster: { server: url, ...(trustsNobody === true ? {} : { 'certificate-authority-data': ca(server.ca) }) },
    })),
    users: entries.map(([name, { server, token = server.token, user = {} }]) => ({
      name,
      user: { ...(token === null ? {} : { token }), ...user },
    })),
  };
  writeFileSync(path, dump(config));
  return path;
}
