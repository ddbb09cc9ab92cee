/** What function, watcher and queues allow, statement by statement: nothing that is not listed here. */
import { type Check, propertyOf, QUEUES, resourcesOf, type Template, textOf, unless, without } from './template.ts';

const ARN = `arn:\${AWS::Partition}`;
const OWN = `\${AWS::Region}:\${AWS::AccountId}`;
const WORK = ['LiveQueue.Arn', 'BulkQueue.Arn'];

/** Actions on resources: what a statement allows is all pairs of the two. */
export type Grants = readonly (readonly [actions: readonly string[], resources: readonly string[]])[];

/** What both get besides, by what a stage names. */
export const REGISTRY_ONLY: Grants = [[['ssm:GetParameter'], [`${ARN}:ssm:${OWN}:parameter/dogwatch/dev/clusters`]]];

function functionGrants(stage: string, named: Grants): Grants {
  const log = `${ARN}:logs:${OWN}:log-group:/aws/lambda/dogwatch-${stage}*`;
  return [
    [['logs:CreateLogStream', 'logs:CreateLogGroup', 'logs:TagResource'], [`${log}:*`]],
    [['logs:PutLogEvents'], [`${log}:*:*`]],
    [['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], WORK],
    [['sqs:SendMessage'], [...WORK, 'DeadLetterQueue.Arn']],
    [
      ['sqs:GetQueueUrl', 'sqs:CreateQueue', 'sqs:TagQueue', 'sqs:GetQueueAttributes', 'sqs:SetQueueAttributes', 'sqs:DeleteQueue'],
      [`${ARN}:sqs:*:\${AWS::AccountId}:queueclaim-*`],
    ],
    ...named,
  ];
}

function watcherGrants(named: Grants): Grants {
  return [[['sqs:SendMessage'], WORK], [['sqs:GetQueueAttributes'], ['BulkQueue.Arn']], ...named];
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly [other: string]: unknown;
}

/** The whole of it for a stage. `managed`: policies of AWS that the function's role has. */
export function permissionsOf(stage: string, named: Grants, managed: readonly string[] = []): Check {
  return (template) => {
    const policies = (propertyOf(template, 'IamRoleLambdaExecution', 'Policies') ?? []) as { PolicyDocument: { Statement: Statement[] } }[];
    const own = policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    const watcher = (propertyOf(template, 'WatcherPolicy', 'PolicyDocument.Statement') ?? []) as Statement[];
    const attached = ((propertyOf(template, 'IamRoleLambdaExecution', 'ManagedPolicyArns') ?? []) as unknown[]).map(textOf);
    return [
      ...compare('the function', own, functionGrants(stage, named)),
      ...compare('the watcher', watcher, watcherGrants(named)),
      ...unless(attached.join() === managed.join(), `the function has other policies of AWS: ${attached.join()}`),
      ...onlyRole(template),
      ...nobodyElse(template),
    ];
  };
}

function compare(who: string, statements: readonly Statement[], expected: Grants): string[] {
  const odd = statements.filter(
    ({ Effect, Sid: _, Action: __, Resource: ___, ...rest }) => Effect !== 'Allow' || Object.keys(rest).length > 0,
  );
  const found = new Set(statements.flatMap(({ Action, Resource }) => pairs([Action].flat(), [Resource].flat().map(textOf))));
  const listed = new Set(expected.flatMap(([actions, resources]) => pairs(actions, resources)));
  return [
    ...odd.map(({ Effect }) => `${who} has a statement of another form: ${Effect}`),
    ...without(found, listed).map((pair) => `${who} may ${pair}, which is not listed`),
    ...without(listed, found).map((pair) => `${who} may not ${pair}`),
  ];
}

function pairs(actions: readonly string[], resources: readonly string[]): string[] {
  return actions.flatMap((action) => resources.map((resource) => `${action} on ${resource}`));
}

/** One role, for Lambda alone. */
function onlyRole(template: Template): string[] {
  const roles = resourcesOf(template, 'AWS::IAM::Role');
  const trust = JSON.stringify(roles[0]?.[1]['AssumeRolePolicyDocument']);
  const expected =
    '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":["lambda.amazonaws.com"]},"Action":["sts:AssumeRole"]}]}';
  return unless(roles.length === 1 && trust === expected, 'somebody else than Lambda may take the role, or there is another one');
}

/** No other kind of resource gives rights, and no policy of a queue allows anything. */
function nobodyElse(template: Template): string[] {
  const giving = /^AWS::IAM::(?!Role$|ManagedPolicy$)|^AWS::Lambda::Permission$|^AWS::KMS::/;
  const strange = Object.entries(template.Resources).filter(([, { Type }]) => giving.test(Type));
  const policies = resourcesOf(template, 'AWS::IAM::ManagedPolicy');
  const statements = QUEUES.flatMap((queue) => (propertyOf(template, `${queue}Policy`, 'PolicyDocument.Statement') ?? []) as Statement[]);
  return [
    ...strange.map(([id]) => `${id} gives rights that are not listed`),
    ...unless(policies.length === 1, 'there is another managed policy than the watcher’s'),
    ...unless(
      resourcesOf(template, 'AWS::SQS::QueuePolicy').length === QUEUES.length && statements.every(({ Effect }) => Effect === 'Deny'),
      'a queue lets somebody in',
    ),
  ];
}
