/** Each relation of the template broken on purpose, with what has to be said of it. */
import { FUNCTION, mappingOf, propertyOf, type Template } from './template.ts';

export interface Mutation {
  readonly name: string;
  /** Changes its argument. */
  readonly breaks: (template: Template) => void;
  /** One of the problems that are found then. */
  readonly says: RegExp;
}

/** Sets, or takes out where `value` is undefined, what is at `path` in the properties of a resource. */
function set(id: string | ((template: Template) => string), path: string, value: unknown): Mutation['breaks'] {
  return (template) => {
    const names = path.split('.');
    const last = names.pop() as string;
    const resource = typeof id === 'string' ? id : id(template);
    const parent = names.length === 0 ? template.Resources[resource]?.Properties : propertyOf(template, resource, names.join('.'));
    if (parent === undefined) throw new Error(`${resource} has no ${path}`);
    const holder = parent as Record<string, unknown>;
    if (value === undefined) delete holder[last];
    else holder[last] = value;
  };
}

const remove =
  (id: string): Mutation['breaks'] =>
  (template) => {
    if (!Reflect.has(template.Resources, id)) throw new Error(`there is no ${id}`);
    delete template.Resources[id];
  };

const live = (template: Template): string => mappingOf(template, 'LiveQueue');
const bulk = (template: Template): string => mappingOf(template, 'BulkQueue');
const statementsOf = (template: Template, who: 'function' | 'watcher'): Record<string, unknown>[] =>
  (who === 'watcher'
    ? propertyOf(template, 'WatcherPolicy', 'PolicyDocument.Statement')
    : propertyOf(template, 'IamRoleLambdaExecution', 'Policies.0.PolicyDocument.Statement')) as Record<string, unknown>[];
const send = (template: Template, who: 'function' | 'watcher') =>
  statementsOf(template, who).find(({ Sid }) => Sid === 'SendMessages') as Record<string, unknown>;
const variable = (name: string) => `Environment.Variables.${name}`;

const QUEUES: readonly Mutation[] = [
  {
    name: 'visibility is five times the time-out (B36)',
    breaks: set('LiveQueue', 'VisibilityTimeout', 150),
    says: /LiveQueue: visibility 150/,
  },
  { name: 'visibility leaves the window out (B36)', breaks: set(bulk, 'MaximumBatchingWindowInSeconds', 5), says: /BulkQueue: visibility/ },
  { name: 'the time-out alone is raised (B36)', breaks: set(FUNCTION, 'Timeout', 60), says: /LiveQueue: visibility/ },
  { name: 'visibility is longer than SQS takes', breaks: set('BulkQueue', 'VisibilityTimeout', 43_201), says: /BulkQueue: visibility/ },
  {
    name: 'letters are kept 13 days (B43)',
    breaks: set('DeadLetterQueue', 'MessageRetentionPeriod', 1_123_200),
    says: /not kept for 14 days/,
  },
  {
    name: 'messages are kept as long as letters (B43)',
    breaks: set('LiveQueue', 'MessageRetentionPeriod', 1_209_600),
    says: /as long as letters/,
  },
  { name: 'messages end before they are moved', breaks: set('BulkQueue', 'MessageRetentionPeriod', 900), says: /before they are moved/ },
  { name: 'four receives are enough (B37)', breaks: set('LiveQueue', 'RedrivePolicy.maxReceiveCount', 4), says: /maxReceiveCount/ },
  { name: 'a queue has no redrive', breaks: set('BulkQueue', 'RedrivePolicy', undefined), says: /BulkQueue: maxReceiveCount/ },
  {
    name: 'letters go to a work queue',
    breaks: set('LiveQueue', 'RedrivePolicy.deadLetterTargetArn', { 'Fn::GetAtt': ['BulkQueue', 'Arn'] }),
    says: /do not go to the dead-letter queue/,
  },
  {
    name: 'any queue may use the dead-letter queue',
    breaks: set('DeadLetterQueue', 'RedriveAllowPolicy', { redrivePermission: 'allowAll' }),
    says: /other queues/,
  },
  { name: 'a work queue may not', breaks: set('DeadLetterQueue', 'RedriveAllowPolicy.sourceQueueArns', []), says: /or these may not/ },
  { name: 'a queue was renamed', breaks: set('LiveQueue', 'QueueName', 'dogwatch-dev-changes'), says: /LiveQueue has another name/ },
  {
    name: 'a queue is not encrypted',
    breaks: set('DeadLetterQueue', 'SqsManagedSseEnabled', false),
    says: /DeadLetterQueue is not encrypted/,
  },
  { name: 'a queue is reached without TLS', breaks: remove('BulkQueuePolicy'), says: /BulkQueue: its policy/ },
  {
    name: 'TLS is asked for receiving only',
    breaks: set('LiveQueuePolicy', 'PolicyDocument.Statement.0.Action', 'sqs:ReceiveMessage'),
    says: /LiveQueue: its policy/,
  },
  {
    name: 'a policy is that of another queue',
    breaks: set('LiveQueuePolicy', 'Queues', [{ Ref: 'BulkQueue' }]),
    says: /LiveQueue: its policy/,
  },
  { name: 'a queue is FIFO', breaks: set('LiveQueue', 'FifoQueue', true), says: /is FIFO/ },
  { name: 'a queue delays everything', breaks: set('BulkQueue', 'DelaySeconds', 5), says: /delays all messages/ },
];

const SOURCES: readonly Mutation[] = [
  { name: 'one failed record fails all', breaks: set(live, 'FunctionResponseTypes', undefined), says: /LiveQueue: one failed record/ },
  { name: 'a batch of 11 has no window', breaks: set(live, 'BatchSize', 11), says: /batch of 11/ },
  { name: 'no maximum concurrency (B37)', breaks: set(bulk, 'ScalingConfig', undefined), says: /BulkQueue: no maximum concurrency/ },
  { name: 'a maximum concurrency of 1 (B37)', breaks: set(live, 'ScalingConfig.MaximumConcurrency', 1), says: /LiveQueue: no maximum/ },
  { name: 'provisioned pollers (B37)', breaks: set(live, 'ProvisionedPollerConfig', { MinimumPollers: 2 }), says: /provisioned pollers/ },
  {
    name: 'reserved concurrency below the sum (B37)',
    breaks: set(FUNCTION, 'ReservedConcurrentExecutions', 14),
    says: /reserved concurrency 14/,
  },
  { name: 'a filter on messages', breaks: set(live, 'FilterCriteria', { Filters: [] }), says: /a filter deletes messages/ },
  { name: 'a queue feeds nobody', breaks: (template) => remove(bulk(template))(template), says: /BulkQueue does not feed/ },
  { name: 'a source is off', breaks: set(live, 'Enabled', false), says: /LiveQueue does not feed/ },
];

const FUNCTIONS: readonly Mutation[] = [
  { name: 'recursion is stopped (B42)', breaks: set(FUNCTION, 'RecursiveLoop', 'Terminate'), says: /runaway/ },
  { name: 'recursion is not spoken of (B42)', breaks: set(FUNCTION, 'RecursiveLoop', undefined), says: /runaway/ },
  { name: 'an older runtime', breaks: set(FUNCTION, 'Runtime', 'nodejs22.x'), says: /nodejs24/ },
  { name: 'another architecture', breaks: set(FUNCTION, 'Architectures', ['x86_64']), says: /arm64/ },
  { name: 'another handler', breaks: set(FUNCTION, 'Handler', 'index.handler'), says: /handler/ },
  { name: 'an unknown variable', breaks: set(FUNCTION, variable('DOGWATCH_QUEUE'), 'x'), says: /DOGWATCH_QUEUE is no variable/ },
  { name: 'a variable of nobody', breaks: set(FUNCTION, variable('QUEUE_URL'), 'x'), says: /QUEUE_URL is read by nobody/ },
  {
    name: 'a variable out of its bounds',
    breaks: set(FUNCTION, variable('DOGWATCH_MAX_ATTEMPTS'), '0'),
    says: /DOGWATCH_MAX_ATTEMPTS "0"/,
  },
  { name: 'no registry', breaks: set(FUNCTION, variable('DOGWATCH_CLUSTERS'), undefined), says: /DOGWATCH_CLUSTERS is not set/ },
  {
    name: 'the lanes are the wrong way round',
    breaks: (template) => {
      set(FUNCTION, variable('DOGWATCH_QUEUE_URL'), { Ref: 'BulkQueue' })(template);
      set(FUNCTION, variable('DOGWATCH_BULK_QUEUE_URL'), { Ref: 'LiveQueue' })(template);
    },
    says: /DOGWATCH_QUEUE_URL is not the URL of LiveQueue/,
  },
  {
    name: 'the function is told another time-out',
    breaks: set(FUNCTION, variable('DOGWATCH_FUNCTION_TIMEOUT_SECONDS'), '60'),
    says: /ends after 30 s and takes it for 60 s/,
  },
  {
    name: 'runs may be longer than the time-out',
    breaks: set(FUNCTION, variable('DOGWATCH_RECORD_DEADLINE_SECONDS'), '31'),
    says: /DOGWATCH_RECORD_DEADLINE_SECONDS \(31\)/,
  },
  { name: 'the log is kept for ever', breaks: set('ReconcileLogGroup', 'RetentionInDays', undefined), says: /log is kept for ever/ },
  { name: 'lines of the log are wrapped', breaks: set(FUNCTION, 'LoggingConfig', { LogFormat: 'JSON' }), says: /wrapped/ },
  { name: 'subnets without security groups', breaks: set(FUNCTION, 'VpcConfig.SubnetIds', ['subnet-1']), says: /subnets/ },
  { name: 'an output is missing', breaks: (template) => Reflect.deleteProperty(template.Outputs, 'LiveQueueUrl'), says: /LiveQueueUrl/ },
];

const PERMISSIONS: readonly Mutation[] = [
  {
    name: 'the function may send anywhere',
    breaks: (template) => Object.assign(send(template, 'function'), { Resource: '*' }),
    says: /sqs:SendMessage on \*, which/,
  },
  {
    name: 'the function may do anything with its queues',
    breaks: (template) => Object.assign(send(template, 'function'), { Action: 'sqs:*' }),
    says: /sqs:\* on LiveQueue/,
  },
  {
    name: 'the function may not send letters',
    breaks: (template) => void (send(template, 'function')['Resource'] as unknown[]).pop(),
    says: /function may not sqs:SendMessage on DeadLetterQueue/,
  },
  {
    name: 'the watcher may send letters',
    breaks: (template) => void (send(template, 'watcher')['Resource'] as unknown[]).push({ 'Fn::GetAtt': ['DeadLetterQueue', 'Arn'] }),
    says: /watcher may sqs:SendMessage on DeadLetterQueue/,
  },
  {
    name: 'the watcher may receive',
    breaks: (template) => void (send(template, 'watcher')['Action'] as string[]).push('sqs:ReceiveMessage'),
    says: /watcher may sqs:ReceiveMessage/,
  },
  {
    name: 'all parameters may be read',
    breaks: (template) => {
      for (const statement of statementsOf(template, 'function')) if (statement['Sid'] === 'ReadParameters') statement['Resource'] = ['*'];
    },
    says: /ssm:GetParameter on \*/,
  },
  {
    name: 'a statement forbids',
    breaks: (template) => Object.assign(send(template, 'watcher'), { Effect: 'Deny' }),
    says: /another form: Deny/,
  },
  {
    name: 'a statement has all but',
    breaks: (template) => Object.assign(send(template, 'function'), { NotResource: [] }),
    says: /another form/,
  },
  {
    name: 'a policy of AWS is added',
    breaks: set('IamRoleLambdaExecution', 'ManagedPolicyArns', ['arn:aws:iam::aws:policy/AdministratorAccess']),
    says: /AdministratorAccess/,
  },
  {
    name: 'anybody may take the role',
    breaks: set('IamRoleLambdaExecution', 'AssumeRolePolicyDocument.Statement.0.Principal', '*'),
    says: /take the role/,
  },
  {
    name: 'a queue lets somebody in',
    breaks: set('LiveQueuePolicy', 'PolicyDocument.Statement.0.Effect', 'Allow'),
    says: /lets somebody in/,
  },
  {
    name: 'somebody may invoke the function',
    breaks: (template) => Object.assign(template.Resources, { Other: { Type: 'AWS::Lambda::Permission', Properties: {} } }),
    says: /Other gives rights/,
  },
];

const ALARMS: readonly Mutation[] = [
  ...[
    'DeadLetters',
    'DeadLetterAge',
    'LiveQueueQuietAge',
    'LiveQueueAge',
    'BulkQueueAge',
    'FunctionErrors',
    'Throttles',
    'DroppedInvocations',
  ].map((name) => ({ name: `no alarm ${name}`, breaks: remove(`${name}Alarm`), says: /^no alarm / })),
  ...['Heartbeat', 'OldestUnsettled', 'CircuitOpen', 'Denied'].map((name) => ({
    name: `no alarm ${name} of one cluster`,
    breaks: remove(`${name}AlarmWest`),
    says: /^no alarm .* of cluster west/,
  })),
  {
    name: 'a metric that nobody tells',
    breaks: set('HeartbeatAlarmEast', 'MetricName', 'Heartbeat'),
    says: /no alarm heartbeat of cluster east/,
  },
  {
    name: 'a metric by another dimension',
    breaks: set('DeniedAlarmEast', 'Dimensions', [
      { Name: 'cluster', Value: 'east' },
      { Name: 'service', Value: 'x' },
    ]),
    says: /no alarm denied of cluster east/,
  },
  {
    name: 'a metric of another namespace',
    breaks: set(FUNCTION, variable('POWERTOOLS_METRICS_NAMESPACE'), 'Other'),
    says: /tells in Other/,
  },
  {
    name: 'an alarm on the wrong queue',
    breaks: set('DeadLettersAlarm', 'Dimensions.0.Value', { 'Fn::GetAtt': ['LiveQueue', 'QueueName'] }),
    says: /no alarm dead-letters/,
  },
  {
    name: 'silence is good news of heartbeats',
    breaks: set('HeartbeatAlarmEast', 'TreatMissingData', 'notBreaching'),
    says: /HeartbeatAlarmEast: what it makes of missing data/,
  },
  {
    name: 'an idle function is bad news',
    breaks: set('ThrottlesAlarm', 'TreatMissingData', 'breaching'),
    says: /ThrottlesAlarm: what it makes of missing data/,
  },
  { name: 'one dead letter is not enough', breaks: set('DeadLettersAlarm', 'Threshold', 1), says: /DeadLettersAlarm: one is not enough/ },
  {
    name: 'heartbeats may be missing for an hour',
    breaks: set('HeartbeatAlarmWest', 'EvaluationPeriods', 12),
    says: /HeartbeatAlarmWest: is not about minutes/,
  },
  {
    name: 'a delayed retry is an alarm',
    breaks: set('LiveQueueQuietAgeAlarm', 'Threshold', 900),
    says: /LiveQueueQuietAgeAlarm: goes off for a delayed retry/,
  },
  { name: 'expired messages are an alarm', breaks: set('BulkQueueAgeAlarm', 'Threshold', 345_600), says: /BulkQueueAgeAlarm: .* too late/ },
  {
    name: 'an age is that of the youngest',
    breaks: set('LiveQueueAgeAlarm', 'Statistic', 'Minimum'),
    says: /LiveQueueAgeAlarm: is not about/,
  },
  {
    name: 'letters are an alarm while they are young',
    breaks: set('DeadLetterAgeAlarm', 'ComparisonOperator', 'LessThanThreshold'),
    says: /DeadLetterAgeAlarm: is not about/,
  },
  {
    name: 'one late object is an average',
    breaks: set('OldestUnsettledAlarmWest', 'Statistic', 'Average'),
    says: /OldestUnsettledAlarmWest: /,
  },
  {
    name: 'an age must last for hours',
    breaks: set('BulkQueueAgeAlarm', 'EvaluationPeriods', 24),
    says: /BulkQueueAgeAlarm: is not about/,
  },
  { name: 'letters are gone when their alarm goes off (B43)', breaks: set('DeadLetterAgeAlarm', 'Threshold', 12 * 86_400), says: /gone -/ },
  {
    name: 'the work queues’ retention alone is raised (B43)',
    breaks: set('LiveQueue', 'MessageRetentionPeriod', 864_000),
    says: /dead letters may be gone/,
  },
  { name: 'an alarm before the first repair', breaks: set('OldestUnsettledAlarmEast', 'Threshold', 60), says: /before the first repair/ },
  {
    name: 'nothing is said of what to do',
    breaks: set('DeniedAlarmWest', 'AlarmDescription', 'Denied. infra/RUNBOOK.md, "Alarm denied".'),
    says: /DeniedAlarmWest does not say/,
  },
  {
    name: 'another section is named',
    breaks: set('ThrottlesAlarm', 'AlarmDescription', 'Bad. First look. infra/RUNBOOK.md, "Alarm denied".'),
    says: /ThrottlesAlarm does not name its section/,
  },
  { name: 'an alarm has no section', breaks: set('ThrottlesAlarm', 'AlarmName', 'dogwatch-dev-slow'), says: /no section "Alarm slow"/ },
  { name: 'a section has no alarm', breaks: remove('ThrottlesAlarm'), says: /section "Alarm throttles" for no alarm/ },
  { name: 'nobody is told', breaks: set('ThrottlesAlarm', 'AlarmActions', []), says: /ThrottlesAlarm tells others/ },
  { name: 'alarms are off', breaks: set('DeniedAlarmEast', 'ActionsEnabled', false), says: /DeniedAlarmEast tells others/ },
];

export const MUTATIONS: readonly Mutation[] = [...QUEUES, ...SOURCES, ...FUNCTIONS, ...PERMISSIONS, ...ALARMS];
