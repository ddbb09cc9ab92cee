/** `node dist/replay.cjs plan` as whoever waits for it sees it, with its memory as the kernel counts it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dump } from 'js-yaml';
import { localAwsEnv } from '../../infra/local/local-queues.ts';
import type { LettersReady } from './scripted-letters.ts';
import { kubeconfigText } from './scripted-process.ts';

export interface PlanOrder {
  /** Folder of replay.cjs. */
  readonly dist: string;
  readonly letters: number;
  readonly objects: number;
}

export interface PlanRun {
  /** From the start of its process until the plan was there, and until it had ended, with every letter given back. */
  readonly planSeconds: number;
  readonly endSeconds: number;
  /** MB of a million bytes that were ever resident (VmHWM). */
  readonly peakMb: number;
}

const LOOK_MS = 20;

/** A folder with a registry that holds the cluster as `east`; `drop` removes it. */
export function registryOf({ url, ca }: Pick<LettersReady, 'url' | 'ca'>): { readonly dir: string; readonly path: string; drop(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-bench-'));
  writeFileSync(join(dir, 'east.yaml'), kubeconfigText(url, ca));
  const path = join(dir, 'clusters.yml');
  writeFileSync(path, dump({ clusters: [{ name: 'east', kubeconfig: './east.yaml' }] }));
  return { dir, path, drop: () => rmSync(dir, { recursive: true, force: true }) };
}

/** One plan of all letters. @throws Error where it fails, or is not about so many letters and objects */
export async function measurePlan(
  { dist, letters, objects }: PlanOrder,
  queue: Pick<LettersReady, 'endpoint' | 'queueUrl'>,
  cluster: Pick<LettersReady, 'url' | 'ca'>,
): Promise<PlanRun> {
  const registry = registryOf(cluster);
  const env = {
    ...localAwsEnv(queue.endpoint),
    DOGWATCH_CLUSTERS: registry.path,
    DOGWATCH_DEAD_LETTER_QUEUE_URL: queue.queueUrl,
  };
  const startMs = performance.now();
  const secondsFrom = (): number => (performance.now() - startMs) / 1000;
  const words = [join(dist, 'replay.cjs'), 'plan', '--json', '--out', join(registry.dir, 'plan.json')];
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let peakMb = 0;
  const looking = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child.pid));
  }, LOOK_MS);
  try {
    let planSeconds = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      planSeconds = secondsFrom();
      const plan = JSON.parse(line) as Pick<PlanOrder, 'letters' | 'objects'>;
      if (plan.letters !== letters || plan.objects !== objects) throw new Error(`planned ${line}`);
    }
    const [code] = await ended;
    if (code !== 0 || planSeconds === 0) throw new Error(`replay plan ended with ${code}`);
    return { planSeconds, endSeconds: secondsFrom(), peakMb };
  } finally {
    clearInterval(looking);
    child.kill();
    registry.drop();
  }
}

/** 0 of a process that has ended. The kernel says kB and means 1024 bytes. */
function peakOf(pid: number | undefined): number {
  try {
    return (Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024) / 1e6;
  } catch {
    return 0;
  }
}
