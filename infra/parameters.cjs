/**
 * The parameters of a stage, checked, and what YAML cannot make of them: serverless.yml takes each export as a variable.
 *
 * CommonJS without types, because the Serverless Framework loads it, by whatever Node it runs on.
 */
const { existsSync, readFileSync } = require('node:fs');
const path = require('node:path');
const { unzipSync } = require('fflate');
const z = require('zod');

/** What SQS may not keep back longer. @see SQS API, SetQueueAttributes */
const VISIBILITY_MAX_SECONDS = 43_200;
/** The dead-letter queue's retention, the longest there is; infra/queues.yml sets it. */
const DEAD_LETTER_RETENTION_SECONDS = 1_209_600;
/** How long before the first letter may be deleted its alarm goes off. */
const DEAD_LETTER_WARNING_SECONDS = 3 * 86_400;
/** Four alarms a cluster; a stack holds 500 resources. */
const CLUSTERS_MAX = 100;
/** The longest delay of a message: a retry may be that old when it can first be received. */
const DELAY_MAX_SECONDS = 900;
/**
 * Characters of the watcher's policy that are left for what a stage names: a managed policy holds 6,144 of them, and the rest has its own
 * statements. @see IAM user guide, "IAM and AWS STS quotas"
 */
const NAMED_MAX_CHARACTERS = 5_500;
/** As long as they can be, in most partitions. */
const PSEUDO_PARAMETERS = { Partition: 'aws', Region: 'ap-southeast-1', AccountId: '111122223333' };

/** Topics that one alarm tells. @see CloudWatch API, PutMetricAlarm */
const TOPICS_MAX = 5;

/** One text in a store, as functions/adapters/remote-text.ts takes it; IAM would read a wildcard as many. An ARN is one of that store. */
const REFERENCE = /^(ssm:(?!arn:(?!aws[a-z-]*:ssm:))[\w+=.@/:-]+|secretsmanager:(?!arn:(?!aws[a-z-]*:secretsmanager:))[\w+=.@/:-]+(#.+)?)$/;
/** Of one thing each: a wildcard would give a right to many. */
const arn = (form, what) => z.string().regex(new RegExp(`^arn:[a-z-]+:${form}$`), `is no ARN of ${what}`);
/** Texts on the command line: a,b,c. */
const list = (item) => z.preprocess((value) => (typeof value === 'string' ? value.split(',').filter(Boolean) : value), z.array(item));
const count = (least, most) => z.coerce.number().int().min(least).max(most);

const PARAMETERS = z.strictObject({
  clusters: z
    .string()
    .refine(
      (text) => REFERENCE.test(text) || /^[^\s:/]+$/.test(text),
      'is neither ssm:/name nor secretsmanager:id nor the name of a file in the package',
    ),
  clusterNames: list(z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'is no name of a cluster')).refine(
    (names) => names.length > 0 && names.length <= CLUSTERS_MAX && new Set(names).size === names.length,
    `needs 1 to ${CLUSTERS_MAX} names, each once; with more, let several stages have a part of the clusters each`,
  ),
  credentials: list(z.string().regex(REFERENCE, 'is neither ssm:/name nor secretsmanager:id')),
  // In a policy an alias is no key.
  keyArns: list(arn('kms:[^:*?]+:\\d+:key/[\\w-]+', 'a key (an alias is none in a policy)')),
  roleArns: list(arn('iam::\\d+:role/[^\\s*?]+', 'a role')),
  eksClusterArns: list(arn('eks:[^:*?]+:\\d+:cluster/[\\w-]+', 'a cluster of EKS')),
  // At least the default of DOGWATCH_RECORD_DEADLINE_SECONDS, at most what settings take.
  functionTimeoutSeconds: count(20, 895),
  memoryMegabytes: count(128, 10_240),
  batchSize: count(1, 10_000),
  batchWindowSeconds: count(0, 300),
  liveConcurrency: count(2, 1000),
  bulkConcurrency: count(2, 1000),
  // Longer than a message that is received five times lives; shorter than dead letters are kept, with time to see them.
  queueRetentionSeconds: count(86_400, 864_000),
  logRetentionDays: z.coerce.number().int(),
  alarmTopicArns: list(arn('sns:[^:*?]+:\\d+:[\\w.-]+', 'a topic of SNS')).refine(
    (topics) => topics.length <= TOPICS_MAX,
    `an alarm has at most ${TOPICS_MAX} topics`,
  ),
  oldestUnsettledSeconds: count(60, 86_400),
  // What is told under another one is lost without a word.
  metricsNamespace: z.string().regex(/^(?!AWS\/)[\w.\-/#][\w.\-/#:]{0,254}$/, 'is no namespace of CloudWatch that is free to use'),
  subnetIds: list(z.string().startsWith('subnet-')),
  securityGroupIds: list(z.string().startsWith('sg-')),
});

/** What no parameter shows alone. */
const RELATIONS = [
  ({ batchSize, batchWindowSeconds }) =>
    batchSize > 10 && batchWindowSeconds === 0 && 'batchSize above 10 needs a batchWindowSeconds of 1 or more: Lambda refuses it else',
  ({ subnetIds, securityGroupIds }) =>
    (subnetIds.length === 0) !== (securityGroupIds.length === 0) && 'subnetIds and securityGroupIds go together: name both, or neither',
  (parameters) =>
    visibilityOf(parameters) > VISIBILITY_MAX_SECONDS &&
    `six times functionTimeoutSeconds and batchWindowSeconds are over ${VISIBILITY_MAX_SECONDS}`,
  (parameters) => {
    const characters = charactersOf(credentialStatements(parameters));
    return (
      characters > NAMED_MAX_CHARACTERS &&
      `credentials, keyArns, roleArns and eksClusterArns take ${characters} characters of a policy, and may take ${NAMED_MAX_CHARACTERS}: ` +
        'put several kubeconfigs under keys of one secret (secretsmanager:ID#KEY), or let several stages have a part of the clusters each'
    );
  },
];

/** Parameters that each stage names itself, with what to write. */
const REQUIRED = {
  clusters: 'where the cluster registry is, such as ssm:/dogwatch/STAGE/clusters',
  clusterNames: 'the clusters in the registry, such as [east, west]',
};

/**
 * What a stage is made of: its parameters, with what follows from them.
 *
 * @param stage  its name, for messages
 * @param given  what `params` and the command line say of it
 * @throws Error of one sentence that names stage and parameter
 */
function stageOf(stage, given) {
  for (const [name, what] of Object.entries(REQUIRED)) {
    if (given[name] != null && given[name] !== '') continue;
    fail(`stage ${stage} has no parameter ${name}: name under params.${stage} in serverless.yml ${what.replace('STAGE', stage)}`);
  }
  const { data, error } = PARAMETERS.safeParse(given);
  const [issue] = error?.issues ?? [];
  if (issue?.code === 'unrecognized_keys') {
    fail(`stage ${stage} has an unknown parameter ${issue.keys[0]}; there are: ${Object.keys(PARAMETERS.shape).join(', ')}`);
  }
  if (issue !== undefined) fail(`parameter ${issue.path.join('.')} of stage ${stage}: ${issue.message}; see params in serverless.yml`);
  const problem = RELATIONS.map((relation) => relation(data)).find(Boolean);
  if (problem) fail(`stage ${stage}: ${problem}`);
  const visibilitySeconds = visibilityOf(data);
  // Above the longest delay, and one failed try after it.
  const quietAgeSeconds = DELAY_MAX_SECONDS + 2 * visibilitySeconds;
  // An hour and four, but later than that: where only this one goes off, it has to mean that one busy cluster waits for itself.
  const liveAgeSeconds = Math.max(3600, 2 * quietAgeSeconds);
  return {
    ...data,
    visibilitySeconds,
    quietAgeSeconds,
    liveAgeSeconds,
    bulkAgeSeconds: Math.max(14_400, liveAgeSeconds + 3600),
    deadLetterAgeSeconds: DEAD_LETTER_RETENTION_SECONDS - data.queueRetentionSeconds - DEAD_LETTER_WARNING_SECONDS,
  };
}

function visibilityOf({ functionTimeoutSeconds, batchWindowSeconds }) {
  return 6 * functionTimeoutSeconds + batchWindowSeconds;
}

/** Statements of reading what is named: the registry, credentials, and how to be somebody else. None for what is not. */
function credentialStatements({ clusters, credentials, keyArns, roleArns, eksClusterArns }) {
  const references = [clusters, ...credentials].filter((text) => REFERENCE.test(text));
  // Without the key that follows a secret.
  const idOf = (text) => text.slice(text.indexOf(':') + 1).split('#')[0];
  const named = (store) => references.filter((text) => text.startsWith(`${store}:`)).map(idOf);
  return [
    statement('ReadParameters', 'ssm:GetParameter', named('ssm').map(parameterArn)),
    statement('ReadSecrets', 'secretsmanager:GetSecretValue', named('secretsmanager').map(secretArn)),
    statement('Decrypt', 'kms:Decrypt', keyArns),
    statement('AssumeRoles', 'sts:AssumeRole', roleArns),
    statement('DescribeClusters', 'eks:DescribeCluster', eksClusterArns),
  ].filter(({ Resource }) => Resource.length > 0);
}

/** Of a policy with these statements, as AWS will count them. */
function charactersOf(statements) {
  const resolved = (value) => value?.['Fn::Sub']?.replace(/\$\{AWS::(\w+)\}/g, (_, name) => PSEUDO_PARAMETERS[name]) ?? value;
  return JSON.stringify(statements, (_, value) => resolved(value)).length;
}

/** Each resource once, also where several references lead to it. */
function statement(Sid, action, resources) {
  const Resource = [...new Map(resources.map((one) => [JSON.stringify(one), one])).values()];
  return { Sid, Effect: 'Allow', Action: [action], Resource };
}

/** Of the parameter, whose versions and labels (`name:3`) have no ARNs of their own. */
function parameterArn(name) {
  const [whole] = /^(arn(:[^:]*){4}:)?[^:]*/.exec(name);
  return name.startsWith('arn:') ? whole : sub(`ssm:\${AWS::Region}:\${AWS::AccountId}:parameter/${whole.replace(/^\//, '')}`);
}

/** Six random characters follow a secret's name in its ARN; who asks may leave them out, and IAM does not. */
function secretArn(id) {
  if (!id.startsWith('arn:')) return sub(`secretsmanager:\${AWS::Region}:\${AWS::AccountId}:secret:${id}-??????`);
  return /-[A-Za-z0-9]{6}$/.test(id) ? id : `${id}-??????`;
}

function sub(rest) {
  return { 'Fn::Sub': `arn:\${AWS::Partition}:${rest}` };
}

/** One set of alarms for each cluster. Names of resources are letters and digits: a hyphen becomes `Dash`, which no label has. */
function alarmsOf(clusterNames, templates) {
  return Object.assign(
    {},
    ...clusterNames.map((name) => {
      const suffix = (name[0].toUpperCase() + name.slice(1)).replaceAll('-', 'Dash');
      const named = JSON.parse(JSON.stringify(templates).replaceAll('CLUSTER', name));
      return Object.fromEntries(Object.entries(named).map(([id, resource]) => [`${id}${suffix}`, resource]));
    }),
  );
}

/** The framework shows the stack of what is thrown here, and one sentence is what its reader needs. */
function fail(sentence) {
  const error = new Error(sentence);
  error.stack = sentence;
  throw error;
}

async function readStage({ resolveVariable, options = {} }) {
  checkName(options.stage);
  const stage = await resolveVariable('sls:stage');
  const common = await resolveVariable('self:params.default');
  const own = await resolveVariable(`self:params.${stage}, ''`);
  const fromCommandLine = [options.param ?? []].flat().map((text) => text.split(/=(.*)/s).slice(0, 2));
  const parameters = stageOf(stage, { ...common, ...own, ...Object.fromEntries(fromCommandLine) });
  const file = await resolveVariable('self:package.artifact');
  const artifact = path.resolve(__dirname, '..', file);
  if (needsArtifact() && !existsSync(artifact)) fail(`stage ${stage}: ${file} is not there: npm run build makes it, run that first`);
  checkRegistry(stage, parameters.clusters, artifact);
  return { name: stage, ...parameters };
}

/** The framework knows the rule as well, and tells it once for each place in which the name is used. */
function checkName(name) {
  if (name === undefined || /^[A-Za-z0-9-]+$/.test(name)) return;
  fail(
    `${JSON.stringify(name)} is no name of a stage: letters, digits and hyphens, for CloudFormation takes no other in the name of a stack`,
  );
}

/** Of the command only its words are known here. To remove a stack needs no artifact, nor do questions. */
function needsArtifact() {
  const words = process.argv.slice(2);
  return words.some((word) => word === 'package' || word === 'deploy') && !words.includes('list');
}

/** A function without its registry would find out at its first message, and each try would cost the message a receive. */
function checkRegistry(stage, clusters, artifact) {
  // Without an artifact nothing is deployed; to remove a stack needs none.
  if (REFERENCE.test(clusters) || !existsSync(artifact) || filesIn(stage, artifact).includes(clusters)) return;
  fail(`stage ${stage}: parameter clusters names ${clusters}, which is not in the package: npm run build -- --include PATH/${clusters}`);
}

function filesIn(stage, artifact) {
  const names = [];
  try {
    unzipSync(readFileSync(artifact), { filter: ({ name }) => names.push(name) < 0 });
  } catch {
    fail(`stage ${stage}: ${path.basename(artifact)} is no zip that can be read: npm run build makes it`);
  }
  return names;
}

/** Asked of the configuration, so that what is wrong with a stage is told once and not by every export. */
function stageIn({ resolveVariable }) {
  return resolveVariable('self:custom.stage');
}

async function statementsOf(framework, who) {
  const own = await framework.resolveVariable(`file(infra/permissions.yml):${who}`);
  return [...own, ...credentialStatements(await stageIn(framework))];
}

module.exports = {
  stage: readStage,
  functionStatements: (framework) => statementsOf(framework, 'function'),
  watcherStatements: (framework) => statementsOf(framework, 'watcher'),
  /** What a function in subnets needs of EC2. */
  async managedPolicies(framework) {
    const { subnetIds } = await stageIn(framework);
    return subnetIds.length === 0 ? [] : [sub('iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole')];
  },
  /** No subnets: outside of any VPC, also one that it was in before. */
  async vpc(framework) {
    const { subnetIds, securityGroupIds } = await stageIn(framework);
    return { SubnetIds: subnetIds, SecurityGroupIds: securityGroupIds };
  },
  async clusterAlarms(framework) {
    const { clusterNames } = await stageIn(framework);
    return alarmsOf(clusterNames, await framework.resolveVariable('file(infra/alarms.yml):cluster'));
  },
};
