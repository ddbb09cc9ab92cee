/** The queues and their event source mappings. */
import { isDeepStrictEqual } from 'node:util';
import {
  type Check,
  DEAD_LETTERS,
  FUNCTION,
  mappingOf,
  numberOf,
  propertyOf,
  QUEUES,
  resourcesOf,
  type Template,
  textOf,
  unless,
  WORK_QUEUES,
} from './template.ts';

/** @see SQS API, SetQueueAttributes */
const RETENTION_MAX_SECONDS = 14 * 86_400;
const VISIBILITY_MAX_SECONDS = 43_200;
/** @see Lambda developer guide, using Lambda with SQS: six times the function's time-out, and the batching window */
const VISIBILITY_FACTOR = 6;

/** B36: nobody else is given a message while a run may still have it. */
export const visibility: Check = (template) =>
  WORK_QUEUES.flatMap((queue) => {
    const window = numberOf(template, mappingOf(template, queue), 'MaximumBatchingWindowInSeconds');
    const least = VISIBILITY_FACTOR * numberOf(template, FUNCTION, 'Timeout') + window;
    const found = numberOf(template, queue, 'VisibilityTimeout');
    return unless(found >= least && found <= VISIBILITY_MAX_SECONDS, `${queue}: visibility ${found} is below ${least}, or too long`);
  });

/** B43: what SQS moves keeps the time at which it was sent, so letters must be kept longer than they can have waited before. */
export const retention: Check = (template) => [
  ...unless(
    numberOf(template, DEAD_LETTERS, 'MessageRetentionPeriod') === RETENTION_MAX_SECONDS,
    `${DEAD_LETTERS}: letters are not kept for 14 days`,
  ),
  ...WORK_QUEUES.flatMap((queue) => {
    const kept = numberOf(template, queue, 'MessageRetentionPeriod');
    const receives = numberOf(template, queue, 'RedrivePolicy.maxReceiveCount') + 1;
    return [
      ...unless(kept < RETENTION_MAX_SECONDS, `${queue}: messages are kept as long as letters`),
      ...unless(kept > receives * numberOf(template, queue, 'VisibilityTimeout'), `${queue}: messages end before they are moved`),
    ];
  }),
];

/** B37: throttled receives count too. */
export const redrive: Check = (template) =>
  WORK_QUEUES.flatMap((queue) => [
    ...unless(numberOf(template, queue, 'RedrivePolicy.maxReceiveCount') >= 5, `${queue}: maxReceiveCount is below 5`),
    ...unless(
      textOf(propertyOf(template, queue, 'RedrivePolicy.deadLetterTargetArn')) === `${DEAD_LETTERS}.Arn`,
      `${queue}: its messages do not go to the dead-letter queue`,
    ),
  ]);

export const redriveAllow: Check = (template) => {
  const arns = WORK_QUEUES.map((queue) => {
    const name = textOf(propertyOf(template, queue, 'QueueName'));
    return { 'Fn::Sub': `arn:\${AWS::Partition}:sqs:\${AWS::Region}:\${AWS::AccountId}:${name}` };
  });
  const expected = { redrivePermission: 'byQueue', sourceQueueArns: arns };
  const found = propertyOf(template, DEAD_LETTERS, 'RedriveAllowPolicy');
  return unless(isDeepStrictEqual(found, expected), `${DEAD_LETTERS}: other queues than the work queues may use it, or these may not`);
};

export const encryption: Check = (template) =>
  QUEUES.flatMap((queue) => unless(propertyOf(template, queue, 'SqsManagedSseEnabled') === true, `${queue} is not encrypted`));

export const tlsOnly: Check = (template) =>
  QUEUES.flatMap((queue) => {
    const arn = { 'Fn::GetAtt': [queue, 'Arn'] };
    const deny = {
      Sid: 'TlsOnly',
      Effect: 'Deny',
      Principal: '*',
      Action: 'sqs:*',
      Resource: arn,
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    };
    const found = propertyOf(template, `${queue}Policy`, 'PolicyDocument.Statement');
    const isOfQueue = isDeepStrictEqual(propertyOf(template, `${queue}Policy`, 'Queues'), [{ Ref: queue }]);
    return unless(isOfQueue && isDeepStrictEqual(found, [deny]), `${queue}: its policy is not exactly to refuse what comes without TLS`);
  });

/** Standard queues, by the names that records tell their lanes by; a delay of the queue itself would be one for every change. */
export const queueKind: Check = (template) => {
  const names = { LiveQueue: 'live', BulkQueue: 'bulk', DeadLetterQueue: 'dead-letters' };
  return [
    ...unless(resourcesOf(template, 'AWS::SQS::Queue').length === QUEUES.length, 'there are other queues'),
    ...QUEUES.flatMap((queue) => {
      const name = textOf(propertyOf(template, queue, 'QueueName'));
      const { FifoQueue, DelaySeconds = 0 } = template.Resources[queue]?.Properties ?? {};
      return [
        ...unless(/^dogwatch-[a-z0-9]+-/.test(name) && name.endsWith(`-${names[queue]}`), `${queue} has another name: ${name}`),
        ...unless(FifoQueue === undefined && DelaySeconds === 0, `${queue} is FIFO, or delays all messages`),
      ];
    }),
  ];
};

/** Each work queue feeds the function, and nothing else does. */
export const mappings: Check = (template) => {
  const found = resourcesOf(template, 'AWS::Lambda::EventSourceMapping');
  return [
    ...unless(found.length === WORK_QUEUES.length, 'there are not exactly two event source mappings'),
    ...WORK_QUEUES.flatMap((queue) => {
      const id = mappingOf(template, queue);
      const { FunctionName, Enabled, FilterCriteria } = template.Resources[id]?.Properties ?? {};
      return [
        ...unless(textOf(FunctionName) === `${FUNCTION}.Arn` && Enabled === true, `${queue} does not feed the function`),
        // What no filter matches is deleted.
        ...unless(FilterCriteria === undefined, `${queue}: a filter deletes messages`),
      ];
    }),
  ];
};

export const partialBatches: Check = (template) =>
  eachMapping(template, (id, queue) => {
    const types = propertyOf(template, id, 'FunctionResponseTypes');
    return unless(isDeepStrictEqual(types, ['ReportBatchItemFailures']), `${queue}: one failed record brings the whole batch back`);
  });

/** Neither osls nor cfn-lint knows; AWS refuses it while the stack is made. */
export const batchSize: Check = (template) =>
  eachMapping(template, (id, queue) => {
    const [size, window] = [numberOf(template, id, 'BatchSize'), numberOf(template, id, 'MaximumBatchingWindowInSeconds')];
    const holds = size >= 1 && size <= 10_000 && window >= 0 && window <= 300 && (size <= 10 || window >= 1);
    return unless(holds, `${queue}: a batch of ${size} with a window of ${window} s is refused by Lambda`);
  });

/** B37: pollers take no more than can run. Provisioned ones exclude that limit. */
export const concurrency: Check = (template) =>
  eachMapping(template, (id, queue) => {
    const most = numberOf(template, id, 'ScalingConfig.MaximumConcurrency');
    return [
      ...unless(most >= 2 && most <= 1000, `${queue}: no maximum concurrency from 2 to 1000`),
      ...unless(propertyOf(template, id, 'ProvisionedPollerConfig') === undefined, `${queue}: provisioned pollers exclude it`),
    ];
  });

/** B37: what reserved concurrency throttles burns receives. */
export const reservedConcurrency: Check = (template) => {
  const reserved = propertyOf(template, FUNCTION, 'ReservedConcurrentExecutions');
  const limits = WORK_QUEUES.map((queue) => numberOf(template, mappingOf(template, queue), 'ScalingConfig.MaximumConcurrency'));
  const sum = limits.reduce((total, limit) => total + limit, 0);
  return unless(reserved === undefined || Number(reserved) >= sum, `reserved concurrency ${reserved} is below what the queues may use`);
};

function eachMapping(template: Template, check: (id: string, queue: string) => string[]): string[] {
  return WORK_QUEUES.flatMap((queue) => check(mappingOf(template, queue), queue));
}
