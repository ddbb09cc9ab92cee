import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { load } from 'js-yaml';
import type { Log } from '../../../../functions/adapters/telemetry.ts';
import { crdYaml } from '../../../../functions/cli/crds.ts';
import { processBatch } from '../../../../functions/reconcile/batch.ts';
import { startEnvironment } from '../../../../functions/reconcile/environment.ts';
import { tenant } from '../../../../functions/reconcilers/tenant.ts';
import { type Host, runWatcher } from '../../../../functions/watcher/start.ts';
import { type ApiServer, startApiServer } from '../../../../infra/local/api-server/api-server.ts';
import { createApplier } from '../../../../infra/local/dev/apply-object.ts';
import type { ManifestObject } from '../../../../infra/local/dev/manifest.ts';
import { AwsStub } from '../../../fakes/aws-stub.ts';
import { EksGate } from '../../../fakes/eks-gate.ts';
import { FakeQueue } from '../../../fakes/queue.ts';
import { until } from '../../../until.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS, rawRecord, recordOf } from '../../reconcile/records.ts';
import { FakeLog } from '../../watcher/scene.ts';

const ROLE = 'arn:aws:iam::123456789012:role/dogwatch';
const TENANT = load(readFileSync(new URL('../../../../events/samples/tenant.yaml', import.meta.url), 'utf8')) as ManifestObject;
const env = {
  DOGWATCH_CLUSTERS: 'ssm:/dogwatch/clusters',
  DOGWATCH_QUEUE_URL: QUEUE_URLS.live,
  DOGWATCH_BULK_QUEUE_URL: QUEUE_URLS.bulk,
  DOGWATCH_DEAD_LETTER_QUEUE_URL: DEAD_LETTER_QUEUE_URL,
};

let aws: AwsStub;
let server: ApiServer;
let gate: EksGate;
let dir = '';
/** How far STS's and the cluster's clock is ahead of ours. */
let skewMs = 0;
const kept = { ...process.env };
before(async () => {
  aws = await AwsStub.start();
  Object.assign(process.env, aws.environment, { POWERTOOLS_METRICS_DISABLED: 'true' });
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-eks-'));
});
after(async () => {
  process.env = kept;
  await aws.close();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  skewMs = 0;
  aws.reset();
  aws.nowMs = () => Date.now() + skewMs;
  server = await startApiServer({ tls: false });
  gate = await EksGate.start(server, () => ({
    cluster: 'production',
    region: 'eu-west-1',
    secretKeys: aws.secretKeys,
    nowMs: aws.nowMs(),
  }));
  const kubeconfig = join(dir, 'admin.yaml');
  writeFileSync(kubeconfig, server.kubeconfig('admin'));
  const admin = createApplier(kubeconfig);
  assert.equal(await admin.apply(load(crdYaml(tenant.resource)) as ManifestObject), undefined);
  assert.equal(await admin.apply(TENANT), undefined);
  admin.close();
});
afterEach(async () => {
  await gate.close();
  await server.stop();
});

async function tenantNow(): Promise<{ status?: { observedGeneration?: number } }> {
  const answer = await fetch(`${server.url}/apis/platform.example/v1/tenants/acme`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  return (await answer.json()) as { status?: { observedGeneration?: number } };
}

/** Watches until the tenant's message is there, hands it to a function of its own, and returns its log. */
async function reconcileOnce(): Promise<string[]> {
  const queue = new FakeQueue();
  let stop: () => void = () => undefined;
  const log = new FakeLog();
  const host: Host = {
    onStop: (asked) => {
      stop = asked;
    },
    onFault: () => undefined,
    release: () => undefined,
    writeError: (line) => assert.fail(line),
  };
  const watching = runWatcher(
    { ...env, DOGWATCH_HTTP_ADDRESS: '127.0.0.1:0' },
    {
      createQueue: async () => queue,
      reconcilers: [tenant],
      createLog: () => log,
      host,
    },
  );
  try {
    await until('the message of the tenant', () => queue.accepted.length > 0);
  } finally {
    stop();
    assert.equal(await watching, 0);
  }
  const lines: string[] = [];
  const write = (message: string, fields: object = {}): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const all: Log = { debug: write, info: write, warn: write, error: write };
  const environment = await startEnvironment(env, [tenant], all);
  const Records = queue.accepted.map(({ message }) => rawRecord(message.body));
  const answer = await processBatch({ Records }, { remainingMs: () => 30_000 }, { ...(await environment()), queue: async () => queue });
  assert.deepEqual(answer.batchItemFailures, []);
  return [...log.lines.map((line) => JSON.stringify(line)), ...lines];
}

/** Of what must never be in a log. */
function assertSecretsAreKept(lines: readonly string[]): void {
  const text = lines.join('\n');
  assert.doesNotMatch(text, /k8s-aws-v1|own-secret|role-secret|role-session|X-Amz-Signature/);
}

describe('a cluster of EKS', () => {
  it('is watched and reconciled with a role, by a registry in Parameter Store, its address asked of EKS', async () => {
    aws.parameters.set('/dogwatch/clusters', `clusters: [{name: east, eks: {cluster: production, region: eu-west-1, role: '${ROLE}'}}]`);
    aws.roles.set(ROLE, 3600);
    aws.clusters.set('production', { endpoint: gate.url, certificateAuthority: gate.certificateAuthority });
    const lines = await reconcileOnce();
    assert.equal((await tenantNow()).status?.observedGeneration, 1);
    assert.deepEqual([gate.refusals, [...gate.accessKeyIds]], [[], ['ROLE1', 'ROLE2']]);
    assert.deepEqual([aws.count('AssumeRole'), aws.count('DescribeCluster')], [2, 2], 'watcher and function once each');
    assertSecretsAreKept(lines);
  });

  it('that does not know us costs its own records a wait, and says so without the token', async () => {
    const access = `server: '${gate.url}', certificateAuthorityData: ${gate.certificateAuthority}`;
    aws.parameters.set('/dogwatch/clusters', `clusters: [{name: east, eks: {cluster: other, region: eu-west-1}, ${access}}]`);
    const { lines, queue } = await functionAlone();
    assert.match(lines.join('\n'), /record processed.*"branch":"denied"/);
    assert.deepEqual(
      queue.accepted.map(({ queueUrl }) => queueUrl),
      [QUEUE_URLS.live],
    );
    assert.deepEqual([...new Set(gate.refusals)], ['another signature: not for this cluster']);
    assertSecretsAreKept(lines);
  });

  it('whose role may not be assumed is denied, in the words of STS', async () => {
    aws.parameters.set('/dogwatch/clusters', `clusters: [{name: east, eks: {cluster: production, region: eu-west-1, role: '${ROLE}'}}]`);
    const { lines } = await functionAlone();
    assert.match(lines.join('\n'), /"branch":"denied".*the role arn:aws:iam::123456789012:role\/dogwatch cannot be assumed: AccessDenied/);
    assertSecretsAreKept(lines);
  });

  it('lets us in by its own clock, and needs no call to AWS but the registry', async () => {
    const access = `server: '${gate.url}', certificateAuthorityData: ${gate.certificateAuthority}`;
    aws.parameters.set('/dogwatch/clusters', `clusters: [{name: east, eks: {cluster: production, region: eu-west-1}, ${access}}]`);
    skewMs = -3_600_000;
    const lines = await reconcileOnce();
    assert.equal((await tenantNow()).status?.observedGeneration, 1);
    assert.ok(gate.refusals.length > 0 && gate.refusals.every((why) => why === 'not yet valid'), gate.refusals.join());
    assert.deepEqual([...new Set(aws.calls.map(({ action }) => action))], ['GetParameter']);
    assertSecretsAreKept(lines);
  });
});

/** A function that gets a message of the tenant, which no watcher sent. */
async function functionAlone(): Promise<{ readonly lines: string[]; readonly queue: FakeQueue }> {
  const lines: string[] = [];
  const write = (message: string, fields: object = {}): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const queue = new FakeQueue();
  const environment = await startEnvironment(env, [tenant], { debug: write, info: write, warn: write, error: write });
  const Records = [recordOf({ kind: 'Tenant', plural: 'tenants', name: 'acme', firstSeenAt: new Date().toISOString() })];
  const answer = await processBatch({ Records }, { remainingMs: () => 30_000 }, { ...(await environment()), queue: async () => queue });
  assert.deepEqual(answer.batchItemFailures, []);
  return { lines, queue };
}
