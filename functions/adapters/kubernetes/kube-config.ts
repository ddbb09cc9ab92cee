/**
 * From a kubeconfig, or from the service account of the pod, to the one cluster and user that a client speaks for. Reading
 * is done whole, so that a fault shows before any work is taken.
 */
import { X509Certificate } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Environment } from '../../core/config.ts';
import { ConfigError } from '../../core/errors.ts';
import {
  type ClusterFields,
  fault,
  type KubeConfigContext,
  parseContext,
  readContext,
  readText,
  type UserFields,
} from './kube-config-file.ts';

/** Where access comes from; read again when the server stops accepting what was read. */
export type KubeConfigSource = LocalSource | RemoteSource | EksSource | FaultySource;

/** What is on this machine, and can be read at once. */
export type LocalSource =
  | { readonly kind: 'file'; readonly path: string; readonly context?: string | undefined }
  /** `root` stands before `/var/run/secrets/...`; for tests. */
  | { readonly kind: 'in-cluster'; readonly root?: string | undefined };

/** A kubeconfig in a store of AWS: see `remote-text.ts`. */
export interface RemoteSource {
  readonly kind: 'remote';
  readonly reference: string;
  readonly context?: string | undefined;
}

/** A cluster of EKS, by tokens of its own kind. */
export interface EksSource {
  readonly kind: 'eks';
  readonly cluster: string;
  readonly region: string;
  /** ARN of a role to assume. */
  readonly role?: string | undefined;
  /** Asked of EKS where left out. */
  readonly endpoint?: { readonly server: string; readonly certificateAuthorityData: string } | undefined;
}

/** An entry of the registry that says no way: whoever wants to reach the cluster is told why. */
export interface FaultySource {
  readonly kind: 'faulty';
  /** One line: registry, entry and key, and what to write there. */
  readonly problem: string;
}

/** What is told of such an entry. */
export function entryFault(problem: string): ConfigError {
  return new ConfigError('entry-invalid', problem);
}

/** A credential that somebody makes for us, for a while. */
export interface IssuedCredential {
  readonly token?: string | undefined;
  /** PEM, not base64. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** When to have another made, by our clock; undefined: it does not expire by itself. */
  readonly renewAtMs: number | undefined;
}

export interface CredentialIssuer {
  /** @throws ConfigError, TransientError `unauthorized` */
  issue(): Promise<IssuedCredential>;
  /** Milliseconds that an issued credential is kept in any case, for what it costs to make one. */
  readonly floorMs: number;
  /** The server did not take the last one. `serverMs` is what its clock said then. */
  refused?(serverMs: number | undefined): void;
}

/** What a kubeconfig says about one context, paths made absolute. */
export interface ClusterAccess {
  /** Holds this one cluster and user. Gives TLS options, basic auth, bearer token and Impersonate-User. */
  readonly kubeConfig: KubeConfig;
  readonly server: URL;
  /** Read again while running; wins over a token that stands in the file. */
  readonly tokenFile: string | undefined;
  readonly exec: ExecPlugin | undefined;
  /** Makes our credentials where no kubeconfig has them. */
  readonly issuer?: CredentialIssuer | undefined;
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
export function loadAccess(source: LocalSource | FaultySource, environment: Environment = process.env): ClusterAccess {
  if (source.kind === 'faulty') throw entryFault(source.problem);
  if (source.kind === 'in-cluster') return fromServiceAccount(source.root ?? '', environment);
  const { path, context } = source;
  return build(path, dirname(path), readContext(path, context), environment);
}

/** What the text of a kubeconfig that is no file says. @throws ConfigError that names the reference it came by, and the key */
export function parseAccess(content: string, { reference, context }: RemoteSource, environment: Environment): ClusterAccess {
  return build(reference, undefined, parseContext(content, reference, context), environment);
}

/** @param directory that relative paths begin at; undefined: there is none */
function build(
  path: string,
  directory: string | undefined,
  { names, cluster: ofCluster, user: ofUser }: KubeConfigContext,
  environment: Environment,
): ClusterAccess {
  const absolute = (file: string | undefined, key: string): string | undefined => {
    if (file === undefined || isAbsolute(file)) return file;
    if (directory !== undefined) return join(directory, file);
    throw fault(path, key, 'is a relative path, which leads nowhere from here; put the content in (the fields with -data, token)');
  };
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
      'does not work inside Lambda, which has no credential plugins; use eks: in the registry, a token or a client certificate there',
    );
  }
  // Data wins over a file, as in client-go.
  const material = (
    key: 'certificate-authority' | 'client-certificate' | 'client-key',
    fields: ClusterFields | UserFields,
    where: string,
  ) => {
    const data = fields[`${key}-data`] as string | undefined;
    if (data !== undefined) return { data, pem: Buffer.from(data, 'base64').toString(), file: undefined };
    const found = absolute(fields[key] as string | undefined, `${where}.${key}`);
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
  const tokenFile = absolute(ofUser.tokenFile, `${inUser}.tokenFile`);
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
  const plugin = ofUser.exec ? execPlugin(ofUser.exec, ofCluster, (file) => absolute(file, `${inUser}.exec.command`) ?? file) : undefined;
  return { kubeConfig, server, tokenFile, exec: plugin, impersonateGroups: ofUser['as-groups'] ?? [] };
}

function execPlugin(fields: NonNullable<UserFields['exec']>, ofCluster: ClusterFields, absolute: (file: string) => string): ExecPlugin {
  const { command } = fields;
  return {
    apiVersion: fields.apiVersion,
    // A command with a slash is relative to the kubeconfig, as in client-go; a bare name is looked up in PATH.
    command: command.includes('/') ? absolute(command) : command,
    args: fields.args ?? [],
    env: Object.fromEntries((fields.env ?? []).map(({ name, value }) => [name, value])),
    clusterInfo: fields.provideClusterInfo === true ? { ...ofCluster } : undefined,
  };
}

/** A cluster whose credentials `issuer` makes. @throws ConfigError that begins with `where` and names the key */
export function issuedAccess(
  { server, certificateAuthorityData }: NonNullable<EksSource['endpoint']>,
  issuer: CredentialIssuer,
  where: string,
): ClusterAccess {
  const url = serverUrl(where, 'server', server);
  if (!works(() => new X509Certificate(Buffer.from(certificateAuthorityData, 'base64'))))
    throw fault(where, 'certificateAuthorityData', 'is no PEM certificate in base64');
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name: 'eks', server, skipTLSVerify: url.protocol === 'http:', caData: certificateAuthorityData },
    { name: 'eks' },
  );
  return { kubeConfig, server: url, tokenFile: undefined, exec: undefined, issuer, impersonateGroups: [] };
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
