import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { DeleteMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { countRequests, readAudit } from '../../infra/local/control-plane/audit.ts';
import { type ControlPlane, startControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { startElasticMq } from '../../infra/local/elasticmq/elasticmq.ts';
import { createLocalClient } from '../../infra/local/local-queues.ts';
import { createReceiver } from '../../infra/local/receive.ts';
import { type Lab, startLab } from '../../infra/local/start-lab.ts';
import { PortTakenError } from '../../infra/local/until-ready.ts';

async function kubectl(controlPlane: ControlPlane, ...args: string[]): Promise<string> {
  const result = await controlPlane.kubectl(args);
  assert.equal(result.code, 0, result.stderr);
  return result.stdout;
}

/** Names of the ConfigMaps in `default` that tests made. */
async function configMaps(controlPlane: ControlPlane): Promise<string[]> {
  const names = (await kubectl(controlPlane, 'get', 'configmaps', '-o', 'name')).trim().split('\n');
  return names.filter((name) => name.startsWith('configmap/test-'));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a lab of two clusters', () => {
  let lab: Lab;
  let east: ControlPlane;
  let west: ControlPlane;

  before(async () => {
    lab = await startLab({ clusters: ['east', 'west'], auditLog: true });
    east = lab.clusters.get('east') as ControlPlane;
    west = lab.clusters.get('west') as ControlPlane;
  });
  after(() => lab?.stop());

  it('answers kubectl', async () => {
    assert.match(await kubectl(east, 'get', 'namespaces'), /^default\s+Active/m);
  });

  it('refuses a user without rights', async () => {
    const refused = await east.kubectl(['get', 'namespaces'], { user: 'nobody' });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /Forbidden.*"nobody"/);
  });

  it('keeps the clusters apart', async () => {
    await kubectl(east, 'create', 'configmap', 'test-apart');
    assert.deepEqual(await configMaps(east), ['configmap/test-apart']);
    assert.deepEqual(await configMaps(west), []);
    const [eastToken, westUrl] = [`--token=${east.token}`, `--server=${west.url}`];
    const crossed = await east.kubectl(['get', 'ns', westUrl, eastToken, `--certificate-authority=${west.caFile}`]);
    assert.match(crossed.stderr, /Unauthorized|must be logged in/, 'a token of one cluster is worth nothing in the other');
  });

  it('finishes deleting a namespace, for the controllers run', async () => {
    await kubectl(west, 'create', 'namespace', 'test-gone');
    await kubectl(west, 'delete', 'namespace', 'test-gone', '--wait', '--timeout=60s');
    const found = await west.kubectl(['get', 'namespace', 'test-gone']);
    assert.match(found.stderr, /NotFound/);
  });

  it('tells requests apart by user in the audit log, each counted once', async () => {
    const path = east.auditLogPath as string;
    const since = new Date();
    for (const user of ['dogwatch-watcher', 'dogwatch-reconcile']) {
      const { code } = await east.kubectl(['get', '--raw', '/api/v1/namespaces/default/configmaps?limit=1'], { user });
      assert.equal(code, 0);
    }
    await east.kubectl(['get', 'configmap', 'test-none'], { user: 'dogwatch-watcher' });
    const watched = await east.kubectl(['get', '--raw', '/api/v1/configmaps?watch=1&timeoutSeconds=1'], { user: 'dogwatch-watcher' });
    assert.equal(watched.code, 0, watched.stderr);
    const events = readAudit(path, since).filter(({ user, resource }) => user.startsWith('dogwatch-') && resource !== '');
    assert.deepEqual(countRequests(events), {
      'dogwatch-reconcile list configmaps 200': 1,
      'dogwatch-watcher get configmaps 404': 1,
      'dogwatch-watcher list configmaps 200': 1,
      'dogwatch-watcher watch configmaps 200': 1,
    });
  });

  it('writes registries whose kubeconfigs are relative and exist', () => {
    for (const path of [lab.registryPath, lab.registryFor('dogwatch-watcher')]) {
      const found = [...readFileSync(path, 'utf8').matchAll(/kubeconfig: (\S+)/g)].map((match) => match[1] as string);
      assert.equal(found.length, 2);
      for (const kubeconfig of found) assert.ok(kubeconfig.startsWith('./') && existsSync(join(lab.dir, kubeconfig)), kubeconfig);
    }
    assert.match(readFileSync(lab.registryFor('dogwatch-watcher'), 'utf8'), /dogwatch-watcher\.yaml/);
  });

  it('answers nothing while the API server is paused, and everything after', async () => {
    east.pause();
    const silent = await east.kubectl(['get', 'configmaps', '--request-timeout=1s']);
    assert.notEqual(silent.code, 0);
    east.resume();
    assert.deepEqual(await configMaps(east), ['configmap/test-apart']);
  });

  it('brings the API server alone up again at the same address, with other flags', async () => {
    const etcd = east.pids.etcd;
    const url = east.url;
    await east.stopApiServer('kill');
    assert.match((await east.kubectl(['get', 'configmaps'])).stderr, /refused/);
    await east.startApiServer(['--watch-cache=false']);
    assert.equal(east.pids.etcd, etcd);
    assert.equal(east.url, url);
    assert.deepEqual(await configMaps(east), ['configmap/test-apart']);
  });

  it('keeps data and address over a crash of everything', async () => {
    const pids = Object.values(east.pids);
    assert.equal(pids.length, 3);
    await east.kill();
    assert.deepEqual(pids.filter(isAlive), []);
    await east.start();
    assert.deepEqual(await configMaps(east), ['configmap/test-apart']);
  });

  it('says what is wrong when the port is taken', async () => {
    const port = Number(new URL(west.url).port);
    await assert.rejects(startControlPlane({ port, controllers: false }), (error: Error) => {
      assert.ok(error instanceof PortTakenError);
      assert.match(error.message, /last lines of .*\n.*address already in use/s);
      return true;
    });
  });

  it('leaves neither process nor file when it is stopped', async () => {
    const pids = [east, west].flatMap((one) => Object.values(one.pids));
    assert.equal(pids.length, 6);
    await lab.stop();
    assert.deepEqual(pids.filter(isAlive), []);
    assert.equal(existsSync(lab.dir), false);
  });
});

describe('a control plane in a folder', () => {
  it('is found again with its data and tokens on other ports, and can be put back to an earlier state', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'dogwatch-test-'));
    try {
      const first = await startControlPlane({ dir, controllers: false });
      await kubectl(first, 'create', 'configmap', 'test-kept');
      await assert.rejects(startControlPlane({ dir }), /another process runs a control plane in this folder/);
      await first.stop();
      const second = await startControlPlane({ dir, controllers: false });
      assert.notEqual(second.url, first.url);
      assert.equal(second.token, first.token);
      assert.deepEqual(await configMaps(second), ['configmap/test-kept']);
      await second.restart(() => second.removeData());
      assert.deepEqual(await configMaps(second), []);
      await second.stop();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('ElasticMQ', () => {
  it('takes a message, gives it back with its attributes, and moves it to the dead letters after the last receive', async () => {
    const deadLetter = { name: 'test-dead', maxReceiveCount: 1 };
    const queues = await startElasticMq({ queues: [{ name: 'test-work', visibilitySeconds: 1, deadLetter }, { name: 'test-dead' }] });
    const client = createLocalClient(queues.endpoint);
    try {
      const queueUrl = queues.queueUrl('test-work');
      const work = createReceiver({ client, queueUrl, quirks: queues.quirks });
      const dead = createReceiver({ client, queueUrl: queues.queueUrl('test-dead'), quirks: queues.quirks });
      await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'hello', MessageGroupId: 'east' }));
      const [message] = await work.receive({ max: 10, waitSeconds: 5 });
      assert.equal(message?.Body, 'hello');
      assert.equal(message.Attributes?.['MessageGroupId'], 'east');
      assert.equal(message.Attributes['ApproximateReceiveCount'], '1');
      assert.deepEqual(await work.receive({ max: 10, waitSeconds: 2 }), []);
      const [letter] = await dead.receive({ max: 10, waitSeconds: 5 });
      assert.equal(letter?.Body, 'hello');
      await client.send(new DeleteMessageCommand({ QueueUrl: queues.queueUrl('test-dead'), ReceiptHandle: letter.ReceiptHandle }));
      assert.throws(() => queues.queueUrl('test-other'), /no queue test-other/);
    } finally {
      client.destroy();
      await queues.stop();
    }
    assert.equal(isAlive(queues.pid), false);
  });
});

describe('node infra/local/lab.ts', () => {
  it('prints the environment, and stops everything in order at Ctrl-C', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../infra/local/lab.ts'), '--queue', 'local-aws-sqs'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const said: string[] = [];
    const saidLine = (stream: Readable, pattern: RegExp): Promise<void> =>
      new Promise((resolve) => {
        createInterface({ input: stream }).on('line', (line) => {
          said.push(line);
          if (pattern.test(line)) resolve();
        });
      });
    // Two pipes: what was written first need not be read first.
    const running = Promise.all([saidLine(child.stdout, /^export PATH=/), saidLine(child.stderr, /^Running/)]);
    try {
      await Promise.race([running, ended]);
      const exported = said.join('\n').matchAll(/^export (\w+)='?([^'\n]*)'?$/gm);
      const env = new Map([...exported].map(([, name, value]) => [name, value ?? '']));
      const registry = env.get('DOGWATCH_CLUSTERS') ?? '';
      assert.ok(existsSync(registry), said.join('\n'));
      assert.match(env.get('DOGWATCH_QUEUE_URL') ?? '', /^http:\/\/127\.0\.0\.1:\d+\/\d+\/dogwatch-work$/);
      assert.ok(existsSync(env.get('KUBECONFIG') ?? ''));
      child.kill('SIGINT');
      assert.equal(await ended, 0, said.join('\n'));
      assert.ok(said.includes('Stopping ...'));
      assert.equal(existsSync(registry), false);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
