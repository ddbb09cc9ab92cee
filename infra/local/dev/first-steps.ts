/** What a newcomer is told when everything runs: where it is, and what to try. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { shellWord } from '../shell-word.ts';
import type { DevCluster } from './dev-clusters.ts';

export interface Whereabouts {
  readonly clusters: readonly DevCluster[];
  /** To be sourced in another terminal. */
  readonly envFile: string;
  readonly watcherAddress: string;
  /** After so many an object that cannot succeed is a dead letter. */
  readonly maxAttempts: number;
  /** `<apiVersion> <kind>` of each that the first code has a reconciler for. */
  readonly kinds: ReadonlySet<string>;
  /** The code is not that of functions/reconcilers/index.ts, which is what commands know. */
  readonly isOtherCode: boolean;
  /** PATH of the environment. */
  readonly path: string;
}

/** One object of events/samples, and how commands name it. */
interface Sample {
  /** As {@link Whereabouts.kinds} has it. */
  readonly kind: string;
  readonly file: string;
  readonly type: string;
  readonly name: string;
  readonly namespace?: string;
  /** The same object so that it cannot succeed, as an edit by sed. */
  readonly spoiling?: string;
}

/** That of the first kind that there is, is shown. */
const SAMPLES: readonly Sample[] = [
  { kind: 'platform.example/v1 Tenant', file: 'tenant.yaml', type: 'tenant', name: 'acme', spoiling: 's/name: acme/name: no.dots/' },
  { kind: 'platform.example/v1 QueueClaim', file: 'queue-claim.yaml', type: 'queueclaim', name: 'jobs', namespace: 'default' },
  { kind: 'platform.example/v1 Greeting', file: 'greeting.yaml', type: 'greeting', name: 'hello', namespace: 'default' },
];

/** Lines, in the order to print them. */
export function firstSteps(where: Whereabouts): string[] {
  const { clusters, envFile, watcherAddress } = where;
  const [first] = clusters;
  if (first === undefined) return [];
  return [
    ...clusters.map(({ name, kubeconfigPath }) => `kubeconfig of ${name}: ${kubeconfigPath}`),
    `watcher: ${watcherAddress}/readyz and /metrics`,
    `in another terminal: source ${shellWord(envFile)}`,
    ...hints(first, where).map((text, at) => `${at + 1}. ${text}`),
  ];
}

/** What to try there. None names an object whose kind has no reconciler: nothing would come of it. */
function hints({ name: cluster, context, isOwn }: DevCluster, { kinds, isOtherCode, maxAttempts, path }: Whereabouts): string[] {
  const sample = SAMPLES.find(({ kind }) => kinds.has(kind));
  const kubectl = `kubectl --context ${shellWord(context)}`;
  const hasKubectl = hasProgram('kubectl', path);
  const change = `change ${sample?.type === 'tenant' && !isOtherCode ? 'functions/reconcilers/tenant.ts' : 'a reconciler'} and save it: the function is swapped`;
  const apply = 'apply objects of your own: start again with npm run dev -- --apply FILE (kubectl is not on the PATH)';
  if (sample === undefined) {
    if (isOwn && !hasKubectl) return [change, apply];
    return [`make an object of your own: ${kubectl} apply --server-side -f FILE`, change];
  }
  const { file, type, name, namespace, spoiling } = sample;
  const place = namespace === undefined ? '' : `-n ${namespace} `;
  const reconcile = `npm run -s dogwatch -- reconcile ${type}/${name} ${place}--cluster ${cluster}`;
  const byHand = (what: string): string[] => (isOtherCode ? [] : [`run ${what} by hand: ${reconcile}`]);
  if (!isOwn) return [`make an object where you may: ${kubectl} apply --server-side -f events/samples/${file}`, ...byHand('it'), change];
  if (!hasKubectl) return [...byHand('an object'), change, apply];
  return [
    ...byHand('an object'),
    `pause it: ${kubectl} annotate ${place}${type} ${name} dogwatch.dev/paused=true (and go on: dogwatch.dev/paused-)`,
    spoiling === undefined
      ? change
      : `one that cannot succeed, a dead letter after ${maxAttempts} attempts: sed '${spoiling}' events/samples/${file} | ${kubectl} apply --server-side -f -`,
  ];
}

function hasProgram(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
