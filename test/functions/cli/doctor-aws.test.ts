/** `dogwatch doctor` where registry and ways to clusters lie in AWS: whose fault it is, and that one bad one holds up no other. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { examine } from '../../../functions/cli/doctor.ts';
import type { Finding } from '../../../functions/core/doctor/finding.ts';
import { type ApiServer, startApiServer } from '../../../infra/local/api-server/api-server.ts';
import { AwsStub } from '../../fakes/aws-stub.ts';

const ROLE = 'arn:aws:iam::123456789012:role/dogwatch';
const REGISTRY = '/dogwatch/clusters';

describe('dogwatch doctor with a registry in AWS', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-doctor-aws-'));
  const kept = { ...process.env };
  let aws: AwsStub;
  let server: ApiServer;
  let kubeconfig = '';
  before(async () => {
    [aws, server] = await Promise.all([AwsStub.start(), startApiServer()]);
    kubeconfig = join(dir, 'east.yaml');
    writeFileSync(kubeconfig, server.kubeconfig('east'));
  });
  beforeEach(() => {
    aws.reset();
    process.env = { ...kept, ...aws.environment };
  });
  after(async () => {
    process.env = kept;
    await Promise.all([aws.close(), server.stop()]);
    rmSync(dir, { recursive: true, force: true });
  });

  /** Without queues and function, which nobody names, and without the kinds, which are not there. */
  async function findings(registry: string, isThere = true): Promise<string[]> {
    if (isThere) aws.parameters.set(REGISTRY, registry);
    const found = await examine({ DOGWATCH_CLUSTERS: `ssm:${REGISTRY}` }, {}, []);
    last = found;
    return found
      .filter(({ subject }) => subject === 'registry' || subject.startsWith('cluster '))
      .filter(({ outcome, check }) => outcome !== 'ok' && !check.startsWith('rights'))
      .map(({ outcome, subject, check }) => `${outcome} ${subject}, ${check}`);
  }
  let last: readonly Finding[] = [];
  const saying = (outcome: Finding['outcome']): Finding | undefined => last.find((one) => one.outcome === outcome);
  const eks = (cluster: string, more: object = {}): object => ({ name: cluster, eks: { cluster, region: 'eu-west-1', ...more } });
  const text = (...clusters: readonly object[]): string => JSON.stringify({ clusters });

  it('tells a role that may not be assumed, a cluster that was deleted and one that is being made from each other, beside one that is well', async () => {
    aws.clusters.set('fresh', 'CREATING');
    const found = await findings(text({ name: 'east', kubeconfig }, eks('foreign', { role: ROLE }), eks('deleted'), eks('fresh')));
    assert.deepEqual(found, ['failure cluster foreign, role', 'failure cluster deleted, cluster', 'failure cluster fresh, credentials']);
    assert.equal(last.find(({ subject, check }) => subject === 'cluster east' && check === 'reach')?.outcome, 'ok');
    assert.match(last.find(({ check }) => check === 'role')?.says ?? '', new RegExp(ROLE));
    assert.match(last.find(({ subject }) => subject === 'cluster deleted')?.fix ?? '', /take it out of the registry/);
    assert.match(last.find(({ subject }) => subject === 'cluster fresh')?.says ?? '', /wait until it is ACTIVE/);
  });

  it('takes for not checked what AWS may not be asked here, and goes on with the others', async () => {
    aws.refusals.set('DescribeCluster', {
      status: 403,
      code: 'AccessDeniedException',
      message: 'not authorized to perform: eks:DescribeCluster',
    });
    assert.deepEqual(await findings(text(eks('production'), { name: 'east', kubeconfig })), ['not-checked cluster production, reach']);
    assert.match(saying('not-checked')?.says ?? '', /eks:DescribeCluster/);
  });

  const rows: readonly [name: string, registry: string, found: string, says: RegExp][] = [
    ['does not parse', 'clusters: [', 'failure registry, read', /does not parse as YAML/],
    ['has an entry without a name', text({ kubeconfig: 'x' }), 'failure registry, read', /clusters\[0\]: name is missing/],
    ['is empty', text(), 'failure registry, read', /at least one cluster/],
  ];
  for (const [name, registry, found, says] of rows) {
    it(`fails where the registry ${name}, and says where`, async () => {
      assert.deepEqual(await findings(registry), [found]);
      assert.match(saying('failure')?.says ?? '', says);
    });
  }

  it('fails of the one cluster whose entry is faulty, and checks the others', async () => {
    const found = await findings(text({ name: 'west', kubeconfg: 'x' }, { name: 'east', kubeconfig }));
    assert.deepEqual(found, ['failure cluster west, entry']);
    assert.match(saying('failure')?.says ?? '', /ssm:\/dogwatch\/clusters: clusters\[0\] \(west\): unknown key kubeconfg; did you mean/);
    assert.deepEqual(
      last.filter(({ check }) => check === 'reach' || check === 'read').map(({ subject, outcome }) => `${outcome} ${subject}`),
      ['ok registry', 'ok cluster east'],
    );
  });

  it('fails where there is no registry of that name', async () => {
    assert.deepEqual(await findings('', false), ['failure registry, read']);
    assert.match(saying('failure')?.fix ?? '', /put-parameter.*AWS_REGION/);
    assert.match(saying('failure')?.says ?? '', /ParameterNotFound/);
  });

  it('does not know where the registry may not be read', async () => {
    aws.refusals.set('GetParameter', {
      status: 400,
      code: 'AccessDeniedException',
      message: 'not authorized to perform: ssm:GetParameter',
    });
    assert.deepEqual(await findings(text({ name: 'east', kubeconfig })), ['not-checked registry, read']);
    assert.match(saying('not-checked')?.fix ?? '', /ssm:GetParameter/);
  });

  it('does not know where a variable of AWS is wrong here, which it names', async () => {
    const eastAlone = text({ name: 'east', kubeconfig: 'ssm:/east' });
    process.env['AWS_ENDPOINT_URL'] = 'localhost:4566';
    assert.deepEqual(await findings(eastAlone), ['not-checked registry, read']);
    assert.match(saying('not-checked')?.says ?? '', /AWS_ENDPOINT_URL is "localhost:4566".* write http:\/\/localhost:4566$/);
    assert.equal(saying('not-checked')?.fix, 'Mend that variable, and run this again.');
    process.env['AWS_ENDPOINT_URL'] = aws.url;
    process.env['AWS_ENDPOINT_URL_SECRETS_MANAGER'] = 'localhost:4566';
    assert.deepEqual(await findings(text({ name: 'east', kubeconfig: 'secretsmanager:east' })), ['not-checked cluster east, reach']);
    assert.match(last.find(({ check }) => check === 'reach')?.says ?? '', /AWS_ENDPOINT_URL_SECRETS_MANAGER is /);
  });

  it('names no secret', async () => {
    await findings(text({ name: 'east', kubeconfig }, eks('foreign', { role: ROLE })));
    assert.doesNotMatch(JSON.stringify(last), new RegExp(`own-secret|k8s-aws-v1|${server.token}`));
  });
});
