/** `dogwatch doctor`: what is wrong with a deployment, and what to do about it. It changes nothing. */
import { type Environment, readSetting } from '../core/config.ts';
import type { DeploymentFacts } from '../core/doctor/facts.ts';
import { exitCodeOf, type Finding } from '../core/doctor/finding.ts';
import { findingsOf } from '../core/doctor/findings.ts';
import { ConfigError } from '../core/errors.ts';
import type { Declared } from '../core/rights.ts';
import type { Unit } from '../core/settings.ts';
import { reconcilers } from '../reconcilers/index.ts';
import { type AskOptions, askClusters } from './doctor/cluster-facts.ts';
import { askDeployment, askRegistry, type Named } from './doctor/deployment-facts.ts';
import { countsOf, reportText } from './doctor/report.ts';
import type { ExitCode } from './main.ts';

export interface DoctorOptions extends Named {
  readonly cluster?: string;
  readonly for?: Unit;
  readonly json?: boolean;
}

/** All that is asked of AWS ends after this. */
const AWS_LIMIT_MS = 25_000;

/** Prints all findings. @throws ConfigError for a --cluster that is not in the registry */
export async function doctor(env: Environment, options: DoctorOptions): Promise<ExitCode> {
  const findings = await examine(env, options, reconcilers);
  console.log(options.json === true ? JSON.stringify({ counts: countsOf(findings), findings }) : reportText(findings));
  return exitCodeOf(findings);
}

/** The findings; `ask` is for tests. */
export async function examine(
  env: Environment,
  options: DoctorOptions,
  declared: readonly Declared[],
  ask: Partial<AskOptions> = {},
): Promise<Finding[]> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('the time for AWS is over')), AWS_LIMIT_MS);
  // Of the commands, only this one needs Lambda's client.
  const { openDeployment } = await import('../adapters/aws/deployment.ts');
  const aws = openDeployment(limit.signal);
  try {
    const found = await askDeployment(aws, env, options);
    const { asked, entries } = await askRegistry(env, found);
    const chosen = options.cluster === undefined ? entries : entries.filter(({ name }) => name === options.cluster);
    if (asked.kind === 'told' && chosen.length === 0) {
      const known = entries.map(({ name }) => name).join(', ');
      throw new ConfigError('unknown-cluster', `${asked.value.label}: no cluster is named ${options.cluster}; there are: ${known}`);
    }
    const units: readonly Unit[] = options.for === undefined ? ['watcher', 'reconcile'] : [options.for];
    const clusters = await askClusters(chosen, { ...ask, reconcilers: declared, units });
    const facts: DeploymentFacts = { registry: asked, clusters, ...found };
    return findingsOf(facts, { reconcilers: declared, ...timeoutOf(env) });
  } finally {
    clearTimeout(timer);
    aws.close();
  }
}

function timeoutOf(env: Environment): { readonly functionTimeoutSeconds?: number } {
  try {
    return { functionTimeoutSeconds: readSetting(env, 'functionTimeoutSeconds') };
  } catch (error) {
    if (error instanceof ConfigError) return {};
    throw error;
  }
}
