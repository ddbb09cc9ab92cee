/** `dogwatch run` as a process, for tests: a registry that is right, a function of the test's own, and an endpoint that can be held up. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localAwsEnv } from '../../../infra/local/local-queues.ts';
import type { Scene } from '../../infra/local/event-source-scene.ts';

const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'only',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 'none' } }],
  contexts: [{ name: 'only', context: { cluster: 'c', user: 'u' } }],
});

/** With queues `live`, `bulk` and `dead`, and `--timeout 20`. */
export interface RunStart {
  readonly scene: Scene;
  readonly root: string;
  /** A folder with reconcile.js. */
  readonly artifact: string;
  readonly words?: readonly string[];
  /** Over the lab's variables; undefined takes one out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface RunningRun {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

/** A folder with a registry of one cluster. */
export function makeRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'dogwatch-run-'));
  writeFileSync(join(root, 'good.yaml'), KUBECONFIG);
  writeFileSync(join(root, 'registry.yml'), 'clusters:\n  - { name: east, kubeconfig: ./good.yaml }\n');
  return root;
}

export const removeRoot = (root: string): void => rmSync(root, { recursive: true, force: true });

/** A folder below `root` with this source as its function. */
export function makeFunction(root: string, name: string, source: (dir: string) => string): string {
  const dir = join(root, name);
  mkdirSync(join(dir, 'files'), { recursive: true });
  writeFileSync(join(dir, 'reconcile.js'), source(join(dir, 'files')));
  return dir;
}

export function startRun({ scene, root, artifact, words = [], env = {} }: RunStart): RunningRun {
  const child = spawn(process.execPath, ['functions/cli/bin.js', 'run', '--timeout', '20', '--artifact', artifact, ...words], {
    env: {
      PATH: process.env['PATH'] ?? '',
      DOGWATCH_CLUSTERS: join(root, 'registry.yml'),
      DOGWATCH_QUEUE_URL: scene.queues.queueUrl('live'),
      DOGWATCH_BULK_QUEUE_URL: scene.queues.queueUrl('bulk'),
      DOGWATCH_DEAD_LETTER_QUEUE_URL: scene.queues.queueUrl('dead'),
      ...localAwsEnv(scene.queues.endpoint),
      ...env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { child, ended, output: () => output };
}

/** A call of SQS on its way through a gate. */
export interface Call {
  /** `ReceiveMessage` … */
  readonly action: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Gate {
  readonly endpoint: string;
  readonly calls: readonly Call[];
  close(): Promise<void>;
}

/** Stands before an endpoint. A call goes on when `pass` fulfils; it gets no answer where that never does. */
export async function startGate(endpoint: string, pass: (call: Call) => Promise<void>): Promise<Gate> {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const action = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const call: Call = { action, body: JSON.parse(body.toString('utf8')) };
    calls.push(call);
    await pass(call);
    const onward = sendRequest(endpoint, { method: request.method, headers: request.headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.once('error', () => response.destroy());
    onward.end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}
