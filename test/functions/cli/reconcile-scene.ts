/** `dogwatch reconcile` on fakes: a cluster, a queue, a clock, and what was printed. */
import * as z from 'zod';
import type { ObjectAddress } from '../../../events/resource.ts';
import type { Manual } from '../../../functions/cli/manual.ts';
import { hasLabel } from '../../../functions/core/predicates.ts';
import { defineReconciler, type Reconciler } from '../../../functions/core/reconciler.ts';
import { defineResource } from '../../../functions/core/resource-definition.ts';
import type { WatchDeclaration } from '../../../functions/core/watch-rules.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { FakeQueue } from '../../fakes/queue.ts';

export const BULK_URL = 'https://sqs.eu-central-1.amazonaws.com/111122223333/dogwatch-bulk';

export const claims = defineResource({
  group: 'platform.example',
  version: 'v1',
  kind: 'Claim',
  plural: 'claims',
  scope: 'Namespaced',
  spec: z.object({}),
  status: z.object({}),
});

/** A predicate that admits what has the label `tier`. */
export const ONLY_WITH_TIER: WatchDeclaration = { predicate: hasLabel('tier') };

export class ManualScene {
  readonly cluster = new FakeCluster({ name: 'east' });
  readonly queue = new FakeQueue();
  readonly clock = new FakeClock();
  readonly printed: string[] = [];
  readonly said: string[] = [];

  manual(over: { watch?: WatchDeclaration; finalizer?: string; json?: boolean } = {}): Manual {
    const { watch = {}, finalizer, json = false } = over;
    const finalization = finalizer === undefined ? {} : { finalizer, finalize: async () => ({ done: true }) as const };
    const reconciler = defineReconciler({ resource: claims, watch, ...finalization, reconcile: async () => ({ status: {} }) });
    return {
      client: this.cluster.client,
      reconciler: reconciler as unknown as Reconciler,
      queue: this.queue,
      queueUrl: BULK_URL,
      clock: this.clock,
      json,
      print: (line) => this.printed.push(line),
      say: (line) => this.said.push(line),
    };
  }

  claim(name: string, metadata: Readonly<Record<string, unknown>> = {}, namespace = 'team'): ObjectAddress {
    this.cluster.create(claims, { namespace, name }, { spec: {}, metadata });
    return { namespace, name };
  }

  claims(count: number, namespace = 'team'): void {
    for (let at = 0; at < count; at += 1) this.claim(`c-${at}`, {}, namespace);
  }

  names(): string[] {
    return this.queue.envelopes(BULK_URL).map(({ data }) => data.name);
  }

  /** What `work` comes to, time moving on whenever nothing else does. */
  finish<Result>(work: Promise<Result>): Promise<Result> {
    return this.clock.finish(work);
  }
}
