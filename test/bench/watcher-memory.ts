/**
 * Peak memory of the built watcher: after its first list, after half a minute of changes, after the list was read again. The
 * list is where informers peak, so VmHWM is read, which forgets nothing.
 */

import { tenant } from '../../functions/reconcilers/tenant.ts';
import { localAwsEnv } from '../../infra/local/local-queues.ts';
import { startLocalQueues } from '../../infra/local/queue.ts';
import { type Lab, startLab } from '../../infra/local/start-lab.ts';
import { until } from '../real/api.ts';
import { churnTenants, createTenants } from './real-tenants.ts';
import { startScriptedServer } from './scripted-process.ts';
import { type MeasuredWatcher, type Memory, startMeasuredWatcher } from './watcher-process.ts';

/** One line of the result. */
export interface MemoryStep {
  /** What was done before it. */
  readonly step: string;
  readonly seconds: number;
  /** User and system time of the watcher since its start. */
  readonly cpuSeconds: number;
  readonly memory: Memory;
  /** Messages sent so far. */
  readonly sent: number;
}

export interface MemoryOptions {
  /** Folder of watcher.cjs. */
  readonly dist: string;
  readonly objects: number;
  readonly churnSeconds: number;
  readonly flags?: readonly string[] | undefined;
}

const QUEUES = { live: 'bench-live', bulk: 'bench-bulk' } as const;
/** What a busy cluster does: status writes of other controllers, mostly. */
const SCRIPTED_CHANGES_PER_SECOND = 500;
/** What an API server on two cores can take beside the rest. */
const REAL_CHANGES_PER_SECOND = 50;

/** Over a scripted server: all objects Tenants, or one of each kind they own for each. Steps: first list, changes, second list. */
export async function measureScripted(options: MemoryOptions & { readonly children?: boolean }): Promise<MemoryStep[]> {
  const { dist, objects, children = false, churnSeconds, flags } = options;
  const queues = await startLocalQueues({ queues: Object.values(QUEUES).map((name) => ({ name })) });
  const kinds = children ? 1 + tenant.owns.length : 1;
  const server = await startScriptedServer(objects / kinds, { children });
  const steps = new Steps();
  try {
    const env = {
      ...localAwsEnv(queues.endpoint),
      DOGWATCH_CLUSTERS: server.registryPath,
      DOGWATCH_QUEUE_URL: queues.queueUrl(QUEUES.live),
      DOGWATCH_BULK_QUEUE_URL: queues.queueUrl(QUEUES.bulk),
    };
    const watcher = await startMeasuredWatcher(dist, env, flags);
    try {
      await watcher.knows(objects);
      await steps.add('first list', watcher);
      await server.ask({ kind: 'churn', perSecond: SCRIPTED_CHANGES_PER_SECOND, seconds: churnSeconds });
      await steps.add('changes', watcher);
      await server.ask({ kind: 'expire' });
      await listedAgain(watcher, objects);
      await steps.add('second list', watcher);
    } finally {
      await watcher.stop();
    }
  } finally {
    server.stop();
    await queues.stop();
  }
  return steps.all;
}

/** Over a real API server, on objects that are created first. Steps: first list, changes, and where it is restarted a second list. */
export async function measureReal(options: MemoryOptions & { readonly restart: boolean }): Promise<MemoryStep[]> {
  const { dist, objects, churnSeconds, flags, restart } = options;
  const lab: Lab = await startLab({ controllers: false, queue: 'local-aws-sqs' });
  const steps = new Steps();
  try {
    const plane = lab.clusters.get('east');
    if (plane === undefined) throw new Error('the lab has no cluster');
    await createTenants(plane, objects);
    steps.restart();
    const watcher = await startMeasuredWatcher(dist, lab.envFor('dogwatch-watcher'), flags);
    try {
      await watcher.knows(objects);
      await steps.add('first list', watcher);
      await churnTenants(plane, objects, REAL_CHANGES_PER_SECOND, churnSeconds);
      await steps.add('changes', watcher);
      if (restart) {
        // An API server that was restarted has forgotten the history of every kind.
        await plane.stopApiServer();
        await plane.startApiServer();
        await listedAgain(watcher, objects);
        await steps.add('second list', watcher);
      }
    } finally {
      await watcher.stop();
    }
  } finally {
    await lab.stop();
  }
  return steps.all;
}

async function listedAgain(watcher: MeasuredWatcher, objects: number): Promise<void> {
  const isBegun = async (): Promise<true | undefined> => (await watcher.metric('dogwatch_relists_total')) > 0 || undefined;
  await until('a list is read again', isBegun, 90_000);
  await watcher.knows(objects);
}

class Steps {
  readonly all: MemoryStep[] = [];
  #beganMs = Date.now();

  restart(): void {
    this.#beganMs = Date.now();
  }

  async add(step: string, watcher: MeasuredWatcher): Promise<void> {
    const seconds = (Date.now() - this.#beganMs) / 1000;
    const sent = await watcher.metric('dogwatch_sends_total', 'result="sent"');
    const cpuSeconds = await watcher.metric('process_cpu_seconds_total');
    this.all.push({ step, seconds, cpuSeconds, sent, memory: await watcher.memory() });
    this.restart();
  }
}
