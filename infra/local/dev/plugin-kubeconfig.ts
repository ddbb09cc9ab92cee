/**
 * A credential plugin of a kubeconfig (`aws eks get-token` and the like) runs in the watcher and in the function, where the credentials of
 * AWS are those of the embedded queues, and HOME is nobody's. The copy made here gives it what whoever started the run has.
 */
import { writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readContext } from '../../../functions/adapters/kubernetes/kube-config-file.ts';
import type { Environment } from '../../../functions/core/config.ts';

/** What plugins find the login of their user by. */
const GIVEN = /^(HOME|PATH|USER|AWS_.+|AZURE_.+|CLOUDSDK_.+|GOOGLE_.+|XDG_.+|HTTPS?_PROXY|https?_proxy|NO_PROXY|no_proxy)$/;
/** What is set for the queues, and for Lambda. */
const OURS = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_ENDPOINT_URL_SQS',
] as const;

/**
 * The path of a copy of that one context in `dir`; undefined where it has no plugin. The copy holds what the environment holds, and can be
 * read by its owner only.
 *
 * @throws ConfigError as readContext does
 */
export function copyForPlugin(
  { path, context, name }: { readonly path: string; readonly context: string; readonly name: string },
  dir: string,
  env: Environment,
): string | undefined {
  const { names, cluster, user, namespace } = readContext(path, context);
  const { exec } = user;
  if (exec === undefined || exec === null) return undefined;
  const absolute = (file: string | undefined): string | undefined => (file === undefined ? undefined : resolve(dirname(path), file));
  const own = exec.env ?? [];
  const given = Object.entries(env).flatMap(([key, value]) =>
    value === undefined || !GIVEN.test(key) || own.some((entry) => entry.name === key) ? [] : { name: key, value },
  );
  const unset = OURS.filter((key) => ![...given, ...own].some((entry) => entry.name === key));
  const isFile = exec.command.includes('/') && !isAbsolute(exec.command);
  const command = isFile ? resolve(dirname(path), exec.command) : exec.command;
  const copy = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': context,
    contexts: [{ name: context, context: { cluster: names.cluster, user: names.user, namespace } }],
    clusters: [{ name: names.cluster, cluster: { ...cluster, 'certificate-authority': absolute(cluster['certificate-authority']) } }],
    users: [
      {
        name: names.user,
        user: {
          ...user,
          tokenFile: absolute(user.tokenFile),
          'client-certificate': absolute(user['client-certificate']),
          'client-key': absolute(user['client-key']),
          exec: {
            ...exec,
            env: [...given, ...own],
            command: 'env',
            args: [...unset.flatMap((key) => ['-u', key]), command, ...(exec.args ?? [])],
          },
        },
      },
    ],
  };
  const to = join(dir, `${name}.kubeconfig`);
  writeFileSync(to, JSON.stringify(copy), { mode: 0o600 }); // JSON is YAML, and leaves out what is undefined
  return to;
}
