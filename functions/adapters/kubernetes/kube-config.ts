/**
 * From a kubeconfig, or from the service account of the pod, to the one cluster and user that a client speaks for. Reading
 * is done at once and whole, so that a fault of the file shows before any work is taken.
 */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { load } from 'js-yaml';
import * as z from 'zod';
import { ConfigError } from '../../core/errors.ts';

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

/** The environment that decides where we run; `process.env` unless a test says otherwise. */
export type Environment = Readonly<Record<string, string | undefined>>;

const text = z.string().min(1);
/** Absent, null and empty all mean "not set" in a kubeconfig. */
const optionalText = z
  .string()
  .nullish()
  .transform((value) => value || undefined);
const list = <T extends z.ZodType>(entries: T) =>
  z
    .array(entries)
    .nullish()
    .transform((found) => found ?? []);

const cluster = z.looseObject({
  server: text,
  'certificate-authority': optionalText,
  'certificate-authority-data': optionalText,
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': optionalText,
  'proxy-url': optionalText,
});
const exec = z.looseObject({
  apiVersion: text,
  command: text,
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: text, value: z.string() })).nullish(),
  provideClusterInfo: z.boolean().optional(),
});
const user = z.looseObject({
  token: optionalText,
  tokenFile: optionalText,
  'client-certificate': optionalText,
  'client-certificate-data': optionalText,
  'client-key': optionalText,
  'client-key-data': optionalText,
  username: optionalText,
  password: optionalText,
  as: optionalText,
  'as-groups': z.array(text).nullish(),
  exec: exec.nullish(),
  'auth-provider': z.looseObject({ name: text }).nullish(),
});
const context = z.looseObject({ cluster: text, user: optionalText });
const document = z.looseObject({
  'current-context': optionalText,
  clusters: list(z.looseObject({ name: text, cluster })),
  contexts: list(z.looseObject({ name: text, context })),
  users: list(z.looseObject({ name: text, user: user.nullish() })),
});

type ClusterFields = z.infer<typeof cluster>;
type UserFields = Partial<z.infer<typeof user>>;

/** User fields whose loss would change who we are; they are refused instead of dropped. */
const UNSUPPORTED_USER_FIELDS = ['as-uid', 'as-user-extra'];

/** @throws ConfigError that names file and key: absent, unparsable, incomplete, or asking for what we do not have */
export function loadAccess(source: KubeConfigSource, environment: Environment = process.env): ClusterAccess {
  return source.kind === 'file' ? fromFile(source, environment) : fromServiceAccount(source.root ?? '', environment);
}

function fromFile(source: KubeConfigSource & { kind: 'file' }, environment: Environment): ClusterAccess {
  const { path } = source;
  const config = parseDocument(path);
  const wanted = source.context ?? config['current-context'];
  if (!wanted) throw fault(path, 'current-context', 'is not set; set it, or name a context in the registry');
  const chosen = entry(path, 'contexts', config.contexts, wanted).context;
  const ofCluster = entry(path, 'clusters', config.clusters, chosen.cluster, `contexts[${wanted}].cluster`).cluster;
  const ofUser = chosen.user === undefined ? {} : entry(path, 'users', config.users, chosen.user, `contexts[${wanted}].user`).user;
  return build(path, { cluster: chosen.cluster, user: chosen.user ?? 'anonymous' }, ofCluster, ofUser ?? {}, environment);
}

function parseDocument(path: string): z.infer<typeof document> {
  const content = readText(path, 'kubeconfig');
  let yaml: unknown;
  try {
    yaml = load(content);
  } catch (error) {
    const line = (error as { mark?: { line: number } }).mark?.line;
    throw new ConfigError('kubeconfig-unparsable', `${path}: does not parse as YAML${line === undefined ? '' : ` (line ${line + 1})`}`);
  }
  const parsed = document.safeParse(yaml);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw fault(path, keyPath(issue?.path ?? [], yaml), issue?.message ?? 'is invalid');
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
  const file = (key: 'certificate-authority' | 'client-certificate' | 'client-key', fields: ClusterFields | UserFields, where: string) => {
    const data = fields[`${key}-data`] as string | undefined;
    const found = absolute(fields[key] as string | undefined);
    if (data === undefined && found !== undefined) readText(found, `${path}: ${where}.${key}`);
    return data === undefined ? { file: found } : { data };
  };
  const ca = file('certificate-authority', ofCluster, inCluster);
  const cert = file('client-certificate', ofUser, inUser);
  const key = file('client-key', ofUser, inUser);
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

function execPlugin(fields: z.infer<typeof exec>, ofCluster: ClusterFields, directory: string): ExecPlugin {
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

function serverUrl(path: string, key: string, value: string): URL {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw fault(path, key, 'is not an http(s) address');
  return url;
}

function entry<T extends { readonly name: string }>(path: string, where: string, entries: readonly T[], name: string, from?: string): T {
  const found = entries.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const known = entries.map((candidate) => candidate.name).join(', ') || 'none';
  const by = from === undefined ? '' : `, which ${from} names,`;
  throw new ConfigError('kubeconfig-invalid', `${path}: ${JSON.stringify(name)}${by} is not in ${where} (there: ${known})`);
}

/** The content of a file, or a ConfigError that says whose it is. */
function readText(path: string, whose: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigError('file-unreadable', `${whose}: ${path} ${what}`, { cause: error });
  }
}

function fault(path: string, key: string, what: string): ConfigError {
  return new ConfigError('kubeconfig-invalid', `${path}: ${key} ${what}`);
}

/** `users[admin].user.token` for the path of a zod issue: entries by name, as the file has them. */
function keyPath(path: readonly PropertyKey[], root: unknown): string {
  let at: unknown = root;
  let out = '';
  for (const step of path) {
    at = typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[step] : undefined;
    const name = typeof at === 'object' && at !== null ? (at as { name?: unknown }).name : undefined;
    if (typeof step === 'number') out += `[${typeof name === 'string' ? name : step}]`;
    else out += out === '' ? String(step) : `.${String(step)}`;
  }
  return out || 'the document';
}

/** The fields that are set. */
function some<T extends Record<string, string | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: string };
}
