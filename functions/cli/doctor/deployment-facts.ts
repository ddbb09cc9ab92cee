/** Asks AWS for function and queues, which are named by variables, by the function's own, or by the stage; and reads the registry. */
import { basename } from 'node:path';
import { awsUntold } from '../../adapters/aws/calls.ts';
import type { Deployment } from '../../adapters/aws/deployment.ts';
import { type ClusterEntry, readClusters } from '../../adapters/clusters.ts';
import { parseReference } from '../../adapters/remote-text.ts';
import { type Environment, readSetting } from '../../core/config.ts';
import type { DeploymentFacts, FunctionFacts, QueueFacts, QueueName } from '../../core/doctor/facts.ts';
import type { Asked, Untold } from '../../core/doctor/finding.ts';
import { ConfigError } from '../../core/errors.ts';
import { type SettingName, variableOf } from '../../core/settings.ts';

/** `service` in serverless.yml. */
export const SERVICE = 'dogwatch';
const FUNCTION_ENDING = '-reconcile';
const QUEUE_SETTINGS = { live: 'queueUrl', bulk: 'bulkQueueUrl', 'dead-letters': 'deadLetterQueueUrl' } as const satisfies Record<
  QueueName,
  SettingName
>;

/** What is named on the command line. */
export interface Named {
  readonly stage?: string | undefined;
  readonly function?: string | undefined;
}

export interface AwsFacts {
  readonly function: FunctionFacts | undefined;
  readonly queues: DeploymentFacts['queues'];
}

/** Function and queues. */
export async function askDeployment(aws: Deployment, env: Environment, named: Named): Promise<AwsFacts> {
  const name = named.function ?? (named.stage === undefined ? undefined : `${SERVICE}-${named.stage}${FUNCTION_ENDING}`);
  const asked = name === undefined ? undefined : await askFunction(aws, name);
  const theirs = asked?.configuration.kind === 'told' ? asked.configuration.value.environment : {};
  const prefix = name?.endsWith(FUNCTION_ENDING) ? name.slice(0, -FUNCTION_ENDING.length) : undefined;
  const queue = (lane: QueueName) => askQueue(aws, lane, env, theirs, prefix);
  const [live, bulk, letters] = await Promise.all([queue('live'), queue('bulk'), queue('dead-letters')]);
  return { function: asked, queues: { live, bulk, 'dead-letters': letters } };
}

async function askFunction(aws: Deployment, name: string): Promise<FunctionFacts> {
  const configuration = await aws.configuration(name);
  // Without a version: that one has no event sources.
  const arn = configuration.kind === 'told' ? configuration.value.arn.split(':').slice(0, 7).join(':') : name;
  const [mappings, recursiveLoop, reservedConcurrency] = await Promise.all([
    aws.mappings(arn),
    aws.recursiveLoop(name),
    aws.reservedConcurrency(name),
  ]);
  return { name, configuration, mappings, recursiveLoop, reservedConcurrency };
}

async function askQueue(
  aws: Deployment,
  lane: QueueName,
  env: Environment,
  functionEnv: Environment,
  prefix: string | undefined,
): Promise<QueueFacts> {
  const setting = QUEUE_SETTINGS[lane];
  const variable = variableOf(setting);
  let url: string | undefined;
  try {
    if (env[variable] !== undefined) url = readSetting(env, setting);
  } catch (error) {
    return { url: undefined, attributes: configFault(error) };
  }
  // The function's own may be no URL, which is told where its environment is judged.
  const theirs = functionEnv[variable];
  if (url === undefined && theirs !== undefined && URL.canParse(theirs)) url = theirs;
  if (url === undefined && prefix !== undefined) {
    const found = await aws.queueUrl(`${prefix}-${lane}`);
    if (found.kind === 'untold') return { url: `${prefix}-${lane}`, attributes: found };
    url = found.value;
  }
  if (url === undefined) return { url, attributes: { kind: 'untold', code: 'unnamed', says: 'nobody named it' } };
  return { url, attributes: await aws.queue(url) };
}

export interface RegistryFacts {
  readonly asked: DeploymentFacts['registry'];
  readonly entries: readonly ClusterEntry[];
}

/** The registry of the environment; where that names none, the function's, unless it lies in its package. */
export async function askRegistry(env: Environment, facts: Pick<AwsFacts, 'function'>): Promise<RegistryFacts> {
  const configuration = facts.function?.configuration;
  const variable = variableOf('clusters');
  const theirs = configuration?.kind === 'told' ? configuration.value.environment[variable] : undefined;
  try {
    const own = env[variable] === undefined ? undefined : readSetting(env, 'clusters');
    const reference = own ?? (theirs !== undefined && parseReference(theirs) !== undefined ? theirs : undefined);
    if (reference === undefined) {
      const says = theirs === undefined ? 'nobody named it' : `the function's is ${theirs} in its package`;
      return { asked: { kind: 'untold', code: 'unnamed', says }, entries: [] };
    }
    const entries = await readClusters(reference);
    const label = parseReference(reference) === undefined ? basename(reference) : reference;
    return { asked: { kind: 'told', value: { label, names: entries.map(({ name }) => name) } }, entries };
  } catch (error) {
    return { asked: configFault(error), entries: [] };
  }
}

/** @throws what is no ConfigError */
function configFault(error: unknown): Asked<never> & Untold {
  if (!(error instanceof ConfigError)) throw error;
  const { code, message, cause } = error;
  if (code === 'aws-refused') return { ...awsUntold(cause), says: message };
  // A fault of this shell, which says nothing about the deployment.
  return { kind: 'untold', code, says: message, ...(code === 'aws-variable' ? { by: 'aws' } : {}) };
}
