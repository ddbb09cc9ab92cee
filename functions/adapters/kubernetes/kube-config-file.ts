/** One context of a kubeconfig: its cluster and user, their fields checked. */
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import * as z from 'zod';
import { ConfigError } from '../../core/errors.ts';

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
const context = z.looseObject({ cluster: text, user: optionalText, namespace: optionalText });
const document = z.looseObject({
  'current-context': optionalText,
  clusters: list(z.looseObject({ name: text, cluster })),
  contexts: list(z.looseObject({ name: text, context })),
  users: list(z.looseObject({ name: text, user: user.nullish() })),
});

/** `clusters[].cluster`, checked. */
export type ClusterFields = z.infer<typeof cluster>;
/** `users[].user`, checked. */
export type UserFields = Partial<z.infer<typeof user>>;

/** A context with what it names. */
export interface KubeConfigContext {
  readonly names: { readonly cluster: string; readonly user: string };
  readonly cluster: ClusterFields;
  readonly user: UserFields;
  /** Where objects are looked for that no namespace is named with. */
  readonly namespace: string | undefined;
}

/**
 * The context `wanted` of a kubeconfig, or its current one.
 *
 * @param path  of the file, or the reference that the text was read by, for messages
 * @throws ConfigError that names path and key, and quotes nothing that could be a credential
 */
export function parseContext(content: string, path: string, wanted: string | undefined): KubeConfigContext {
  const config = parseDocument(content, path);
  const context = wanted ?? currentContext(config, path);
  const chosen = entry(path, 'contexts', config.contexts, context).context;
  const { cluster } = entry(path, 'clusters', config.clusters, chosen.cluster, `contexts[${context}].cluster`);
  const user = chosen.user === undefined ? {} : entry(path, 'users', config.users, chosen.user, `contexts[${context}].user`).user;
  return { names: { cluster: chosen.cluster, user: chosen.user ?? 'anonymous' }, cluster, user: user ?? {}, namespace: chosen.namespace };
}

/** Likewise of the file. */
export function readContext(path: string, wanted: string | undefined): KubeConfigContext {
  return parseContext(readText(path, 'kubeconfig'), path, wanted);
}

function currentContext(config: z.infer<typeof document>, path: string): string {
  const { 'current-context': current } = config;
  if (current) return current;
  throw fault(path, 'current-context', 'is not set; set it, or name a context in the registry');
}

function parseDocument(content: string, path: string): z.infer<typeof document> {
  if (content.split('\n').every((line) => /^\s*(#|---\s*$|$)/.test(line)))
    throw new ConfigError('kubeconfig-empty', `${path}: is empty; a kubeconfig is needed there`);
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

function entry<T extends { readonly name: string }>(path: string, where: string, entries: readonly T[], name: string, from?: string): T {
  const found = entries.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const known = entries.map((candidate) => candidate.name).join(', ') || 'none';
  const by = from === undefined ? '' : `, which ${from} names,`;
  throw new ConfigError('kubeconfig-invalid', `${path}: ${JSON.stringify(name)}${by} is not in ${where} (there: ${known})`);
}

/** The content of a file. @throws ConfigError that says whose file it is */
export function readText(path: string, whose: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigError('file-unreadable', `${whose}: ${path} ${what}`, { cause: error });
  }
}

/** A key of a file that cannot be used as it is. */
export function fault(path: string, key: string, what: string): ConfigError {
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
