/**
 * From a kubeconfig, or from the service account of the pod, to the one cluster and user that a client speaks for. Reading
 * is done at once and whole, so that a fault of the file shows before any work is taken.
 */
import { X509Certificate } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Environment } from '../../core/config.ts';
import { ConfigError } from '../../core/errors.ts';
import { type ClusterFields, fault, readContext, readText, type UserFields } from './kube-config-file.ts';

/** Where access comes from; read again when the server stops accepting what was read. */
export type KubeConfigSource =
  | { readonly kind: 'file'; readonly path: string; readonly context?: string | undefined }
  /** `root` stands before `/var/run/secrets/...`; for tests. */
  | { readonly kind: 'in-cluster'; readonly root?: string | undefined };

/** What a kubeconfig says about one context, paths made absolute. */
export interface ClusterAccess {
  /** Holds this one cluster and user. Gives TLS options, basic auth, bearer token and Impersonate-User. */
  readonly kubeConfig: KubeConfig;
  readonly server: URL;
  /** Read again while running; wins over a token that stands in the file. */
  readonly tokenFile: string | undefined;
  readonly exec: ExecPlugin | undefined;
  readonly impersonateGroups: readonly string[];
}

/** A credential plugin as client-go runs it. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The `spec.cluster` that plugins with provideClusterInfo get to see. */
  readonly clusterInfo: Readonly<Record<string, unknown>> | undefined;
}

/** User fields whose loss would change who we are; they are refused instead of dropped. */
const UNSUPPORTED_USER_FIELDS = ['as-uid', 'as-user-extra'];

/** @throws ConfigError that names file and key: absent, unparsable, incomplete, or asking for what we do not have */
export function loadAccess(source: KubeConfigSource, environment: Environment = process.env): ClusterAccess {
  return source.kind === 'file' ? fromFile(source, environment) : fromServiceAccount(source.root ?? '', environment);
}

function fromFile(source: KubeConfigSource & { kind: 'file' }, environment: Environment): ClusterAccess {
  const { path } = source;
  const { names, cluster, user } = readContext(path, source.context);
  return build(path, names, cluster, user, environment);
}

function build(
  path: string,
  names: { readonly cluster: string; readonly user: string },
  ofCluster: ClusterFields,
  ofUser: UserFields,
  environment: Environment,
): ClusterAccess {
  const absolute = (file: string | undefined): string | undefined =>
    file === undefined || isAbsolute(file) ? file : join(dirname(path), file);
  const inCluster = `clusters[${names.cluster}].cluster`;
  const inUser = `users[${names.user}].user`;
  const server = serverUrl(path, `${inCluster}.server`, ofCluster.server);
  if (ofCluster['proxy-url'] !== undefined) {
    throw fault(path, `${inCluster}.proxy-url`, 'is not supported yet; give a server address that can be reached directly');
  }
  for (const field of UNSUPPORTED_USER_FIELDS) {
    if (field in ofUser) throw fault(path, `${inUser}.${field}`, 'is not supported; impersonate by as and as-groups only');
  }
  if (ofUser['auth-provider']) {
    throw fault(
      path,
      `${inUser}.auth-provider`,
      `(${ofUser['auth-provider'].name}) is not supported; use exec, a token or a client certificate`,
    );
  }
  if (ofUser.exec && environment['AWS_LAMBDA_FUNCTION_NAME'] !== undefined) {
    throw fault(
      path,
      `${inUser}.exec`,
      'does not work inside Lambda, which has no credential plugins; use a token or a client certificate there',
    );
  }
  // Data wins over a file, as in client-go.
  const material = (
    key: 'certificate-authority' | 'client-certificate' | 'client-key',
    fields: ClusterFields | UserFields,
    where: string,
  ) => {
    const data = fields[`${key}-data`] as string | undefined;
    const found = absolute(fields[key] as string | undefined);
    if (data !== undefined) return { data, pem: Buffer.from(data, 'base64').toString(), file: undefined };
    return { data, pem: found && readText(found, `${path}: ${where}.${key}`), file: found };
  };
  const ca = material('certificate-authority', ofCluster, inCluster);
  const cert = material('client-certificate', ofUser, inUser);
  const key = material('client-key', ofUser, inUser);
  if (server.protocol === 'https:') {
    // TLS takes a CA that is no certificate without a word, and then trusts nobody.
    if (ca.pem && !works(() => new X509Certificate(ca.pem ?? '')))
      throw fault(path, `${inCluster}.certificate-authority`, 'is no PEM certificate');
    if (!works(() => createSecureContext(some({ cert: cert.pem, key: key.pem })))) {
      throw fault(path, `${inUser}.client-certificate`, 'and client-key are no PEM pair');
    }
  }
  const tokenFile = absolute(ofUser.tokenFile);
  if (tokenFile !== undefined) readText(tokenFile, `${path}: ${inUser}.tokenFile`);

  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    {
      name: names.cluster,
      server: ofCluster.server,
      // client-node refuses plain http unless TLS checks are off; there is no TLS to check then.
      skipTLSVerify: server.protocol === 'http:' || ofCluster['insecure-skip-tls-verify'] === true,
      ...some({ caFile: ca.file, caData: ca.data, tlsServerName: ofCluster['tls-server-name'] }),
    },
    {
      name: names.user,
      ...some({ certFile: cert.file, certData: cert.data, keyFile: key.file, keyData: key.data }),
      ...some({ username: ofUser.username, password: ofUser.password, impersonateUser: ofUser.as }),
      ...some({ token: tokenFile === undefined ? ofUser.token?.trim() : undefined }),
    },
  );
  const plugin = ofUser.exec ? execPlugin(ofUser.exec, ofCluster, dirname(path)) : undefined;
  return { kubeConfig, server, tokenFile, exec: plugin, impersonateGroups: ofUser['as-groups'] ?? [] };
}

function execPlugin(fields: NonNullable<UserFields['exec']>, ofCluster: ClusterFields, directory: string): ExecPlugin {
  const { command } = fields;
  return {
    apiVersion: fields.apiVersion,
    // A command with a slash is relative to the kubeconfig, as in client-go; a bare name is looked up in PATH.
    command: command.includes('/') && !isAbsolute(command) ? join(directory, command) : command,
    args: fields.args ?? [],
    env: Object.fromEntries((fields.env ?? []).map(({ name, value }) => [name, value])),
    clusterInfo: fields.provideClusterInfo === true ? { ...ofCluster } : undefined,
  };
}

function fromServiceAccount(root: string, environment: Environment): ClusterAccess {
  for (const variable of ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT']) {
    if (!environment[variable]) {
      throw new ConfigError('not-in-cluster', `inCluster: ${variable} is not set; this works in a pod only, use kubeconfig elsewhere`);
    }
  }
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromCluster(root);
  const cluster = kubeConfig.getCurrentCluster();
  const tokenFile = kubeConfig.getCurrentUser()?.authProvider?.config?.tokenFile as string | undefined;
  if (cluster === null || tokenFile === undefined)
    throw new ConfigError('not-in-cluster', 'inCluster: client-node found no service account');
  readText(tokenFile, 'inCluster: token');
  if (cluster.caFile !== undefined) readText(cluster.caFile, 'inCluster: CA');
  const server = serverUrl('inCluster', 'server', cluster.server);
  // Without client-node's own token reader: it keeps the newline, which node:http refuses, and cannot be told to read again.
  kubeConfig.loadFromClusterAndUser({ ...cluster, skipTLSVerify: server.protocol === 'http:' }, { name: 'serviceaccount' });
  return { kubeConfig, server, tokenFile, exec: undefined, impersonateGroups: [] };
}

/** Whether `attempt` does not throw. What OpenSSL throws names neither file nor key, so it is not passed on. */
function works(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

function serverUrl(path: string, key: string, value: string): URL {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw fault(path, key, 'is not an http(s) address');
  return url;
}

/** The fields that are set. */
function some<T extends Record<string, string | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: string };
}
