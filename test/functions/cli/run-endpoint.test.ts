/** `dogwatch run` as a process, where its queues or its AWS configuration are not as usual. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Scene, startScene, until } from '../../infra/local/event-source-scene.ts';
import {
  type Call,
  type Gate,
  makeFunction,
  makeRoot,
  type RunningRun,
  type RunStart,
  removeRoot,
  startGate,
  startRun,
} from './run-scene.ts';

/** Leaves what it got and its environment in a file `seen`, renamed so that it is whole when it is there. */
const WITNESS = (dir: string): string => `
const { renameSync, writeFileSync } = require('node:fs');
exports.handler = async ({ Records }) => {
  writeFileSync(${JSON.stringify(`${dir}/half`)}, JSON.stringify({ Records, env: process.env }));
  renameSync(${JSON.stringify(`${dir}/half`)}, ${JSON.stringify(`${dir}/seen`)});
};`;

interface Seen {
  readonly Records: readonly { readonly body: string; readonly attributes: Readonly<Record<string, string>> }[];
  readonly env: Readonly<Record<string, string>>;
}

const never = (): Promise<void> => new Promise(() => undefined);

describe('dogwatch run', () => {
  let root: string;
  let scene: Scene;
  let running: RunningRun | undefined;
  let gate: Gate | undefined;

  before(async () => {
    root = makeRoot();
    scene = await startScene([{ name: 'live' }, { name: 'bulk' }, { name: 'dead' }, { name: 'brief', visibilitySeconds: 19 }]);
  });
  afterEach(async () => {
    running?.child.kill('SIGKILL');
    await running?.ended;
    await gate?.close();
    [running, gate] = [undefined, undefined];
  });
  after(async () => {
    await scene?.stop();
    removeRoot(root);
  });

  function start(name: string, options: Pick<RunStart, 'env'> = {}): RunningRun & { seen(): Promise<Seen> } {
    const artifact = makeFunction(root, name, WITNESS);
    const file = join(artifact, 'files', 'seen');
    const run = startRun({ scene, root, artifact, ...options });
    running = run;
    const seen = async (): Promise<Seen> => {
      await until(() => existsSync(file));
      return JSON.parse(readFileSync(file, 'utf8'));
    };
    return { ...run, seen };
  }

  async function startHung(name: string): Promise<RunningRun> {
    const isReceive = ({ action }: Call): boolean => action === 'ReceiveMessage';
    const made = await startGate(scene.queues.endpoint, (call) => (isReceive(call) ? never() : Promise.resolve()));
    gate = made;
    const run = start(name, { env: { AWS_ENDPOINT_URL_SQS: made.endpoint } });
    await until(() => made.calls.filter(isReceive).length >= 2);
    return run;
  }

  it('ends within seconds of SIGTERM though a poll gets no answer', async () => {
    const { child, ended, output } = await startHung('hung');
    const toldAt = performance.now();
    child.kill('SIGTERM');
    assert.equal(await ended, 0, output());
    assert.ok(performance.now() - toldAt < 9_000, `${performance.now() - toldAt} ms`);
    assert.match(output(), /poll-timeout/);
  });

  it('ends at once with 1 at a second Ctrl-C; one that npm repeats is no second one', async () => {
    const { child, ended, output } = await startHung('impatient');
    const toldAt = performance.now();
    child.kill('SIGINT');
    await until(() => output().includes('a second signal'));
    child.kill('SIGINT');
    await until(() => performance.now() - toldAt > 1_300);
    assert.equal(child.exitCode, null);
    child.kill('SIGINT');
    assert.equal(await ended, 1, output());
    assert.ok(performance.now() - toldAt < 4_000, 'long before the poll gives up');
  });

  it('receives nothing from one queue where the other is configured wrong', async () => {
    let receives = 0;
    const made = await startGate(scene.queues.endpoint, async ({ action, body }) => {
      if (action === 'ReceiveMessage') receives += 1;
      // The check of the wrong one comes late: time enough for the other to begin.
      const isLate = JSON.stringify(body).includes('VisibilityTimeout') && String(body['QueueUrl']).endsWith('/brief');
      const endMs = Date.now() + 1_000;
      if (isLate) await until(() => receives > 0 || Date.now() > endMs);
    });
    gate = made;
    const env = { AWS_ENDPOINT_URL_SQS: made.endpoint, DOGWATCH_BULK_QUEUE_URL: scene.queues.queueUrl('brief') };
    const { ended, output } = start('race', { env });
    assert.equal(await ended, 2, output());
    assert.match(output(), /visibility of .*brief is 19 s/);
    assert.equal(receives, 0);
  });

  it('asks the endpoint of the environment, also when the queues have another host', async () => {
    const url = (name: string): string => `http://queues.invalid/000000000000/${name}`;
    const run = start('host', { env: { DOGWATCH_QUEUE_URL: url('live'), DOGWATCH_BULK_QUEUE_URL: url('bulk') } });
    await scene.send('live', ['host']);
    assert.equal((await run.seen()).Records[0]?.body, 'host', run.output());
  });

  it('gives records of local-aws-sqs their system attributes, and does not let it sleep through long polls', async () => {
    const made = await startGate(scene.queues.endpoint, () => Promise.resolve());
    gate = made;
    const run = start('attributes', { env: { AWS_ENDPOINT_URL_SQS: made.endpoint } });
    await scene.send('live', ['attributes']);
    const [record] = (await run.seen()).Records;
    assert.equal(record?.attributes['ApproximateReceiveCount'], '1', run.output());
    assert.ok(record?.attributes['SentTimestamp'] !== undefined);
    const waits = made.calls.filter(({ action }) => action === 'ReceiveMessage').map(({ body }) => body['WaitTimeSeconds']);
    assert.ok(waits.length > 0 && waits.every((seconds) => seconds === 0));
  });

  it('gives the function the credentials and region of its own profile, as Lambda does, and not the way to them', async () => {
    const [credentials, config] = [join(root, 'credentials'), join(root, 'config')];
    writeFileSync(credentials, '[work]\naws_access_key_id = AKIAWORK\naws_secret_access_key = hush-hush\naws_session_token = hush-token\n');
    writeFileSync(config, '[profile work]\nregion = eu-north-1\n');
    const run = start('profile', {
      env: {
        AWS_PROFILE: 'work',
        AWS_SHARED_CREDENTIALS_FILE: credentials,
        AWS_CONFIG_FILE: config,
        ...{ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, AWS_REGION: undefined },
      },
    });
    await scene.send('live', ['profile']);
    const { env } = await run.seen();
    const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_REGION', 'AWS_PROFILE', 'AWS_CONFIG_FILE'];
    assert.deepEqual(
      names.map((name) => env[name]),
      ['AKIAWORK', 'hush-hush', 'hush-token', 'eu-north-1', undefined, undefined],
    );
    assert.doesNotMatch(run.output(), /hush/);
  });

  it('ends with 2 and one line where there are no credentials', async () => {
    const run = start('nobody', {
      env: { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, AWS_EC2_METADATA_DISABLED: 'true', HOME: root },
    });
    assert.equal(await run.ended, 2, run.output());
    assert.match(run.output().trim(), /^dogwatch: no AWS credentials [^\n]*$/);
  });
});
