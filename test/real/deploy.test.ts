/**
 * serverless.yml deployed, changed and removed, in moto; and what was deployed at work on a real API server.
 *
 * What moto cannot hold, and the template's test (test/infra/template.test.ts) therefore holds alone:
 * - RedriveAllowPolicy is lost, arm64 reads x86_64, RecursiveLoop and VpcConfig cannot be read back
 * - alarms and the policies of queues and buckets are not made (moto only warns of it), and what roles allow is not enforced
 * - queues' URLs name AWS and not moto, which is why the endpoint of the environment goes first
 * - a mapped queue's messages are given to functions that do not run: the mappings are deleted before anything is sent
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GetQueueAttributesCommand, ListQueuesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { unzipSync, zipSync } from 'fflate';
import { createLog } from '../../functions/adapters/telemetry.ts';
import type { Finding } from '../../functions/core/doctor/finding.ts';
import { build } from '../../infra/build.ts';
import { type ControlPlane, startControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { createEventSource } from '../../infra/local/event-source/event-source.ts';
import { createPool, type Pool } from '../../infra/local/function-host/pool.ts';
import { createLocalClient } from '../../infra/local/local-queues.ts';
import { type Moto, startMoto } from '../../infra/local/moto.ts';
import { createReceiver } from '../../infra/local/receive.ts';
import { createService, type Service } from '../infra/template/service.ts';
import { propertyOf, type Template } from '../infra/template/template.ts';
import { connectApi } from './api.ts';
import { type DeployedMapping, deleteMapping, deployedFunction, deployedMappings, queueUrlIn } from './deployed.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { createTenant, settled } from './tenants.ts';

const STACK = 'dogwatch-real';
const FUNCTION = `${STACK}-reconcile`;
const LANES = { LiveQueue: 'live', BulkQueue: 'bulk', DeadLetterQueue: 'dead-letters' };
/** How often osls asks whether a stack is made, in milliseconds; else it waits 5 s each time. */
const OFTEN = { SLS_AWS_MONITORING_FREQUENCY: '500' };
const ROOT = join(import.meta.dirname, '../..');

describe('a deployment', () => {
  let service: Service;
  let moto: Moto;
  let cluster: ControlPlane;
  let sqs: SQSClient;
  const registries = mkdtempSync(join(tmpdir(), 'dogwatch-deploy-'));
  const stops: (() => unknown)[] = [];

  before(async () => {
    service = createService();
    stops.push(() => service.remove());
    await build({ out: service.dist, quiet: true });
    const starting = [startMoto(), startControlPlane({ name: 'east', controllers: false })] as const;
    // Each is stopped, also where another one did not start.
    for (const part of starting) {
      part.then(
        (one) => stops.push(() => one.stop()),
        () => undefined,
      );
    }
    [moto, cluster] = await Promise.all(starting);
    sqs = createLocalClient(moto.endpoint);
    const crds = await cluster.kubectl(['apply', '--server-side', '-f', join(ROOT, 'infra/crds')]);
    assert.equal(crds.code, 0, crds.stderr);
    packRegistry(service.dist, cluster.kubeconfigFor('dogwatch-reconcile').path);
  });
  after(async () => {
    sqs?.destroy();
    rmSync(registries, { recursive: true, force: true });
    // One that fails leaves no other behind.
    const ends = await Promise.allSettled(stops.map(async (stop) => stop()));
    assert.deepEqual(
      ends.filter(({ status }) => status === 'rejected'),
      [],
    );
  });

  async function osls(...words: string[]): Promise<void> {
    const parameters = ['--param=clusters=clusters.yml', '--param=clusterNames=east'];
    const { code, stdout, stderr } = await service.osls([...words, '--stage', 'real', ...parameters], { ...moto.env, ...OFTEN });
    assert.equal(code, 0, `osls ${words.join(' ')}:\n${stdout}${stderr}\nmoto:\n${moto.lastLines(20)}`);
  }

  /** What osls deployed last. */
  function template(): Template {
    return JSON.parse(readFileSync(join(service.dir, '.serverless/cloudformation-template-update-stack.json'), 'utf8')) as Template;
  }

  async function attributesOf(lane: string): Promise<Record<string, string>> {
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrlIn(moto, `${STACK}-${lane}`), AttributeNames: ['All'] }),
    );
    return Attributes;
  }

  it('makes the queues, the function and its event sources as the template says', async () => {
    await osls('deploy');
    const letters = await attributesOf('dead-letters');
    for (const [id, lane] of Object.entries(LANES)) {
      const made = await attributesOf(lane);
      for (const name of ['MessageRetentionPeriod', 'SqsManagedSseEnabled', ...(lane === 'dead-letters' ? [] : ['VisibilityTimeout'])])
        assert.equal(made[name], String(propertyOf(template(), id, name)), `${name} of ${lane}`);
      if (lane === 'dead-letters') continue;
      const maxReceiveCount = propertyOf(template(), id, 'RedrivePolicy.maxReceiveCount');
      assert.deepEqual(JSON.parse(made['RedrivePolicy'] ?? ''), { deadLetterTargetArn: letters['QueueArn'], maxReceiveCount });
    }
    const { Runtime, Handler, Timeout, MemorySize, CodeSha256, FunctionArn } = await deployedFunction(moto, FUNCTION);
    assert.deepEqual([Runtime, Handler, Timeout, MemorySize], ['nodejs24.x', 'reconcile.handler', 30, 512]);
    assert.equal(
      CodeSha256,
      createHash('sha256')
        .update(readFileSync(join(service.dist, 'reconcile.zip')))
        .digest('base64'),
    );
    const mappings = await deployedMappings(moto, unversioned(FunctionArn));
    const told = mappings.map(({ EventSourceArn, BatchSize, MaximumBatchingWindowInSeconds, FunctionResponseTypes, ScalingConfig }) => [
      EventSourceArn.split('-').at(-1),
      BatchSize,
      MaximumBatchingWindowInSeconds,
      FunctionResponseTypes.join(),
      ScalingConfig.MaximumConcurrency,
    ]);
    const rest = [10, 0, 'ReportBatchItemFailures'];
    assert.deepEqual(told.sort(), [
      ['bulk', ...rest, 5],
      ['live', ...rest, 10],
    ]);
  });

  it('is changed by a second one', async () => {
    await osls('deploy', '--param=functionTimeoutSeconds=40');
    for (const lane of ['live', 'bulk']) assert.equal((await attributesOf(lane))['VisibilityTimeout'], '240');
    const { Timeout, Environment } = await deployedFunction(moto, FUNCTION);
    assert.deepEqual([Timeout, Environment.Variables['DOGWATCH_FUNCTION_TIMEOUT_SECONDS']], [40, '40']);
  });

  it('is found well by doctor, save for what moto loses or cannot say', async () => {
    const command = startProcess([process.execPath, 'functions/cli/bin.js', 'doctor', '--stage', 'real', '--json'], moto.env);
    assert.equal(await command.exited, 0, command.lines.join('\n'));
    const { findings } = JSON.parse(command.lines.find((line) => line.startsWith('{')) ?? '') as { findings: readonly Finding[] };
    assert.deepEqual(
      findings.filter(({ outcome }) => outcome !== 'ok').map(({ outcome, subject, check }) => `${outcome} ${subject}, ${check}`),
      ['not-checked registry, read', 'warning dead-letter queue, redrive allow', 'not-checked function, RecursiveLoop'],
    );
    const said = (name: string): string | undefined => findings.find(({ check }) => check === name)?.says;
    assert.deepEqual(
      [said('read'), said('time-out'), said('visibility')],
      ["the function's is clusters.yml in its package", '40 s', '240 s'],
    );
  });

  it('reconciles: watcher, queue, package and status', async () => {
    const {
      FunctionArn,
      Timeout,
      Environment: { Variables },
    } = await deployedFunction(moto, FUNCTION);
    const mappings = await deployedMappings(moto, unversioned(FunctionArn));
    for (const { UUID } of mappings) await deleteMapping(moto, UUID);
    const lines: string[] = [];
    // Exactly what was deployed, and the way to moto.
    const pool = createPool({
      artifact: join(service.dist, 'reconcile.zip'),
      maximumConcurrency: 2,
      timeoutMs: Timeout * 1000,
      env: { ...Variables, ...moto.env },
      log: (line) => lines.push(line),
    });
    const stop = new AbortController();
    const sources = mappings.map((mapping) => eventSource(sqs, moto, pool, mapping).run(stop.signal));
    const watcher = startWatcher();
    const api = connectApi(cluster);
    try {
      await createTenant(api, 'acme');
      const { status, metadata } = await settled(api, 'acme', 40_000);
      assert.equal(status?.observedGeneration, metadata.generation);
    } catch (error) {
      throw new Error(`the watcher said:\n${watcher.lines.slice(-20).join('\n')}\nthe function:\n${lines.slice(-20).join('\n')}`, {
        cause: error,
      });
    } finally {
      api.close();
      await watcher.stop();
      stop.abort();
      await Promise.allSettled(sources);
      await pool.stop();
    }
  });

  function startWatcher(): RunningProcess {
    const registry = join(registries, 'clusters.yml');
    writeFileSync(registry, `clusters: [{ name: east, kubeconfig: ${cluster.kubeconfigFor('dogwatch-watcher').path} }]\n`);
    return startProcess([process.execPath, join(service.dist, 'watcher.cjs')], {
      ...moto.env,
      DOGWATCH_CLUSTERS: registry,
      DOGWATCH_QUEUE_URL: queueUrlIn(moto, `${STACK}-live`),
      DOGWATCH_BULK_QUEUE_URL: queueUrlIn(moto, `${STACK}-bulk`),
      DOGWATCH_HTTP_ADDRESS: '127.0.0.1:0',
    });
  }

  it('is removed, and leaves nothing', async () => {
    await osls('remove');
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: STACK }));
    assert.deepEqual(QueueUrls, []);
    await assert.rejects(deployedFunction(moto, FUNCTION), /answered 404/);
  });
});

/** Without a version. */
function unversioned(arn: string): string {
  return arn.split(':').slice(0, 7).join(':');
}

/** The registry in the package, beside the code. */
function packRegistry(dist: string, kubeconfig: string): void {
  const zip = join(dist, 'reconcile.zip');
  const files = {
    ...unzipSync(readFileSync(zip)),
    'clusters.yml': Buffer.from('clusters: [{ name: east, kubeconfig: ./east.yaml }]\n'),
    'east.yaml': readFileSync(kubeconfig),
  };
  writeFileSync(zip, zipSync(files));
}

function eventSource(client: SQSClient, moto: Moto, pool: Pool, mapping: DeployedMapping) {
  const queueUrl = queueUrlIn(moto, mapping.EventSourceArn.split(':').at(-1) ?? '');
  return createEventSource({
    receiver: createReceiver({ client, queueUrl, quirks: 'none' }),
    client,
    queueUrl,
    queueArn: mapping.EventSourceArn,
    pool,
    batchSize: mapping.BatchSize,
    windowSeconds: mapping.MaximumBatchingWindowInSeconds,
    maximumConcurrency: mapping.ScalingConfig.MaximumConcurrency,
    log: createLog('event-source'),
  });
}
