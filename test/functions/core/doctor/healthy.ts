/** The facts of a deployment in which all is well: what serverless.yml makes, and one cluster that has all that the samples need. */

import { customResourceDefinition } from '../../../../functions/core/custom-resource-definition.ts';
import type {
  AnsweredRight,
  ClusterFacts,
  DeploymentFacts,
  EventSourceMapping,
  FunctionConfiguration,
  FunctionFacts,
  QueueAttributes,
  QueueFacts,
  ServedResource,
} from '../../../../functions/core/doctor/facts.ts';
import type { Asked } from '../../../../functions/core/doctor/finding.ts';
import { groupVersionOf, kindsOf } from '../../../../functions/core/doctor/kind-checks.ts';
import { fullNameOf } from '../../../../functions/core/kind-names.ts';
import { rightsOf } from '../../../../functions/core/rights.ts';
import type { Unit } from '../../../../functions/core/settings.ts';
import { reconcilers } from '../../../../functions/reconcilers/index.ts';

export const told = <Value>(value: Value): Asked<Value> => ({ kind: 'told', value });
export const untold = (code: string, by?: 'aws'): Asked<never> => ({
  kind: 'untold',
  code,
  says: `it was ${code}`,
  ...(by === undefined ? {} : { by }),
});

export const ARN = 'arn:aws:sqs:eu-west-1:111122223333:dogwatch-dev';
export const URL_OF = 'https://sqs.eu-west-1.amazonaws.com/111122223333/dogwatch-dev';

/** All rights, answered alike. */
export function answered(unit: Unit, isAllowed: (right: AnsweredRight['right']) => Asked<boolean> = () => told(true)): AnsweredRight[] {
  return rightsOf(unit, reconcilers).map((right) => ({ right, isAllowed: isAllowed(right) }));
}

export function servedKinds(): Map<string, Asked<readonly ServedResource[] | undefined>> {
  const served = new Map<string, ServedResource[]>();
  for (const type of kindsOf(reconcilers)) {
    const entry = { name: type.plural, kind: type.kind, isNamespaced: type.scope === 'Namespaced' };
    const status = { ...entry, name: `${type.plural}/status` };
    served.set(groupVersionOf(type), [...(served.get(groupVersionOf(type)) ?? []), entry, status]);
  }
  return new Map([...served].map(([name, entries]) => [name, told<readonly ServedResource[] | undefined>(entries)]));
}

export function storedCrds(): Map<string, Asked<unknown>> {
  const ours = reconcilers.flatMap(({ resource }) => (resource.isDescribed ? [] : [resource]));
  return new Map(ours.map((resource) => [fullNameOf(resource), told<unknown>(customResourceDefinition(resource))]));
}

export function cluster(change: Partial<ClusterFacts> = {}): ClusterFacts {
  return {
    name: 'east',
    server: told({ version: 'v1.36.2', skewSeconds: 0.4 }),
    user: told('dogwatch'),
    rights: { watcher: answered('watcher'), reconcile: answered('reconcile') },
    served: servedKinds(),
    definitions: storedCrds(),
    ...change,
  };
}

export function queue(name: 'live' | 'bulk' | 'dead-letters', change: Partial<QueueAttributes> = {}): QueueFacts {
  const work = name !== 'dead-letters';
  const attributes: QueueAttributes = {
    arn: `${ARN}-${name}`,
    visibilitySeconds: work ? 180 : 30,
    retentionSeconds: work ? 345_600 : 1_209_600,
    redrive: work ? { targetArn: `${ARN}-dead-letters`, maxReceiveCount: 5 } : undefined,
    redriveAllow: work ? undefined : { permission: 'byQueue', sourceArns: [`${ARN}-live`, `${ARN}-bulk`] },
  };
  return { url: `${URL_OF}-${name}`, attributes: told({ ...attributes, ...change }) };
}

export function queues(change: Partial<DeploymentFacts['queues']> = {}): DeploymentFacts['queues'] {
  return { live: queue('live'), bulk: queue('bulk'), 'dead-letters': queue('dead-letters'), ...change };
}

export const configuration = (change: Partial<FunctionConfiguration> = {}): FunctionConfiguration => ({
  runtime: 'nodejs24.x',
  timeoutSeconds: 30,
  environment: environment(),
  state: 'Active',
  lastUpdate: 'Successful',
  reason: undefined,
  ...change,
});

export const environment = (change: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  DOGWATCH_CLUSTERS: 'ssm:/dogwatch/dev/clusters',
  DOGWATCH_QUEUE_URL: `${URL_OF}-live`,
  DOGWATCH_BULK_QUEUE_URL: `${URL_OF}-bulk`,
  DOGWATCH_DEAD_LETTER_QUEUE_URL: `${URL_OF}-dead-letters`,
  DOGWATCH_FUNCTION_TIMEOUT_SECONDS: '30',
  ...change,
});

export const mapping = (lane: 'live' | 'bulk', change: Partial<EventSourceMapping> = {}): EventSourceMapping => ({
  id: `id-${lane}`,
  queueArn: `${ARN}-${lane}`,
  state: 'Enabled',
  responseTypes: ['ReportBatchItemFailures'],
  maximumConcurrency: lane === 'live' ? 10 : 5,
  windowSeconds: 0,
  hasFilter: false,
  ...change,
});

export function lambda(change: Partial<FunctionFacts> = {}): FunctionFacts {
  return {
    name: 'dogwatch-dev-reconcile',
    configuration: told(configuration()),
    mappings: told([mapping('live'), mapping('bulk')]),
    recursiveLoop: told('Allow'),
    reservedConcurrency: told(undefined),
    ...change,
  };
}

export function deployment(change: Partial<DeploymentFacts> = {}): DeploymentFacts {
  return {
    registry: told({ label: 'clusters.yml', names: ['east'] }),
    clusters: [cluster()],
    queues: queues(),
    function: lambda(),
    ...change,
  };
}
