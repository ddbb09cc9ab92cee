/** `dogwatch explain` on fakes: clusters, a dead-letter queue, a watcher's pages, a clock, and what was printed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExplainPorts, Page } from '../../../functions/cli/explain/ports.ts';
import { type ExplainOptions, explainObject } from '../../../functions/cli/explain.ts';
import type { Desk } from '../../../functions/cli/replay/desk.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { Reconciler } from '../../../functions/core/reconciler.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { FakeLetterQueue } from '../../fakes/letter-queue.ts';
import { cluster } from '../core/doctor/healthy.ts';
import { after } from '../core/example-data.ts';

/** When all is asked. */
const ASKED = after(3600);

export class ExplainScene implements Disposable {
  readonly clock = new FakeClock({ start: ASKED });
  readonly queue = new FakeLetterQueue(this.clock);
  readonly clusters = ['east', 'west'].map((name) => new FakeCluster({ name, now: () => after(0) }));
  readonly printed: string[] = [];
  readonly said: string[] = [];
  /** By path; what is not here does not answer. */
  readonly pages = new Map<string, Page>();
  /** Names of clusters whose entry cannot be used. */
  readonly unusable = new Set<string>();
  /** What looking at the queue throws. */
  queueFault: Error | undefined;
  env: Record<string, string>;
  readonly #dir = mkdtempSync(join(tmpdir(), 'dogwatch-explain-'));

  /** @param names of the clusters in the registry */
  constructor(names: readonly string[] = ['east', 'west']) {
    const path = join(this.#dir, 'clusters.yml');
    writeFileSync(path, JSON.stringify({ clusters: names.map((name) => ({ name, eks: { cluster: name, region: 'eu-west-1' } })) }));
    this.env = { DOGWATCH_CLUSTERS: path };
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }

  get east(): FakeCluster {
    return this.clusters[0] as FakeCluster;
  }

  get west(): FakeCluster {
    return this.clusters[1] as FakeCluster;
  }

  /** The exit code. @throws ConfigError for what is used wrongly */
  explain(words: string, options: ExplainOptions = {}): Promise<number> {
    this.printed.length = 0;
    return this.clock.finish(explainObject(this.env, words, options, this.#ports()));
  }

  /** What `--json` prints. */
  async json(words: string, options: ExplainOptions = {}): Promise<Record<string, unknown>> {
    await this.explain(words, { ...options, json: true });
    return JSON.parse(this.printed.join('\n')) as Record<string, unknown>;
  }

  /** Kind of the verdict. */
  async verdict(words: string, options: ExplainOptions = {}): Promise<unknown> {
    return (await this.json(words, options))['verdict'];
  }

  #ports(): ExplainPorts {
    const { clock } = this;
    const find = (name: string): FakeCluster => this.clusters.find((one) => one.name === name) as FakeCluster;
    const print = (line: string): void => void this.printed.push(line);
    const say = (line: string): void => void this.said.push(line);
    return {
      reconcilers: [tenant, queueClaim] as unknown as Reconciler[],
      clock,
      connect: ({ name }) => {
        if (this.unusable.has(name)) throw new ConfigError('kubeconfig-unreadable', `${name}: its kubeconfig does not exist`);
        return find(name).client;
      },
      askCluster: async ({ name }) => cluster({ name }),
      atDesk: async (_env, { json = false }, work) => {
        if (this.queueFault !== undefined) throw this.queueFault;
        const { queue } = this;
        const desk: Desk = { queue, clock, stop: new AbortController().signal, description: await queue.describe(), json, print, say };
        return work(desk);
      },
      fetchPage: async ({ pathname }) => {
        const page = this.pages.get(pathname);
        if (page === undefined) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
        return page;
      },
      print,
      say,
    };
  }
}
