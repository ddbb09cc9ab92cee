/** `dogwatch dev` as a process without a terminal, from its start to its end, with a reconciler of the test's own. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ClusterName } from '../../../events/resource.ts';
import { createKubernetesClient } from '../../../functions/adapters/kubernetes/client.ts';
import { configMaps } from '../../../functions/core/kinds.ts';
import { createApplier } from '../../../infra/local/dev/apply-object.ts';
import { isGone } from '../../infra/local/processes.ts';
import { DevProcess, ROOT } from './dev-process.ts';

/** A run that waits for a build is not to end by its deadline, however busy the machine is. */
const PATIENT = { DOGWATCH_RECORD_DEADLINE_SECONDS: '100', DOGWATCH_FUNCTION_TIMEOUT_SECONDS: '120' };

/** Tenants as they are, and Notes: a ConfigMap that says which code made it. One named `slow` is not done before there is a file `go`. */
const reconcilersOf = (root: string, version: string): string => `
import { existsSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { configMaps } from '${ROOT}/functions/core/kinds.ts';
import { checkReconcilers, defineReconciler } from '${ROOT}/functions/core/reconciler.ts';
import { defineResource } from '${ROOT}/functions/core/resource-definition.ts';
import { tenant } from '${ROOT}/functions/reconcilers/tenant.ts';

const note = defineReconciler({
  resource: defineResource({
    group: 'test.example', version: 'v1', kind: 'Note', plural: 'notes', scope: 'Namespaced',
    spec: z.object({ text: z.string() }), status: z.object({}), columns: [],
  }),
  owns: [configMaps],
  async reconcile({ object, signal }) {
    const { name, namespace = '' } = object.metadata;
    writeFileSync('${root}/running-' + name, '');
    while (name === 'slow' && !existsSync('${root}/go')) {
      signal.throwIfAborted();
      await new Promise((done) => setTimeout(done, 10));
    }
    writeFileSync('${root}/ended-' + name + '-${version}', '');
    return { apply: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { version: '${version}' } }], status: {} };
  },
});
export const reconcilers = checkReconcilers([tenant, note]);
`;

const note = (name: string, spec: unknown) => ({
  apiVersion: 'test.example/v1',
  kind: 'Note',
  metadata: { name, namespace: 'default' },
  spec,
});

function childrenOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n');
  return lines.map((line) => line.trim().split(/\s+/).map(Number)).flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
}

describe('dogwatch dev', () => {
  let root: string;
  let run: DevProcess | undefined;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'dogwatch-dev-test-'));
  });
  afterEach(() => {
    run?.kill();
    rmSync(root, { recursive: true, force: true });
  });

  function start(words: readonly string[], env: Readonly<Record<string, string>> = {}): DevProcess {
    run = new DevProcess(words, { tmpDir: root, env });
    return run;
  }

  it('runs samples and manifests, swaps its code without losing a message, and leaves nothing', { timeout: 120_000 }, async (context) => {
    const module = join(root, 'reconcilers.ts');
    const manifest = join(root, 'manifest.yaml');
    writeFileSync(module, reconcilersOf(root, 'one'));
    const documents = [
      note('wrong', { text: 5 }),
      { apiVersion: 'nobody.example/v1', kind: 'Thing', metadata: { name: 'a' } },
      note('right', { text: 'a' }),
    ];
    writeFileSync(manifest, documents.map((object) => JSON.stringify(object)).join('\n---\n'));
    const dev = start(['--reconcilers', module, '--apply', manifest], PATIENT);

    for (const cluster of ['east', 'west']) {
      await dev.seen(new RegExp(`^outcome .*${cluster}/Tenant/acme  reconciled`, 'm'));
      await dev.seen(new RegExp(`^outcome .*${cluster}/Note/default/right  reconciled`, 'm'));
    }
    assert.match(dev.output, /^error: .*manifest\.yaml: document 1: note\/wrong in east, west: .*spec\.text/m);
    assert.match(
      dev.output,
      /^error: .*manifest\.yaml: document 2: thing\/a in east, west: no kind Thing of nobody\.example\/v1 is served/m,
    );
    const [, kubeconfig = ''] = await dev.seen(/^kubeconfig of east: (.+)$/m);
    const applier = createApplier(kubeconfig);
    const client = createKubernetesClient({
      cluster: 'east' as ClusterName,
      kubeConfig: { kind: 'file', path: kubeconfig, context: undefined },
    });
    context.after(() => {
      client.close();
      applier.close();
    });
    const versionOf = async (name: string): Promise<unknown> => {
      const found = await client.get(configMaps, { namespace: 'default', name });
      return (found?.['data'] as { version?: unknown } | undefined)?.version;
    };

    assert.equal(await applier.apply(note('slow', { text: 'a' })), undefined);
    await dev.until(() => existsSync(join(root, 'running-slow')) || undefined);
    writeFileSync(module, reconcilersOf(root, 'two'));
    await dev.seen(/^build swapped[\s\S]*^build swapped/m);
    assert.equal(await applier.apply(note('later', { text: 'a' })), undefined);
    await dev.seen(/^outcome .*east\/Note\/default\/later {2}reconciled/m);
    assert.equal(await versionOf('later'), 'two');
    assert.doesNotMatch(dev.output, /Note\/default\/slow/);
    assert.ok(!existsSync(join(root, 'ended-later-one')));
    writeFileSync(join(root, 'go'), '');
    await dev.until(() => existsSync(join(root, 'ended-slow-one')) || undefined);
    // The new watcher found it unsettled and sent it too: which of the two runs is overtaken by the other is open.
    await dev.seen(/^outcome .*east\/Note\/default\/slow {2}(reconciled|settled) .*done$/m);

    writeFileSync(module, `${reconcilersOf(root, 'three')}throw new Error('not today');\n`);
    const lines = reconcilersOf(root, 'three').split('\n').length;
    await dev.seen(new RegExp(`^build failed: .*reconcilers\\.ts:${lines}: not today`, 'm'));

    const [, envFile = ''] = await dev.seen(/source (.+)$/m);
    const manual = `. ${envFile} && exec ${process.execPath} functions/cli/bin.js reconcile tenant/acme --cluster west`;
    execFileSync('/bin/sh', ['-c', manual], { cwd: ROOT, env: { PATH: process.env['PATH'] ?? '' } });
    await dev.seen(/^outcome .*west\/Tenant\/acme {2}reconciled {2}manual/m);

    const processes = childrenOf(dev.pid);
    assert.ok(processes.length >= 2, 'the watcher and the function are processes');
    dev.interrupt(); // how long it takes, test/bench/dev-start.ts measures
    assert.equal(await dev.ended, 0, dev.output);
    assert.deepEqual(
      processes.filter((pid) => !isGone(pid)),
      [],
    );
    assert.deepEqual(
      readdirSync(root).filter((name) => name.startsWith('dogwatch-')),
      [],
    );
  });

  it('says in one line that its address is in use, or that a setting is wrong', async (context) => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    const { port } = server.address() as AddressInfo;
    context.after(() => server.close());
    const faults: readonly [env: Record<string, string>, says: RegExp][] = [
      [{ DOGWATCH_HTTP_ADDRESS: `127.0.0.1:${port}` }, /^dogwatch: DOGWATCH_HTTP_ADDRESS 127\.0\.0\.1:\d+ is in use/],
      [{ DOGWATCH_MAX_ATTEMTS: '5' }, /^dogwatch: DOGWATCH_MAX_ATTEMTS is no variable of ours: did you mean DOGWATCH_MAX_ATTEMPTS\?/],
    ];
    for (const [env, says] of faults) {
      const dev = start([], env);
      assert.equal(await dev.ended, 2, dev.output);
      assert.match(dev.output.trim().split('\n').at(-1) ?? '', says);
      assert.deepEqual(
        readdirSync(root).filter((name) => name.startsWith('dogwatch-')),
        [],
      );
    }
  });
});
