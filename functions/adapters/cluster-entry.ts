/** One entry of the cluster registry, checked: its name, and how the cluster is reached. */
import { dirname, isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import { type ClusterName, isDnsLabel } from '../../events/resource.ts';
import { closestName } from '../core/closest-name.ts';
import { cutText } from '../core/errors.ts';
import type { KubeConfigSource } from './kubernetes/kube-config.ts';
import { parseReference, referenceProblem } from './remote-text.ts';

const text = z.string().min(1);
const matching = (pattern: RegExp, what: string) => z.string().regex(pattern, what);
const EKS_CLUSTER = matching(/^[0-9A-Za-z][\w-]{0,99}$/, 'is no name of an EKS cluster');
const REGION = matching(/^[a-z]+(-[a-z0-9]+)+$/, 'is no AWS region');
const ROLE = matching(/^arn:[a-z-]+:iam::[0-9]{12}:role\/[\w+=,.@/-]+$/, 'is no ARN of a role');
const SERVER = matching(/^https:\/\/\S+$/, 'is no https address');

/** By the key that says which way it is. */
const WAYS = {
  kubeconfig: z.strictObject({ name: text, kubeconfig: text, context: text.optional() }),
  inCluster: z.strictObject({ name: text, inCluster: z.literal(true) }),
  eks: z.strictObject({
    name: text,
    eks: z.strictObject({ cluster: EKS_CLUSTER, region: REGION, role: ROLE.optional() }),
    server: SERVER.optional(),
    certificateAuthorityData: text.optional(),
  }),
};
const wayNames = ['kubeconfig', 'inCluster', 'eks'] as const;
/** Keys that go with one way only. */
const COMPANIONS = { context: 'kubeconfig', server: 'eks', certificateAuthorityData: 'eks' } as const;
const entryKeys = ['name', ...wayNames, ...Object.keys(COMPANIONS)];
const eksKeys = ['cluster', 'region', 'role'];
/** A key further away than this from every known one is no slip of the pen. */
const HINT_MAX_EDITS = 3;
/** The longest name of a cluster, in characters. */
const NAME_MAX = 63;

/** Name and way of an entry. */
export interface ParsedEntry {
  readonly name: ClusterName;
  /** Paths are absolute. */
  readonly access: KubeConfigSource;
}

/**
 * The entry that `raw` is; `fail` is called with what is wrong otherwise, beginning with the key.
 *
 * @param registry  where it stands: a path, or a reference, beside which there are no files
 */
export function parseEntry(raw: unknown, registry: string, fail: (what: string) => never): ParsedEntry {
  if (!isRecord(raw)) return fail('is not a mapping with name and kubeconfig');
  const unknown = Object.keys(raw).find((key) => !entryKeys.includes(key));
  if (unknown !== undefined) return fail(unknownKey(unknown, entryKeys));
  if (typeof raw['name'] !== 'string') return fail('name is missing, or not text');
  if (!isDnsLabel(raw['name'])) return fail('name is not a DNS label (a-z, 0-9, inner hyphens, at most 63)');
  const name = raw['name'] as ClusterName;
  const [way, other] = wayNames.filter((key) => key in raw);
  if (way === undefined) return fail('kubeconfig, eks or inCluster: true is missing');
  if (other !== undefined) return fail(`${way} and ${other} exclude each other; take one out`);
  for (const [key, goesWith] of Object.entries(COMPANIONS)) {
    if (key in raw && way !== goesWith) return fail(`${key} goes with ${goesWith} only; take it out`);
  }
  const checked = <Schema extends z.ZodType>(schema: Schema): z.output<Schema> => {
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    if (issue?.code === 'unrecognized_keys') return fail(`${issue.path.join('.')}: ${unknownKey(issue.keys[0] ?? '', eksKeys)}`);
    return fail(`${issue?.path.join('.') || 'entry'}: ${issue?.message ?? 'is invalid'}`);
  };
  if (way === 'inCluster') {
    checked(WAYS.inCluster);
    return { name, access: { kind: 'in-cluster' } };
  }
  if (way === 'kubeconfig') {
    const { kubeconfig, context } = checked(WAYS.kubeconfig);
    return { name, access: kubeConfigAt(kubeconfig, context, registry, fail) };
  }
  const { eks, server, certificateAuthorityData } = checked(WAYS.eks);
  if (server === undefined && certificateAuthorityData === undefined) return { name, access: { kind: 'eks', ...eks } };
  if (server === undefined || certificateAuthorityData === undefined)
    return fail('server and certificateAuthorityData go together; give both, or neither to have EKS asked');
  return { name, access: { kind: 'eks', ...eks, endpoint: { server, certificateAuthorityData } } };
}

function kubeConfigAt(at: string, context: string | undefined, registry: string, fail: (what: string) => never): KubeConfigSource {
  const problem = referenceProblem(at);
  if (problem !== undefined) return fail(`kubeconfig: ${problem}`);
  if (parseReference(at) !== undefined) return { kind: 'remote', reference: at, context };
  if (parseReference(registry) === undefined) return { kind: 'file', path: resolve(dirname(registry), at), context };
  if (isAbsolute(at)) return { kind: 'file', path: at, context };
  return fail(`kubeconfig: ${at} is a relative path, and there are no files beside a registry in AWS; name it by ssm: or secretsmanager:`);
}

/** What to say of a key that is not known. */
export function unknownKey(key: string, known: readonly string[]): string {
  const shown = shownName(key);
  // Of a short key, edits as many as it has characters make any other.
  const nearest = closestName(shown, known, Math.min(HINT_MAX_EDITS, shown.length - 1));
  const hint = nearest === undefined ? `known: ${known.join(', ')}` : `did you mean ${nearest}?`;
  return `unknown key ${shown}; ${hint}`;
}

/** A name of somebody else's for a message, which is one line whatever it holds. */
export function shownName(name: string): string {
  return cutText(name.replace(/\p{Cc}+/gu, ' '), NAME_MAX);
}

/** A mapping of YAML. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
