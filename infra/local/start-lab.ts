import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { dump } from 'js-yaml';
import { controlPlaneAssets, programsFor } from './control-plane/build.ts';
import { type ControlPlane, startControlPlane } from './control-plane/control-plane.ts';
import type { ControlPlaneUser } from './control-plane/users.ts';
import { startElasticMq } from './elasticmq/elasticmq.ts';
import { type LocalQueues, localAwsEnv, type QueueSpec } from './local-queues.ts';
import { onParentExit } from './parent-exit.ts';
import { startLocalQueues } from './queue.ts';

export interface LabOptions {
  /** One control plane each, by the name it has in the registry. Default: `east`. */
  readonly clusters?: readonly string[];
  /** Each control plane writes its audit log. Default: false. */
  readonly auditLog?: boolean;
  /** Run kube-controller-manager. Default: true. */
  readonly controllers?: boolean;
  /** Further flags of every kube-apiserver. */
  readonly flags?: readonly string[];
  /** Further users of every control plane. */
  readonly users?: readonly ControlPlaneUser[];
  /** Which program stands in for SQS. Default: `elasticmq`. */
  readonly queue?: 'elasticmq' | 'local-aws-sqs';
  /** Of the work queues. Default: 30. */
  readonly visibilitySeconds?: number;
  /** Of the work queues. Default: 5. */
  readonly maxReceiveCount?: number;
  /** Keeps the clusters' state there. Default: a temporary folder. */
  readonly dir?: string;
}

/** Clusters, queues and a registry: all that the product needs around it, on this machine. */
export interface Lab {
  readonly dir: string;
  readonly clusters: ReadonlyMap<string, ControlPlane>;
  readonly queues: LocalQueues;
  /** A cluster registry in which every kubeconfig is that of the user `dogwatch`. */
  readonly registryPath: string;
  /** The same for another user, so that the audit log tells requests apart: `dogwatch-watcher`, `dogwatch-reconcile`. */
  registryFor(user: string): string;
  /** The product's environment; KUBECONFIG is the first cluster's, as its admin. */
  readonly env: Readonly<Record<string, string>>;
  /** The same with the registry of another user. */
  envFor(user: string): Readonly<Record<string, string>>;
  /** Ends everything. */
  stop(): Promise<void>;
}

const queueNames = { work: 'dogwatch-work', bulk: 'dogwatch-bulk', deadLetters: 'dogwatch-dead-letters' } as const;

/** Starts a lab, its parts at once. @throws what kept a part from starting, after the others were stopped */
export async function startLab(options: LabOptions = {}): Promise<Lab> {
  const names = options.clusters ?? ['east'];
  const keep = options.dir !== undefined;
  const dir = options.dir === undefined ? mkdtempSync(join(tmpdir(), 'dogwatch-lab-')) : resolve(options.dir);
  mkdirSync(dir, { recursive: true });
  const removeDir = () => {
    if (!keep) rmSync(dir, { recursive: true, force: true });
  };
  const forget = onParentExit(removeDir);
  const startingQueues = startQueues(options, dir);
  const startingClusters = startClusters(names, options, dir, keep);
  const stop = async () => {
    const parts = (await Promise.allSettled([startingQueues, ...startingClusters])).filter((part) => part.status === 'fulfilled');
    const stopped = await Promise.allSettled(parts.map(({ value }) => value.stop()));
    removeDir();
    forget();
    const failed = stopped.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  };
  try {
    const [queues, ...controlPlanes] = await Promise.all([startingQueues, ...startingClusters]);
    const clusters = new Map(controlPlanes.map((controlPlane) => [controlPlane.name, controlPlane]));
    return describeLab(dir, clusters, queues, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

function describeLab(dir: string, clusters: ReadonlyMap<string, ControlPlane>, queues: LocalQueues, stop: () => Promise<void>): Lab {
  const registryFor = (user: string): string => {
    const path = join(dir, user === 'dogwatch' ? 'clusters.yml' : `clusters-${user}.yml`);
    const entries = [...clusters].map(([name, { kubeconfigFor }]) => ({
      name,
      kubeconfig: `./${relative(dir, kubeconfigFor(user).path)}`,
    }));
    writeFileSync(path, dump({ clusters: entries }));
    return path;
  };
  const envFor = (user: string) => ({
    DOGWATCH_CLUSTERS: registryFor(user),
    DOGWATCH_QUEUE_URL: queues.queueUrl(queueNames.work),
    DOGWATCH_BULK_QUEUE_URL: queues.queueUrl(queueNames.bulk),
    DOGWATCH_DEAD_LETTER_QUEUE_URL: queues.queueUrl(queueNames.deadLetters),
    ...localAwsEnv(queues.endpoint),
    KUBECONFIG: [...clusters.values()][0]?.kubeconfigPath ?? '',
  });
  return { dir, clusters, queues, registryPath: registryFor('dogwatch'), registryFor, env: envFor('dogwatch'), envFor, stop };
}

function startClusters(names: readonly string[], options: LabOptions, labDir: string, keepState: boolean): Promise<ControlPlane>[] {
  if (names.length === 0) return [];
  // Built here first, else each of several clusters would build the programs for itself.
  const built = controlPlaneAssets(programsFor({ controllers: options.controllers ?? true }));
  return names.map(async (name) => {
    await built;
    return await startCluster(name, options, labDir, keepState);
  });
}

async function startCluster(name: string, options: LabOptions, labDir: string, keepState: boolean): Promise<ControlPlane> {
  return await startControlPlane({
    name,
    dir: join(labDir, name),
    keepState,
    controllers: options.controllers ?? true,
    auditLog: options.auditLog ?? false,
    flags: options.flags ?? [],
    users: options.users ?? [],
  });
}

async function startQueues(options: LabOptions, labDir: string): Promise<LocalQueues> {
  const visibilitySeconds = options.visibilitySeconds ?? 30;
  const deadLetter = { name: queueNames.deadLetters, maxReceiveCount: options.maxReceiveCount ?? 5 };
  const queues: QueueSpec[] = [
    { name: queueNames.deadLetters, visibilitySeconds },
    { name: queueNames.work, visibilitySeconds, deadLetter },
    { name: queueNames.bulk, visibilitySeconds, deadLetter },
  ];
  switch (options.queue ?? 'elasticmq') {
    case 'elasticmq':
      return await startElasticMq({ queues, dir: join(labDir, 'elasticmq') });
    case 'local-aws-sqs':
      return await startLocalQueues({ queues });
  }
}
