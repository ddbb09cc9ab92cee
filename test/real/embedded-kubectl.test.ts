/** kubectl of the version that the project is tested with, at the embedded API server. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ApiServer, startApiServer } from '../../infra/local/api-server/api-server.ts';
import { controlPlaneAssets } from '../../infra/local/control-plane/build.ts';
import { type CommandResult, runCommand } from '../../infra/local/run-command.ts';
import { definitions } from '../contracts/kubernetes/definitions.ts';
import { until } from './api.ts';

describe('kubectl at the embedded API server', { timeout: 300_000 }, () => {
  let server: ApiServer;
  let dir: string;
  let program: string;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    program = join(await controlPlaneAssets(['kubectl']), 'kubectl');
    server = await startApiServer();
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-kubectl-'));
    const kubeconfig = join(dir, 'config');
    writeFileSync(kubeconfig, server.kubeconfig());
    env = { PATH: process.env['PATH'] ?? '', HOME: dir, KUBECONFIG: kubeconfig };
  });
  after(async () => {
    await server?.stop();
    rmSync(dir, { recursive: true });
  });

  const run = (words: string, input?: string): Promise<CommandResult> =>
    runCommand(program, words.split(' '), { env, ...(input === undefined ? {} : { input }) });
  /** What a command that has to work writes. */
  async function kubectl(words: string, object?: unknown): Promise<string> {
    const { code, stdout, stderr } = await run(words, object === undefined ? undefined : JSON.stringify(object));
    assert.equal(code, 0, `kubectl ${words}: ${stderr}`);
    return stdout.trim();
  }
  const widget = (size: number, name = 'one') => ({
    apiVersion: 'wire.example/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'default' },
    spec: { size },
  });

  it('installs a definition and waits for it', async () => {
    for (const definition of definitions()) await kubectl('apply --server-side -f -', definition);
    assert.match(await kubectl('wait --for=condition=Established --timeout=10s crd/widgets.wire.example'), /condition met/);
    assert.match(await kubectl('api-resources --api-group=wire.example'), /widgets +wire\.example\/v1 +true +Widget/);
  });

  it('applies, and shows the object in a table, with more columns on demand', async () => {
    assert.equal(await kubectl('apply --server-side -f -', widget(1)), 'widget.wire.example/one serverside-applied');
    assert.match(await kubectl('get widgets'), /^NAME +READY\none *$/);
    assert.match(await kubectl('get widgets -o wide'), /^NAME +READY +OBSERVED\none *$/);
    assert.equal(await kubectl('get widget one -o jsonpath={.spec.size}'), '1');
    assert.match(await kubectl('get widgets -A --show-labels'), /^NAMESPACE +NAME +READY +LABELS\ndefault +one +<none>$/);
  });

  it('applies again, and is told of a conflict and of what is invalid', async () => {
    await kubectl('patch widget one --type=merge -p {"spec":{"size":5}}');
    const conflict = await run('apply --server-side -f -', JSON.stringify(widget(2)));
    assert.match(conflict.stderr, /Apply failed with 1 conflict: conflict with "kubectl-patch" using wire\.example\/v1: \.spec\.size/);
    assert.equal(await kubectl('apply --server-side --force-conflicts -f -', widget(2)), 'widget.wire.example/one serverside-applied');
    const invalid = await run('apply --server-side --force-conflicts -f -', JSON.stringify(widget(-1)));
    assert.match(invalid.stderr, /spec\.size: Invalid value: -1/);
  });

  it('patches the status, and waits for a condition', async () => {
    const status = { status: { conditions: [{ type: 'Ready', status: 'True' }], observedGeneration: 3 } };
    await kubectl(`patch widget one --subresource=status --type=merge -p ${JSON.stringify(status)}`);
    assert.match(await kubectl('wait --for=condition=Ready --timeout=10s widget/one'), /condition met/);
    assert.match(await kubectl('get widgets -o wide'), /\none +True +3$/);
  });

  it('watches', async () => {
    const child = spawn(program, ['get', 'widgets', '-w'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
    });
    await until('the first row', () => (seen.includes('one') ? true : undefined));
    await kubectl('apply --server-side -f -', widget(3, 'two'));
    await until('the new row', () => (seen.includes('two') ? true : undefined));
    child.kill();
  });

  it('describes and explains in yaml what is there, and lists events', async () => {
    assert.match(await kubectl('get widget one -o yaml --show-managed-fields'), /managedFields:/);
    assert.match(await kubectl('describe widget one'), /Kind: +Widget/);
    assert.equal(await kubectl('get events'), '');
  });

  it('works with built-in kinds by apply', async () => {
    await kubectl('apply --server-side -f -', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'made' } });
    const data = { a: '1', b: '2' };
    await kubectl('apply --server-side -f -', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'map', namespace: 'made' }, data });
    assert.match(await kubectl('get configmaps -n made'), /^NAME +DATA +AGE\nmap +2 +\d+s$/);
    await kubectl('label configmap map -n made team=a');
    assert.equal(await kubectl('get configmaps -A -l team=a -o name'), 'configmap/map');
    assert.match(await kubectl('delete namespace made --timeout=20s'), /deleted/);
    assert.match((await run('get configmaps -n made')).stderr, /No resources found/);
  });

  it('creates, applies in the client, edits, labels, annotates and replaces', async () => {
    const path = join(dir, 'widget.json');
    const write = (size: number): void => writeFileSync(path, JSON.stringify(widget(size, 'made')));
    const size = (): Promise<string> => kubectl('get widget made -o jsonpath={.spec.size}');
    write(1);
    assert.equal(await kubectl(`create --save-config -f ${path}`), 'widget.wire.example/made created');
    write(2);
    assert.equal(await kubectl(`apply -f ${path}`), 'widget.wire.example/made configured');
    assert.equal(await kubectl(`apply -f ${path}`), 'widget.wire.example/made unchanged');
    assert.equal(await kubectl(`diff -f ${path}`), '');
    assert.equal(await size(), '2');
    await kubectl('annotate widget made note=x');
    await kubectl('label widget made team=a');
    assert.equal(await kubectl('get widgets -l team=a -o name'), 'widget.wire.example/made');
    const editor = join(dir, 'editor');
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/size: 2/size: 7/" "$1"\n', { mode: 0o755 });
    env = { ...env, EDITOR: editor };
    assert.equal(await kubectl('edit widget made'), 'widget.wire.example/made edited');
    assert.equal(await size(), '7');
    assert.equal(await kubectl(`replace -f ${path}`), 'widget.wire.example/made replaced');
    assert.equal(await size(), '2');
  });

  it('takes a list of objects', async () => {
    const items = [widget(1, 'first'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'second', namespace: 'default' } }];
    const said = await kubectl('apply -f -', { apiVersion: 'v1', kind: 'List', items });
    assert.equal(said, 'widget.wire.example/first created\nconfigmap/second created');
  });

  it('explains kinds by their schemas', async () => {
    assert.match(await kubectl('explain widget'), /KIND: +Widget\nVERSION: +v1.*spec\t<Object>.*status\t<Object>/s);
    assert.match(await kubectl('explain widgets.spec.size'), /FIELD: size <integer>/);
    assert.match(await kubectl('explain configmap.data'), /FIELD: data <map\[string\]string>/);
  });

  it('deletes in the foreground, and leaves orphans', async () => {
    const child = async (owner: string): Promise<void> => {
      const uid = await kubectl(`get widget ${owner} -o jsonpath={.metadata.uid}`);
      const ownerReferences = [{ apiVersion: 'wire.example/v1', kind: 'Widget', name: owner, uid, blockOwnerDeletion: true }];
      const metadata = { name: `of-${owner}`, namespace: 'default', ownerReferences };
      await kubectl('apply --server-side -f -', { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    };
    for (const owner of ['first', 'made']) await child(owner);
    await kubectl('delete widget first --cascade=foreground --timeout=20s');
    await kubectl('delete widget made --cascade=orphan --timeout=20s');
    assert.match((await run('get configmap of-first')).stderr, /NotFound/);
    assert.equal(await kubectl('get configmap of-made -o jsonpath={.metadata.ownerReferences}'), '');
  });

  it('says what is not there, and what does instead', async () => {
    const { code, stderr } = await run('create configmap x');
    assert.equal(code, 1);
    assert.match(stderr, /A protobuf body is not part of the embedded API server; kubectl apply --server-side -f/);
    const manifest = await kubectl('create configmap x --from-literal=a=b --dry-run=client -o json');
    assert.equal(await kubectl('apply --server-side -f -', JSON.parse(manifest)), 'configmap/x serverside-applied');
    const merged = await run('patch configmap x -p {"data":{"a":"c"}}');
    assert.match(merged.stderr, /Strategic merge patch is not part of the embedded API server; kubectl apply --server-side/);
    assert.equal(await kubectl('patch configmap x --type=merge -p {"data":{"a":"c"}}'), 'configmap/x patched');
    assert.match((await run('get pods')).stderr, /the server doesn't have a resource type "pods"/);
  });

  it('deletes, one and all', async () => {
    assert.match(await kubectl('delete widget one --timeout=10s'), /"one" deleted/);
    await kubectl('delete widgets --all --timeout=10s');
    assert.match((await run('get widgets')).stderr, /No resources found in default namespace/);
  });
});
