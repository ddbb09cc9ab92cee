/** A kind whose reconciler does what its spec says, wrong things included. Built into a bundle with `--reconcilers`. */
import * as z from 'zod';
import { configMaps } from '../../../functions/core/kinds.ts';
import { defineReconciler, type Plan, type Reconciler } from '../../../functions/core/reconciler.ts';
import { defineResource } from '../../../functions/core/resource-definition.ts';

export const faultyResource = defineResource({
  group: 'test.dogwatch.dev',
  version: 'v1',
  kind: 'Faulty',
  plural: 'faulties',
  scope: 'Namespaced',
  spec: z.object({ mode: z.enum(['ok', 'throw', 'throw-string', 'hang', 'nonsense', 'bad-status', 'mutate']) }),
  status: z.object({ size: z.int() }),
});

interface Status {
  size: number;
}

const faulty = defineReconciler({
  resource: faultyResource,
  owns: [configMaps],
  async reconcile({ object }): Promise<Plan<Status>> {
    const { name, namespace = '' } = object.metadata;
    const plan: Plan<Status> = {
      apply: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { mode: object.spec.mode } }],
      status: { size: 1 },
    };
    switch (object.spec.mode) {
      case 'ok':
        return plan;
      case 'throw':
        throw new Error('the author was wrong');
      case 'throw-string':
        throw 'not even an Error';
      case 'hang':
        return new Promise<never>(() => {});
      case 'nonsense':
        return 'nonsense' as unknown as Plan<Status>;
      case 'bad-status':
        return { ...plan, status: { size: 'large' } as unknown as Status };
      case 'mutate':
        (object.metadata as { name: string }).name = 'another';
        return plan;
      default:
        return object.spec.mode satisfies never;
    }
  },
});

export const reconcilers: readonly Reconciler[] = [faulty];
