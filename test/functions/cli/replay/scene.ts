/** `dogwatch replay` on fakes: a queue of letters, clusters, a clock, and what was printed. */
import type { KubernetesClient } from '../../../../functions/adapters/kubernetes/port.ts';
import type { Desk } from '../../../../functions/cli/replay/desk.ts';
import type { Reconciler } from '../../../../functions/core/reconciler.ts';
import { queueClaim } from '../../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeCluster } from '../../../fakes/kubernetes-client.ts';
import { FakeLetterQueue } from '../../../fakes/letter-queue.ts';
import { after } from '../../core/example-data.ts';

export class ReplayScene {
  /** An hour after the letters' noon. */
  readonly clock = new FakeClock({ start: after(3600) });
  readonly queue = new FakeLetterQueue(this.clock);
  readonly stop = new AbortController();
  readonly east = new FakeCluster({ name: 'east' });
  readonly west = new FakeCluster({ name: 'west' });
  readonly printed: string[] = [];
  readonly said: string[] = [];
  readonly source = {
    clientOf: (cluster: string): KubernetesClient | string =>
      [this.east, this.west].find(({ name }) => name === cluster)?.client ?? 'unknown-cluster',
    reconcilers: [tenant, queueClaim] as unknown as Reconciler[],
  };

  async desk(json = false): Promise<Desk> {
    const { queue, clock, stop } = this;
    const print = (line: string): void => void this.printed.push(line);
    const say = (line: string): void => void this.said.push(line);
    return { queue, clock, stop: stop.signal, description: await queue.describe(), json, print, say };
  }

  /** A tenant of east; `status` is as its last run left it. Returns its uid. */
  tenant(name: string, status: Readonly<Record<string, unknown>> = {}): string {
    const { metadata } = this.east.create(tenant.resource, { name }, { spec: { password: 'hunter2' }, status });
    return metadata.uid;
  }
}
