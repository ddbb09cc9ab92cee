/** The alarms: that each is there, is about a metric that somebody tells, and says what to do. */
import { isDeepStrictEqual } from 'node:util';
import { buildHeartbeat } from '../../../events/heartbeat.ts';
import type { Metric } from '../../../functions/core/metric.ts';
import { metricsOfHeartbeat, metricsOfSettled } from '../../../functions/core/run-metrics.ts';
import { environmentOf } from './function-checks.ts';
import { type Check, DEAD_LETTERS, FUNCTION, numberOf, resourcesOf, textOf, unless, WORK_QUEUES, without } from './template.ts';

const AWS_ALARMS = [
  { name: 'dead-letters', metric: 'AWS/SQS ApproximateNumberOfMessagesVisible', of: DEAD_LETTERS },
  { name: 'dead-letter-age', metric: 'AWS/SQS ApproximateAgeOfOldestMessage', of: DEAD_LETTERS },
  { name: 'live-queue-quiet-age', metric: 'AWS/SQS ApproximateAgeOfOldestMessageInQuietGroups', of: 'LiveQueue' },
  { name: 'live-queue-age', metric: 'AWS/SQS ApproximateAgeOfOldestMessage', of: 'LiveQueue' },
  { name: 'bulk-queue-age', metric: 'AWS/SQS ApproximateAgeOfOldestMessage', of: 'BulkQueue' },
  { name: 'function-errors', metric: 'AWS/Lambda Errors', of: FUNCTION },
  { name: 'throttles', metric: 'AWS/Lambda Throttles', of: FUNCTION },
  { name: 'dropped-invocations', metric: 'AWS/Lambda RecursiveInvocationsDropped', of: FUNCTION },
] as const;

/** By the metric of ours that each is about. */
const CLUSTER_ALARMS = {
  Heartbeats: 'heartbeat',
  OldestUnsettled: 'oldest-unsettled',
  CircuitOpen: 'circuit-open',
  Denied: 'denied',
} as const;

/** Metrics that are counts of what must not be: one is enough. */
const NEVER = ['dead-letters', 'function-errors', 'throttles', 'dropped-invocations', 'circuit-open', 'denied'];
/** The longest delay of a message, in which it grows older in its queue. @see SQS API, SendMessage */
const DELAY_MAX_SECONDS = 900;
const DESCRIPTION_MAX = 1024;
const DAY = 86_400;

interface Alarm {
  readonly id: string;
  /** Without service, stage and cluster. */
  readonly name: string;
  readonly cluster: string | undefined;
  readonly properties: Record<string, unknown>;
}

function alarmsOf(template: Parameters<Check>[0]): Alarm[] {
  return resourcesOf(template, 'AWS::CloudWatch::Alarm').map(([id, properties]) => {
    const dimensions = properties['Dimensions'] as { Name: string; Value: unknown }[];
    const cluster = dimensions.find(({ Name }) => Name === 'cluster')?.Value as string | undefined;
    const full = String(properties['AlarmName']).replace(/^dogwatch-[a-z0-9]+-/, '');
    const name = cluster !== undefined && full.endsWith(`-${cluster}`) ? full.slice(0, -cluster.length - 1) : full;
    return { id, name, cluster, properties };
  });
}

/** Each of ours with what tells it: a run that was denied, one that was not let in, a heartbeat. */
function toldByTheFunction(): Metric[] {
  const now = new Date('2026-01-01T00:00:00.000Z');
  const failure = { code: 'c', errorClass: 'E', message: 'm' };
  const rest = { disposition: { kind: 'requeue', delaySeconds: 1, attempt: 1 }, recordCount: 1, acknowledged: true } as const;
  return [
    ...metricsOfSettled('east', { outcome: { kind: 'denied', failure }, ...rest }),
    ...metricsOfSettled('east', { outcome: { kind: 'circuit-open', waitSeconds: 1 }, ...rest }),
    ...metricsOfHeartbeat('east', buildHeartbeat('east', [], { id: '1', now }), now),
  ];
}

const dimensionOf = { 'AWS/SQS': 'QueueName', 'AWS/Lambda': 'FunctionName' } as const;

/** All of the issue's, on queue and function themselves, and no metric of AWS besides. */
export const awsAlarms: Check = (template) => {
  const found = alarmsOf(template).filter(({ cluster }) => cluster === undefined);
  return [
    ...unless(found.length === AWS_ALARMS.length, `there are ${found.length} alarms without a cluster, not ${AWS_ALARMS.length}`),
    ...AWS_ALARMS.flatMap(({ name, metric, of }) => {
      const { Namespace, MetricName, Dimensions } = found.find((alarm) => alarm.name === name)?.properties ?? {};
      const namespace = metric.split(' ')[0] as keyof typeof dimensionOf;
      const value = of === FUNCTION ? { Ref: of } : { 'Fn::GetAtt': [of, 'QueueName'] };
      const isOfIt = isDeepStrictEqual(Dimensions, [{ Name: dimensionOf[namespace], Value: value }]);
      return unless(`${Namespace} ${MetricName}` === metric && isOfIt, `no alarm ${name} on ${metric} of ${of}`);
    }),
  ];
};

/** Every cluster has all of its alarms, each on a metric that the function tells under exactly that dimension, where it tells it. */
export function clusterAlarms(clusters: readonly string[]): Check {
  return (template) => {
    const found = alarmsOf(template).filter(({ cluster }) => cluster !== undefined);
    const told = toldByTheFunction();
    const namespace = environmentOf(template)['POWERTOOLS_METRICS_NAMESPACE'] ?? 'Dogwatch';
    return [
      ...unless(found.length === clusters.length * Object.keys(CLUSTER_ALARMS).length, 'a cluster has other alarms than the four'),
      ...Object.entries(CLUSTER_ALARMS).flatMap(([metric, name]) => [
        ...unless(
          told.some((one) => one.name === metric && Object.keys(one.dimensions).join() === 'cluster'),
          `the function tells no ${metric} by cluster alone`,
        ),
        ...clusters.flatMap((cluster) => {
          const { MetricName, Dimensions, Namespace } =
            found.find((alarm) => alarm.name === name && alarm.cluster === cluster)?.properties ?? {};
          const isOfIt = MetricName === metric && isDeepStrictEqual(Dimensions, [{ Name: 'cluster', Value: cluster }]);
          return [
            ...unless(isOfIt, `no alarm ${name} of cluster ${cluster}`),
            ...unless(Namespace === namespace, `${name} of ${cluster} looks in ${Namespace}, and the function tells in ${namespace}`),
          ];
        }),
      ]),
    ];
  };
}

/** Silence is bad news of heartbeats, and good news of everything else. */
export const missingData: Check = (template) =>
  alarmsOf(template).flatMap(({ id, name, properties }) =>
    unless(
      properties['TreatMissingData'] === (name === 'heartbeat' ? 'breaching' : 'notBreaching'),
      `${id}: what it makes of missing data is the wrong way round`,
    ),
  );

/** What must not be at all, alarms above zero and at once, and counted whole. */
export const never: Check = (template) =>
  alarmsOf(template)
    .filter(({ name }) => NEVER.includes(name))
    .flatMap(({ id, properties: { Threshold, ComparisonOperator, EvaluationPeriods, Statistic } }) =>
      unless(
        Threshold === 0 &&
          ComparisonOperator === 'GreaterThanThreshold' &&
          EvaluationPeriods === 1 &&
          /^(Sum|Maximum)$/.test(String(Statistic)),
        `${id}: one is not enough for it`,
      ),
    );

/** No heartbeat for as long as some that come a minute apart could be late. */
export const silence: Check = (template) =>
  alarmsOf(template)
    .filter(({ name }) => name === 'heartbeat')
    .flatMap(({ id, properties: { Threshold, ComparisonOperator, Period, EvaluationPeriods, Statistic } }) => {
      const isNone = Threshold === 1 && ComparisonOperator === 'LessThanThreshold' && Statistic === 'Sum';
      const seconds = Number(Period) * Number(EvaluationPeriods);
      return unless(isNone && seconds >= 180 && seconds <= 900, `${id}: is not about minutes without a heartbeat`);
    });

/** What is the oldest, and too old for minutes: an age of the youngest or of all would hide it. */
export const oldest: Check = (template) =>
  alarmsOf(template)
    .filter(({ properties }) => /^(ApproximateAgeOfOldest|OldestUnsettled)/.test(String(properties['MetricName'])))
    .flatMap(({ id, properties: { ComparisonOperator, Statistic, Period, EvaluationPeriods } }) => {
      const isOver = Statistic === 'Maximum' && ComparisonOperator === 'GreaterThanThreshold';
      return unless(isOver && Number(Period) * Number(EvaluationPeriods) <= 900, `${id}: is not about the oldest being too old`);
    });

/** A retry may be as old as the longest delay when it can first be received; and a message that is about to expire is too late. */
export const queueAges: Check = (template) =>
  alarmsOf(template)
    .filter(({ properties }) => String(properties['MetricName']).startsWith('ApproximateAgeOfOldestMessage'))
    .flatMap(({ id, properties: { Dimensions, Threshold } }) => {
      const queue = textOf((Dimensions as { Value: unknown }[])[0]?.Value).split('.')[0] ?? '';
      if (queue === DEAD_LETTERS) return [];
      const least = DELAY_MAX_SECONDS + numberOf(template, queue, 'VisibilityTimeout');
      const holds = Number(Threshold) > least && Number(Threshold) < numberOf(template, queue, 'MessageRetentionPeriod') / 2;
      return unless(holds, `${id}: goes off for a delayed retry, or when it is too late`);
    });

/** B43: CloudWatch counts from the move to the dead-letter queue, expiry from the first sending: up to a work queue's retention before. */
export const letterAge: Check = (template) => {
  const threshold = Number(alarmsOf(template).find(({ name }) => name === 'dead-letter-age')?.properties['Threshold']);
  const spent = Math.max(...WORK_QUEUES.map((queue) => numberOf(template, queue, 'MessageRetentionPeriod')));
  const left = numberOf(template, DEAD_LETTERS, 'MessageRetentionPeriod') - spent - threshold;
  return unless(left >= 2 * DAY && threshold >= 0, `dead letters may be gone ${left} s after their alarm`);
};

/** What to do first, and where more is written. */
export const descriptions: Check = (template) =>
  alarmsOf(template).flatMap(({ id, name, cluster, properties }) => {
    const text = String(properties['AlarmDescription']);
    return [
      ...unless(/\. First [a-z]/.test(text), `${id} does not say what to do first`),
      ...unless(text.endsWith(`infra/RUNBOOK.md, "Alarm ${name}".`), `${id} does not name its section of the runbook`),
      ...unless(
        cluster === undefined || text.includes(`cluster ${cluster}`) || text.includes(`Cluster ${cluster}`),
        `${id} does not name its cluster`,
      ),
      ...unless(text.length <= DESCRIPTION_MAX && !/CLUSTER|\$\{/.test(text), `${id} has a description that is too long, or not filled in`),
    ];
  });

/** Each alarm has its section of the runbook, and each such section its alarm. */
export function runbook(page: string): Check {
  const sections = new Set([...page.matchAll(/^## Alarm (\S+)$/gm)].map(([, name = '']) => name));
  return (template) => {
    const names = new Set(alarmsOf(template).map(({ name }) => name));
    return [
      ...without(names, sections).map((name) => `the runbook has no section "Alarm ${name}"`),
      ...without(sections, names).map((name) => `the runbook has a section "Alarm ${name}" for no alarm`),
    ];
  };
}

/** Whoever is to be told is told of both ends. */
export function actions(topics: readonly string[]): Check {
  return (template) =>
    alarmsOf(template).flatMap(({ id, properties: { AlarmActions, OKActions, ActionsEnabled = true } }) =>
      unless(
        isDeepStrictEqual(AlarmActions, topics) && isDeepStrictEqual(OKActions, topics) && ActionsEnabled === true,
        `${id} tells others than it should`,
      ),
    );
}

/** Nothing overdue goes unnoticed for long, and the first repair has its chance. */
export const unsettled: Check = (template) =>
  alarmsOf(template)
    .filter(({ name }) => name === 'oldest-unsettled')
    .flatMap(({ id, properties: { Threshold } }) => unless(Number(Threshold) >= 600, `${id}: goes off before the first repair`));
