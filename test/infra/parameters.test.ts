import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { zipSync } from 'fflate';

type Framework = {
  resolveVariable(text: string): Promise<unknown>;
  options: { param?: string[]; stage?: string };
};

const parameters = createRequire(import.meta.url)('../../infra/parameters.cjs') as {
  stage(framework: Framework): Promise<Record<string, unknown>>;
  watcherStatements(framework: Framework): Promise<{ Action: string[]; Resource: (string | { 'Fn::Sub': string })[] }[]>;
};

/** What `default` of serverless.yml may say. */
const COMMON = {
  credentials: [],
  keyArns: [],
  roleArns: [],
  eksClusterArns: [],
  functionTimeoutSeconds: 30,
  memoryMegabytes: 512,
  batchSize: 10,
  batchWindowSeconds: 0,
  liveConcurrency: 10,
  bulkConcurrency: 5,
  queueRetentionSeconds: 345_600,
  logRetentionDays: 30,
  alarmTopicArns: [],
  oldestUnsettledSeconds: 3600,
  metricsNamespace: 'Dogwatch',
  subnetIds: [],
  securityGroupIds: [],
};
const OWN = { clusters: 'ssm:/dogwatch/prod/clusters', clusterNames: ['east'] };

/** The stage `prod` as serverless.yml and the command line have it. */
function stage(
  own: Record<string, unknown> | undefined,
  param: string[] = [],
  artifact = 'dist/absent.zip',
): Promise<Record<string, unknown>> {
  const variables: Record<string, unknown> = {
    'sls:stage': 'prod',
    'self:params.default': COMMON,
    "self:params.prod, ''": own ?? '',
    'self:package.artifact': artifact,
  };
  return parameters.stage({ resolveVariable: async (text) => variables[text], options: { param } });
}

/** What may be read, by the action. */
async function readable(credentials: string[]): Promise<string[]> {
  const found = await stage({ ...OWN, credentials });
  const variables: Record<string, unknown> = { 'self:custom.stage': found, 'file(infra/permissions.yml):watcher': [] };
  const statements = await parameters.watcherStatements({ resolveVariable: async (text) => variables[text], options: {} });
  const own = 'parameter/dogwatch/prod/clusters';
  return statements
    .flatMap(({ Resource }) => Resource.map((one) => (typeof one === 'string' ? one : one['Fn::Sub'])))
    .map((arn) => arn.replace(/^arn:\$\{AWS::Partition\}:\w+:\$\{AWS::Region\}:\$\{AWS::AccountId\}:/, ''))
    .filter((arn) => arn !== own);
}

describe('parameters of a stage', () => {
  it('are those of default with its own before them, and those of the command line before these', async () => {
    const { liveConcurrency, bulkConcurrency, batchSize } = await stage({ ...OWN, liveConcurrency: 20, bulkConcurrency: 7 }, [
      'bulkConcurrency=9',
    ]);
    assert.deepEqual({ liveConcurrency, bulkConcurrency, batchSize }, { liveConcurrency: 20, bulkConcurrency: 9, batchSize: 10 });
  });

  it('are lists where the command line has commas', async () => {
    const { clusterNames, roleArns } = await stage(OWN, ['clusterNames=east,west', 'roleArns=arn:aws:iam::1:role/a=b']);
    assert.deepEqual([clusterNames, roleArns], [['east', 'west'], ['arn:aws:iam::1:role/a=b']]);
  });

  it('decide the visibility, and the ages that are alarms', async () => {
    const found = await stage({ ...OWN, functionTimeoutSeconds: 60, batchWindowSeconds: 5, queueRetentionSeconds: 86_400 });
    assert.equal(found['visibilitySeconds'], 6 * 60 + 5);
    assert.equal(found['quietAgeSeconds'], 900 + 2 * 365);
    assert.deepEqual([found['liveAgeSeconds'], found['bulkAgeSeconds']], [3600, 14_400]);
    assert.equal(found['deadLetterAgeSeconds'], (14 - 1 - 3) * 86_400);
  });

  it('have a queue wait longer, all of it, than its quiet groups do before that is an alarm, however long the time-out', async () => {
    const found = await stage({ ...OWN, functionTimeoutSeconds: 895 });
    const { quietAgeSeconds, liveAgeSeconds, bulkAgeSeconds, visibilitySeconds } = found as Record<string, number>;
    assert.ok((liveAgeSeconds ?? 0) > (quietAgeSeconds ?? 0), `${liveAgeSeconds} and ${quietAgeSeconds}`);
    assert.ok((bulkAgeSeconds ?? 0) > 900 + 2 * (visibilitySeconds ?? 0), String(bulkAgeSeconds));
  });

  it('name a registry by its file where it is in the package, or where nothing is deployed', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'dogwatch-parameters-'));
    try {
      const own = { ...OWN, clusters: 'clusters.yml' };
      const zip = join(dir, 'reconcile.zip');
      assert.equal((await stage(own, [], zip))['clusters'], 'clusters.yml');
      // Its name in that of another file is none.
      writeFileSync(
        zip,
        zipSync({ 'reconcile.cjs': new Uint8Array(), 'old-clusters.yml': new Uint8Array(), 'clusters.yml.map': new Uint8Array() }),
      );
      await assert.rejects(stage(own, [], zip), {
        message: /^stage prod: parameter clusters names clusters\.yml, which is not in the package/,
      });
      writeFileSync(zip, zipSync({ 'clusters.yml': new Uint8Array() }));
      assert.equal((await stage(own, [], zip))['clusters'], 'clusters.yml');
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('are refused in one sentence for a name that no stage can have, before the framework says so for each use of it', async () => {
    for (const name of ['a_b', 'a.b', 'a b', '']) {
      const framework = { resolveVariable: () => assert.fail('asked'), options: { stage: name } };
      await assert.rejects(parameters.stage(framework), {
        message: `${JSON.stringify(name)} is no name of a stage: letters, digits and hyphens, for CloudFormation takes no other in the name of a stack`,
      });
    }
    assert.equal((await stage(OWN))['name'], 'prod');
  });

  it('are refused without an artifact where it is packaged or deployed, and not where a stack is removed', async () => {
    const before = [...process.argv];
    const called = async (...words: string[]): Promise<unknown> => {
      process.argv = [...before.slice(0, 2), ...words];
      return stage(OWN).then(
        () => 'taken',
        (error: Error) => error.message,
      );
    };
    try {
      const refused = 'stage prod: dist/absent.zip is not there: npm run build makes it, run that first';
      assert.equal(await called('package'), refused);
      assert.equal(await called('--stage', 'prod', 'deploy', '--verbose'), refused);
      assert.equal(await called('deploy', 'function', '-f', 'reconcile'), refused);
      for (const words of [['remove'], ['print'], ['info', '--stage', 'prod'], ['deploy', 'list']])
        assert.equal(await called(...words), 'taken');
    } finally {
      process.argv = before;
    }
  });

  it('name as many secrets as a policy can hold, and any number of keys of one', async () => {
    const secrets = Array.from({ length: 50 }, (_, at) => `secretsmanager:dogwatch/kubeconfigs/cluster-${at}`);
    assert.equal(((await stage({ ...OWN, credentials: secrets }))['credentials'] as unknown[]).length, 50);
    const keys = Array.from({ length: 100 }, (_, at) => `secretsmanager:dogwatch/kubeconfigs#cluster-${at}`);
    assert.equal(((await stage({ ...OWN, credentials: keys }))['credentials'] as unknown[]).length, 100);
  });

  it('let the parameter itself be read where one version or label of it is named: a right knows neither', async () => {
    const parameter = 'arn:aws:ssm:eu-west-1:111122223333:parameter/west';
    assert.deepEqual(await readable(['ssm:/east:3', 'ssm:east:live', `ssm:${parameter}:3`, `ssm:${parameter}`]), [
      'parameter/east',
      parameter,
    ]);
  });

  it('let a secret be read also where its ARN lacks the six characters that AWS puts behind the name', async () => {
    const secret = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:dogwatch/east';
    assert.deepEqual(await readable([`secretsmanager:${secret}#a`, `secretsmanager:${secret}-AbCdEf`]), [
      `${secret}-??????`,
      `${secret}-AbCdEf`,
    ]);
  });

  const wrong: readonly [name: string, own: Record<string, unknown> | undefined, says: RegExp][] = [
    [
      'no stage',
      undefined,
      /^stage prod has no parameter clusters: name under params\.prod in serverless\.yml .*ssm:\/dogwatch\/prod\/clusters$/,
    ],
    ['no registry', { clusterNames: ['east'] }, /^stage prod has no parameter clusters: /],
    ['no clusters', { clusters: OWN.clusters }, /^stage prod has no parameter clusterNames: /],
    ['an unknown name', { ...OWN, liveConcurency: 3 }, /^stage prod has an unknown parameter liveConcurency; there are: clusters, /],
    ['a registry by another scheme', { ...OWN, clusters: 's3:bucket/x' }, /^parameter clusters of stage prod: is neither ssm:/],
    ['a registry outside of the package', { ...OWN, clusters: '/etc/clusters.yml' }, /^parameter clusters of stage prod/],
    ['no cluster in the list', { ...OWN, clusterNames: [] }, /^parameter clusterNames of stage prod: needs 1 to 100 names/],
    ['a cluster twice', { ...OWN, clusterNames: ['a', 'a'] }, /^parameter clusterNames of stage prod: needs/],
    ['more alarms than a stack holds', { ...OWN, clusterNames: Array.from({ length: 101 }, (_, i) => `c${i}`) }, /^parameter clusterNames/],
    [
      'a name that no registry has',
      { ...OWN, clusterNames: ['East'] },
      /^parameter clusterNames\.0 of stage prod: is no name of a cluster/,
    ],
    ['a concurrency of 1', { ...OWN, bulkConcurrency: 1 }, /^parameter bulkConcurrency of stage prod: /],
    ['a time-out below the deadline of a run', { ...OWN, functionTimeoutSeconds: 19 }, /^parameter functionTimeoutSeconds/],
    ['a batch without its window', { ...OWN, batchSize: 11 }, /^stage prod: batchSize above 10 needs a batchWindowSeconds/],
    ['subnets alone', { ...OWN, subnetIds: ['subnet-1'] }, /^stage prod: subnetIds and securityGroupIds go together/],
    ['a retention that leaves no time to read letters', { ...OWN, queueRetentionSeconds: 1_209_600 }, /^parameter queueRetentionSeconds/],
    [
      'an ARN of something else',
      { ...OWN, roleArns: ['arn:aws:sns:eu-west-1:1:ops'] },
      /^parameter roleArns\.0 of stage prod: is no ARN of a role/,
    ],
    ['all parameters there are', { ...OWN, credentials: ['ssm:*'] }, /^parameter credentials\.0 of stage prod: is neither ssm:/],
    ['a registry of any name', { ...OWN, clusters: 'secretsmanager:dogwatch-?' }, /^parameter clusters of stage prod: is neither ssm:/],
    [
      'more secrets than a policy can name',
      { ...OWN, credentials: Array.from({ length: 60 }, (_, at) => `secretsmanager:dogwatch/kubeconfigs/cluster-${at}`) },
      /^stage prod: credentials, keyArns, roleArns and eksClusterArns take \d+ characters of a policy, and may take 5500: /,
    ],
    ['all roles there are', { ...OWN, roleArns: ['arn:aws:iam::*:role/*'] }, /^parameter roleArns\.0 of stage prod: is no ARN of a role/],
    ['a user for a role', { ...OWN, roleArns: ['arn:aws:iam::1:user/a'] }, /^parameter roleArns\.0 of stage prod: is no ARN of a role/],
    [
      'all keys there are',
      { ...OWN, keyArns: ['arn:aws:kms:eu-west-1:1:key/*'] },
      /^parameter keyArns\.0 of stage prod: is no ARN of a key/,
    ],
    [
      'an alias of a key, which IAM takes for no key',
      { ...OWN, keyArns: ['arn:aws:kms:eu-west-1:1:alias/dogwatch'] },
      /^parameter keyArns\.0 of stage prod: is no ARN of a key \(an alias/,
    ],
    [
      'a node group for a cluster',
      { ...OWN, eksClusterArns: ['arn:aws:eks:eu-west-1:1:nodegroup/a/b/c'] },
      /^parameter eksClusterArns\.0 of stage prod: is no ARN of a cluster of EKS/,
    ],
    [
      'a reference that no process would take',
      { ...OWN, credentials: ['ssm:/a|b'] },
      /^parameter credentials\.0 of stage prod: is neither ssm:/,
    ],
    ['a secret without the key it begins', { ...OWN, clusters: 'secretsmanager:a#' }, /^parameter clusters of stage prod: is neither ssm:/],
    [
      'the ARN of a secret for a parameter',
      { ...OWN, credentials: ['ssm:arn:aws:secretsmanager:eu-west-1:1:secret:a'] },
      /^parameter credentials\.0 of stage prod: is neither ssm:/,
    ],
    ['a namespace of AWS', { ...OWN, metricsNamespace: 'AWS/Dogwatch' }, /^parameter metricsNamespace of stage prod: is no namespace/],
    ['a blank for a namespace', { ...OWN, metricsNamespace: ' ' }, /^parameter metricsNamespace of stage prod: is no namespace/],
    [
      'more topics than an alarm tells',
      { ...OWN, alarmTopicArns: Array.from({ length: 6 }, (_, at) => `arn:aws:sns:eu-west-1:1:ops-${at}`) },
      /^parameter alarmTopicArns of stage prod: an alarm has at most 5/,
    ],
    ['no number', { ...OWN, batchSize: 'ten' }, /^parameter batchSize of stage prod: /],
  ];
  for (const [name, own, says] of wrong) {
    it(`are refused in one sentence: ${name}`, () =>
      assert.rejects(stage(own), (error: Error) => {
        assert.match(error.message, says);
        assert.equal(error.stack, error.message, 'the framework shows the stack');
        return true;
      }));
  }
});
