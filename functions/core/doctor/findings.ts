/** All findings about a deployment. */

import type { Declared } from '../rights.ts';
import { SETTINGS } from '../settings.ts';
import { clusterFindings } from './cluster-checks.ts';
import type { DeploymentFacts } from './facts.ts';
import { type Finding, findingsOn, howToAskAws, isAbsentInAws } from './finding.ts';
import { functionFindings } from './function-checks.ts';
import { queueFindings } from './queue-checks.ts';

export interface Judgement {
  readonly reconcilers: readonly Declared[];
  /** What is configured for the function's time-out here; counts where its real one is not known. */
  readonly functionTimeoutSeconds?: number;
}

/** One for each check, in the order in which one looks: registry, clusters, queues, function. */
export function findingsOf(facts: DeploymentFacts, { reconcilers, functionTimeoutSeconds }: Judgement): Finding[] {
  const { configuration, mappings } = facts.function ?? {};
  const timeoutSeconds =
    configuration?.kind === 'told'
      ? configuration.value.timeoutSeconds
      : (functionTimeoutSeconds ?? Number(SETTINGS.functionTimeoutSeconds.defaultText));
  const windowSecondsOf = (queueArn: string): number =>
    mappings?.kind === 'told' ? (mappings.value.find((mapping) => mapping.queueArn === queueArn)?.windowSeconds ?? 0) : 0;
  return [
    registryFinding(facts.registry),
    ...facts.clusters.flatMap((cluster) => clusterFindings(cluster, reconcilers)),
    ...queueFindings(facts.queues, { functionTimeoutSeconds: timeoutSeconds, windowSecondsOf }),
    ...functionFindings(facts.function, facts.queues),
  ];
}

function registryFinding(registry: DeploymentFacts['registry']): Finding {
  const on = findingsOn('registry');
  if (registry.kind === 'told') {
    const { label, names } = registry.value;
    return on.ok('read', `${label}: ${names.join(', ')}`);
  }
  const { code, says } = registry;
  if (code === 'unnamed') return on.notChecked('read', says, 'Set DOGWATCH_CLUSTERS to the registry, as watcher and function have it.');
  if (registry.by === 'aws') return on.notChecked('read', says, howToAskAws(code, 'ssm:GetParameter or secretsmanager:GetSecretValue'));
  return on.failure('read', says, howToReadRegistry(code));
}

/** Where it is not found, its form is not the matter. */
function howToReadRegistry(code: string): string {
  if (code === 'registry-unreadable')
    return 'Set DOGWATCH_CLUSTERS to the registry, as watcher and function have it; infra/clusters.example.yml is one to begin with.';
  if (!isAbsentInAws(code)) return 'Mend it as it says; infra/clusters.example.yml shows its form.';
  const command = code.startsWith('Parameter') ? 'aws ssm put-parameter' : 'aws secretsmanager create-secret';
  return `Write the registry there (${command}), or set AWS_REGION and credentials to region and account in which it lies.`;
}
