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
  /** PATH of the environment. */
  readonly path: string;
}

/** Lines, in the order to print them. The names are those of events/samples. */
export function firstSteps({ clusters, envFile, watcherAddress, maxAttempts, path }: Whereabouts): string[] {
  const [first] = clusters;
  if (first === undefined) return [];
  const kubectl = `kubectl --context ${shellWord(first.context)}`;
  const reconcile = `npm run -s dogwatch -- reconcile tenant/acme --cluster ${first.name}`;
  return [
    ...clusters.map(({ name, kubeconfigPath }) => `kubeconfig of ${name}: ${kubeconfigPath}`),
    `watcher: ${watcherAddress}/readyz and /metrics`,
    `in another terminal: source ${shellWord(envFile)}`,
    ...(!first.isOwn
      ? [
          `1. make an object where you may: ${kubectl} apply --server-side -f events/samples/tenant.yaml`,
          `2. run it by hand: ${reconcile}`,
          '3. change functions/reconcilers/tenant.ts and save it: the function is swapped',
        ]
      : hasProgram('kubectl', path)
        ? [
            `1. run an object by hand: ${reconcile}`,
            `2. pause it: ${kubectl} annotate tenant acme dogwatch.dev/paused=true (and go on: dogwatch.dev/paused-)`,
            `3. one that cannot succeed, a dead letter after ${maxAttempts} attempts: sed 's/name: acme/name: no.dots/' events/samples/tenant.yaml | ${kubectl} apply --server-side -f -`,
          ]
        : [
            `1. run an object by hand: ${reconcile}`,
            '2. change functions/reconcilers/tenant.ts and save it: the function is swapped',
            '3. apply objects of your own: start again with npm run dev -- --apply FILE (kubectl is not on the PATH)',
          ]),
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
