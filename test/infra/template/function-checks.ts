/** The function: its runtime, environment, network and log. */
import { isDeepStrictEqual } from 'node:util';
import { readConfig } from '../../../functions/core/config.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import { VARIABLES } from '../../../functions/core/settings.ts';
import { type Check, FUNCTION, numberOf, propertyOf, QUEUES, resourcesOf, type Template, textOf, unless } from './template.ts';

export const runtime: Check = (template) => [
  ...unless(resourcesOf(template, 'AWS::Lambda::Function').length === 1, 'there are other functions'),
  ...unless(propertyOf(template, FUNCTION, 'Runtime') === 'nodejs24.x', 'the runtime is not nodejs24.x'),
  ...unless(isDeepStrictEqual(propertyOf(template, FUNCTION, 'Architectures'), ['arm64']), 'the architecture is not arm64'),
  ...unless(propertyOf(template, FUNCTION, 'Handler') === 'reconcile.handler', 'the handler is not the one in the package'),
];

/** B42: else Lambda ends each chain of retries after about 16. */
export const recursion: Check = (template) =>
  unless(propertyOf(template, FUNCTION, 'RecursiveLoop') === 'Allow', 'Lambda takes retries for a runaway and stops them');

/** The function's variables as its process would see them. */
export function environmentOf(template: Template): Record<string, string> {
  const variables = (propertyOf(template, FUNCTION, 'Environment.Variables') ?? {}) as Record<string, unknown>;
  const asSeen = (value: unknown): string => {
    const queue = QUEUES.find((id) => isDeepStrictEqual(value, { Ref: id }));
    if (queue === undefined) return textOf(value);
    return `https://sqs.us-east-1.amazonaws.com/111122223333/${textOf(propertyOf(template, queue, 'QueueName'))}`;
  };
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, asSeen(value)]));
}

/** By the same code that reads it in the function: unknown names, bounds, and what does not go together. */
export const environment: Check = (template) => {
  const env = environmentOf(template);
  try {
    readConfig(env, 'reconcile');
  } catch (error) {
    if (error instanceof ConfigError) return [error.message];
    throw error;
  }
  const known = new Set(VARIABLES.map(({ name }) => name));
  const foreign = Object.keys(env).filter((name) => !known.has(name) && !/^(POWERTOOLS_\w+|LOG_LEVEL|NODE_OPTIONS)$/.test(name));
  return foreign.map((name) => `${name} is read by nobody`);
};

export const queueUrls: Check = (template) => {
  const expected = {
    DOGWATCH_QUEUE_URL: 'LiveQueue',
    DOGWATCH_BULK_QUEUE_URL: 'BulkQueue',
    DOGWATCH_DEAD_LETTER_QUEUE_URL: 'DeadLetterQueue',
  };
  return Object.entries(expected).flatMap(([name, queue]) => {
    const value = propertyOf(template, FUNCTION, `Environment.Variables.${name}`);
    return unless(isDeepStrictEqual(value, { Ref: queue }), `${name} is not the URL of ${queue}`);
  });
};

export const timeout: Check = (template) => {
  const [real, told] = [numberOf(template, FUNCTION, 'Timeout'), environmentOf(template)['DOGWATCH_FUNCTION_TIMEOUT_SECONDS']];
  return unless(String(real) === told, `the function ends after ${real} s and takes it for ${told} s`);
};

export const logRetention: Check = (template) => {
  const group = resourcesOf(template, 'AWS::Logs::LogGroup').find(
    ([, { LogGroupName }]) => LogGroupName === `/aws/lambda/${textOf(propertyOf(template, FUNCTION, 'FunctionName'))}`,
  );
  return unless(typeof group?.[1]['RetentionInDays'] === 'number', 'the log is kept for ever, or the function makes it without a limit');
};

/** Metrics leave as lines of the log: another format than text would wrap them. */
export const logFormat: Check = (template) =>
  unless(propertyOf(template, FUNCTION, 'LoggingConfig.LogFormat') !== 'JSON', 'lines of metrics are wrapped and lost');

/** In subnets and allowed to make interfaces there, or neither. */
export const network: Check = (template) => {
  const { SubnetIds: subnets = [], SecurityGroupIds: groups = [] } = (propertyOf(template, FUNCTION, 'VpcConfig') ?? {}) as Record<
    string,
    unknown[]
  >;
  const policies = (propertyOf(template, 'IamRoleLambdaExecution', 'ManagedPolicyArns') ?? []) as unknown[];
  const mayInterface = policies.some((policy) => textOf(policy).endsWith('/AWSLambdaVPCAccessExecutionRole'));
  const isInside = subnets.length > 0;
  return unless(isInside === groups.length > 0 && isInside === mayInterface, 'subnets, security groups and the right to use them differ');
};

/** What the watcher's deployment is made from. */
export const outputs: Check = (template) => {
  const expected = {
    LiveQueueUrl: 'LiveQueue',
    BulkQueueUrl: 'BulkQueue',
    DeadLetterQueueUrl: 'DeadLetterQueue',
    WatcherPolicyArn: 'WatcherPolicy',
  };
  return Object.entries(expected).flatMap(([name, id]) =>
    unless(isDeepStrictEqual(template.Outputs[name]?.Value, { Ref: id }), `output ${name} is not that of ${id}`),
  );
};
