/** serverless.yml, by what osls makes of it: every relation that AWS does not check, or only while a stack is made. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import * as alarms from './template/alarm-checks.ts';
import * as functions from './template/function-checks.ts';
import { MUTATIONS } from './template/mutations.ts';
import { type Grants, permissionsOf, REGISTRY_ONLY } from './template/permission-checks.ts';
import * as queues from './template/queue-checks.ts';
import { packageStage } from './template/service.ts';
import type { Check, Template } from './template/template.ts';

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'infra/RUNBOOK.md'), 'utf8');
const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:ops';
const VPC_ACCESS = `arn:\${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole`;

interface Stage {
  readonly clusters: readonly string[];
  readonly topics: readonly string[];
  readonly permissions: Check;
}

function checksOf({ clusters, topics, permissions }: Stage): Readonly<Record<string, Check>> {
  const { environmentOf: _, ...ofFunction } = functions;
  const { clusterAlarms, runbook, actions, ...ofAlarms } = alarms;
  return {
    ...queues,
    ...ofFunction,
    ...ofAlarms,
    clusterAlarms: clusterAlarms(clusters),
    runbook: runbook(page),
    actions: actions(topics),
    permissions,
  };
}

const dev = checksOf({ clusters: ['east', 'west'], topics: [TOPIC], permissions: permissionsOf('dev', REGISTRY_ONLY) });
const problemsOf = (template: Template, checks = dev): string[] => Object.values(checks).flatMap((check) => check(template));

/** A stage that has everything. */
const FULL = {
  clusters: 'secretsmanager:dogwatch/clusters',
  clusterNames: 'b,a-b,ab',
  credentials:
    'ssm:/dogwatch/west,secretsmanager:west#kubeconfig,secretsmanager:west#other,secretsmanager:arn:aws:secretsmanager:eu-west-1:111122223333:secret:east-AbCdEf',
  keyArns: 'arn:aws:kms:eu-west-1:111122223333:key/1',
  roleArns: 'arn:aws:iam::444455556666:role/dogwatch',
  eksClusterArns: 'arn:aws:eks:eu-west-1:111122223333:cluster/east',
  functionTimeoutSeconds: '60',
  batchSize: '100',
  batchWindowSeconds: '5',
  liveConcurrency: '1000',
  bulkConcurrency: '2',
  queueRetentionSeconds: '864000',
  metricsNamespace: 'Dogwatch/full',
  subnetIds: 'subnet-1,subnet-2',
  securityGroupIds: 'sg-1',
};
const OWN = `arn:\${AWS::Partition}:secretsmanager:\${AWS::Region}:\${AWS::AccountId}:secret:`;
const FULL_GRANTS: Grants = [
  [['ssm:GetParameter'], [`arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter/dogwatch/west`]],
  [
    ['secretsmanager:GetSecretValue'],
    [`${OWN}dogwatch/clusters-??????`, `${OWN}west-??????`, 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:east-AbCdEf'],
  ],
  [['kms:Decrypt'], [FULL.keyArns]],
  [['sts:AssumeRole'], [FULL.roleArns]],
  [['eks:DescribeCluster'], [FULL.eksClusterArns]],
];

describe('serverless.yml', () => {
  let template: Template;
  let full: Template;
  before(async () => {
    [template, full] = await Promise.all([packageStage('dev', { alarmTopicArns: TOPIC }), packageStage('full', FULL)]);
  });

  it('is packaged without an account, and keeps every relation', () => {
    assert.deepEqual(problemsOf(template), []);
  });

  it('keeps every relation where a stage names everything', () => {
    const permissions = permissionsOf('full', FULL_GRANTS, [VPC_ACCESS]);
    assert.deepEqual(problemsOf(full, checksOf({ clusters: ['b', 'a-b', 'ab'], topics: [], permissions })), []);
  });

  it('refuses a stage without parameters, or with a name that is none, in one sentence that names it, and asks nobody', async () => {
    const refused = async (stage: string, sentence: RegExp): Promise<void> => {
      await assert.rejects(packageStage(stage), ({ message }: Error) => {
        assert.match(message, /ended with 1/);
        assert.deepEqual([message.match(/Cannot resolve variable/g)?.length, message.match(sentence)?.length], [1, 1], message);
        return true;
      });
    };
    await Promise.all([
      refused('prod', /stage prod has no parameter clusters: name under params\.prod in serverless\.yml/g),
      refused('a_b', /"a_b" is no name of a stage: letters, digits and hyphens/g),
    ]);
  });

  it('has alarms whose sections of the runbook begin with three commands', () => {
    const sections = page.split(/^## /m).filter((section) => section.startsWith('Alarm '));
    assert.ok(sections.length > 10);
    for (const section of sections) assert.equal(section.match(/^ {4}\S/gm)?.length, 3, section);
  });

  it('has a check for everything, each of which some mutation needs', () => {
    const checks = new Set(Object.keys(dev));
    for (const { breaks } of MUTATIONS) {
      const broken = structuredClone(template);
      breaks(broken);
      for (const [name, check] of Object.entries(dev)) if (check(broken).length > 0) checks.delete(name);
    }
    assert.deepEqual([...checks], []);
  });

  for (const { name, breaks, says } of MUTATIONS) {
    it(`is not packaged like this unnoticed: ${name}`, () => {
      const broken = structuredClone(template);
      breaks(broken);
      assert.notDeepEqual(broken, template);
      const problems = problemsOf(broken);
      assert.ok(
        problems.some((problem) => says.test(problem)),
        `${says} is not among:\n${problems.join('\n')}`,
      );
    });
  }
});
