/** A kind that is not ours as a source: each ConfigMap with the label `copy` makes another one with its data. */

import { describeResource } from '../../../functions/core/described-resource.ts';
import { configMaps } from '../../../functions/core/kinds.ts';
import { all, labelChanged, labelsMatch } from '../../../functions/core/predicates.ts';
import { defineReconciler, type Reconciler } from '../../../functions/core/reconciler.ts';

const copies = defineReconciler({
  resource: describeResource(configMaps),
  owns: [configMaps],
  watch: { labelSelector: { copy: 'yes' }, predicate: all(labelsMatch('!held'), labelChanged('tier')) },
  async reconcile({ object }) {
    const { name, namespace = '', labels = {} } = object.metadata;
    const data = { ...(object['data'] as Record<string, string>), tier: labels['tier'] ?? 'none' };
    return { apply: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-copy`, namespace }, data }] };
  },
});

export const reconcilers: readonly Reconciler[] = [copies];
