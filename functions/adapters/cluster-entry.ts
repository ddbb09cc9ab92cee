/** One entry of the cluster registry, checked: its name, and how the cluster is reached. */
import { dirname, isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import { type ClusterName, isDnsLabel } from '../../events/resource.ts';
import { closestName } from '../core/closest-name.ts';
import { cutText } from '../core/errors.ts';
import type { KubeConfigSource } from './kubernetes/kube-config.ts';
import { parseReference, referenceProblem } from './remote-text.ts';

/** By key: what to write there, for whoever left it out or wrote something else. */
const ADVICE: Readonly<Record<string, string>> = {
  kubeconfig: 'write the path of a file, ssm:/NAME or secretsmanager:ID',
  context: 'write the name of a context of that kubeconfig, or take it out',
  inCluster: 'write true, or take it out',
  eks: 'write the keys cluster and region under it',
  'eks.cluster': 'write its name, as aws eks list-clusters shows it',
  'eks.region': 'write the one that the cluster is in, such as eu-west-1',
  'eks.role': 'write one such as arn:aws:iam::123456789012:role/dogwatch, or take it out',
  server: 'write the endpoint that aws eks describe-cluster shows, which begins with https://',
  certificateAuthorityData: 'write the base64 text that aws eks describe-cluster shows',
};

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
  /** Paths are absolute. `faulty` where the rest of the entry is no good, which is then told by whoever wants to reach the cluster. */
  readonly access: KubeConfigSource;
}

/** Called with what is wrong, beginning with the key. */
type Fail = (what: string) => never;

/** The name of the entry that `raw` is: without one there is no cluster that its fault could be told of. */
export function parseName(raw: unknown, fail: Fail): ClusterName {
  if (!isRecord(raw)) return fail('is not a mapping with name and kubeconfig');
  const unknown = unknownKeyOf(raw);
  if (!('name' in raw) && unknown !== undefined) return fail(unknownKey(unknown, entryKeys));
  if (typeof raw['name'] !== 'string') return fail('name is missing, or not text');
  if (!isDnsLabel(raw['name'])) return fail('name is not a DNS label (a-z, 0-9, inner hyphens, at most 63)');
  return raw['name'] as ClusterName;
}

/**
 * The way of the entry that `raw` is.
 *
 * @param registry  where it stands: a path, or a reference, beside which there are no files
 */
export function parseWay(raw: unknown, registry: string, fail: Fail): KubeConfigSource {
  if (!isRecord(raw)) return fail('is not a mapping with name and kubeconfig');
  const unknown = unknownKeyOf(raw);
  if (unknown !== undefined) return fail(unknownKey(unknown, entryKeys));
  const [way, other] = wayNames.filter((key) => key in raw);
  if (way === undefined) return fail('kubeconfig, eks or inCluster: true is missing');
  if (other !== undefined) return fail(`${way} and ${other} exclude each other; take one out`);
  for (const [key, goesWith] of Object.entries(COMPANIONS)) {
    if (key in raw && way !== goesWith) return fail(`${key} goes with ${goesWith} only; take it out`);
  }
  const checked = <Schema extends z.ZodType>(schema: Schema): z.output<Schema> => {
    const parsed = schema.safeParse(raw, { reportInput: true });
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    return fail(issue === undefined ? 'is invalid' : problemOf(issue));
  };
  if (way === 'inCluster') {
    checked(WAYS.inCluster);
    return { kind: 'in-cluster' };
  }
  if (way === 'kubeconfig') {
    const { kubeconfig, context } = checked(WAYS.kubeconfig);
    return kubeConfigAt(kubeconfig, context, registry, fail);
  }
  const { eks, server, certificateAuthorityData } = checked(WAYS.eks);
  if (server === undefined && certificateAuthorityData === undefined) return { kind: 'eks', ...eks };
  if (server === undefined || certificateAuthorityData === undefined)
    return fail('server and certificateAuthorityData go together; give both, or neither to have EKS asked');
  return { kind: 'eks', ...eks, endpoint: { server, certificateAuthorityData } };
}

function unknownKeyOf(raw: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(raw).find((key) => !entryKeys.includes(key));
}

/** The schema's finding in our words; nothing of the value is quoted, which may be a credential that slipped in. */
function problemOf(issue: z.core.$ZodIssue): string {
  const key = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') return `${key}: ${unknownKey(issue.keys[0] ?? '', eksKeys)}`;
  const advice = ADVICE[key];
  return `${key} ${faultOf(issue)}${advice === undefined ? '' : `; ${advice}`}`;
}

function faultOf(issue: z.core.$ZodIssue): string {
  const { input } = issue;
  if (input === undefined) return 'is missing';
  if (input === null || input === '') return 'is empty';
  if (issue.code === 'invalid_type') return issue.expected === 'object' ? 'is no mapping' : 'is not text';
  return issue.code === 'invalid_value' ? 'is not true' : issue.message;
}

function kubeConfigAt(at: string, context: string | undefined, registry: string, fail: Fail): KubeConfigSource {
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
