/** A kind that wants to run again, whatever else happens: every `everySeconds`, with one child. */
import * as z from 'zod';
import { configMaps } from '../../../functions/core/kinds.ts';
import { defineReconciler, type Reconciler } from '../../../functions/core/reconciler.ts';
import { defineResource } from '../../../functions/core/resource-definition.ts';

export const beatResource = defineResource({
  group: 'test.dogwatch.dev',
  version: 'v1',
  kind: 'Beat',
  plural: 'beats',
  scope: 'Namespaced',
  spec: z.object({ everySeconds: z.int().min(0), text: z.string() }),
  status: z.object({ text: z.string() }),
});

const beat = defineReconciler({
  resource: beatResource,
  owns: [configMaps],
  async reconcile({ object: { metadata, spec } }) {
    const { name, namespace = '' } = metadata;
    return {
      apply: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { text: spec.text } }],
      status: { text: spec.text },
      ...(spec.everySeconds === 0 ? {} : { requeueAfterSeconds: spec.everySeconds }),
    };
  },
});

export const reconcilers: readonly Reconciler[] = [beat];
