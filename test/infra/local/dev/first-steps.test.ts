import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { firstSteps, type Whereabouts } from '../../../../infra/local/dev/first-steps.ts';

describe('firstSteps', () => {
  let dir: string;

  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-steps-'));
    writeFileSync(join(dir, 'kubectl'), '#!/bin/sh\n');
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const TENANT = 'platform.example/v1 Tenant';
  const CLAIM = 'platform.example/v1 QueueClaim';
  const steps = (path: string, isOwn = true, contexts = ['east', 'west'], over: Partial<Whereabouts> = {}): string =>
    firstSteps({
      kinds: new Set([CLAIM, TENANT]),
      isOtherCode: false,
      clusters: contexts.map((name) => ({ name, kubeconfigPath: `/d/${name}.kubeconfig`, context: name, isOwn })),
      envFile: '/d/env',
      watcherAddress: 'http://127.0.0.1:1',
      maxAttempts: 4,
      path,
      ...over,
    }).join('\n');

  it('says where everything is', () => {
    for (const text of ['east: /d/east.kubeconfig', 'west: /d/west.kubeconfig', 'source /d/env', 'http://127.0.0.1:1/readyz'])
      assert.ok(steps('').includes(text), text);
  });

  it('names kubectl where that is on the PATH and can be run, and else how to do without', () => {
    chmodSync(join(dir, 'kubectl'), 0o600);
    assert.match(steps(`/nowhere:${dir}`), /^1\. .* reconcile tenant\/acme --cluster east\n2\. .*\n3\. .*--apply FILE/m);
    chmodSync(join(dir, 'kubectl'), 0o700);
    const all = steps(`/nowhere:${dir}`);
    assert.match(all, /^2\. pause it: kubectl --context east annotate tenant acme dogwatch\.dev\/paused=true/m);
    assert.match(all, /^3\. .* after 4 attempts: .*\| kubectl --context east apply --server-side -f -$/m);
    assert.doesNotMatch(all, /--apply FILE/);
  });

  it('makes nothing in a cluster that is somebody’s: whoever may does', () => {
    const all = steps('/nowhere', false);
    assert.match(all, /^1\. make an object where you may: kubectl --context east apply --server-side -f events\/samples\/tenant\.yaml/m);
    assert.doesNotMatch(all, /no\.dots|pause/);
  });

  it('names samples of kinds only that have a reconciler, and else objects of one’s own', () => {
    chmodSync(join(dir, 'kubectl'), 0o700);
    const withKubectl = `/nowhere:${dir}`;
    const of = (path: string, isOwn: boolean, ...kinds: string[]): string[] =>
      steps(path, isOwn, ['east'], { kinds: new Set(kinds) })
        .split('\n')
        .filter((line) => /^\d/.test(line));
    const change = 'change a reconciler and save it: the function is swapped';
    const reconcile = 'run an object by hand: npm run -s dogwatch -- reconcile queueclaim/jobs -n default --cluster east';
    assert.deepEqual(of(withKubectl, true, CLAIM), [
      `1. ${reconcile}`,
      '2. pause it: kubectl --context east annotate -n default queueclaim jobs dogwatch.dev/paused=true (and go on: dogwatch.dev/paused-)',
      `3. ${change}`,
    ]);
    assert.deepEqual(of('', true, CLAIM), [
      `1. ${reconcile}`,
      `2. ${change}`,
      '3. apply objects of your own: start again with npm run dev -- --apply FILE (kubectl is not on the PATH)',
    ]);
    assert.deepEqual(of('', false, CLAIM), [
      '1. make an object where you may: kubectl --context east apply --server-side -f events/samples/queue-claim.yaml',
      '2. run it by hand: npm run -s dogwatch -- reconcile queueclaim/jobs -n default --cluster east',
      `3. ${change}`,
    ]);
    const own = '1. make an object of your own: kubectl --context east apply --server-side -f FILE';
    assert.deepEqual(of(withKubectl, true, 'example.com/v1 Tenant'), [own, `2. ${change}`]);
    assert.deepEqual(of('', false), [own, `2. ${change}`]);
    assert.deepEqual(of('', true), [
      `1. ${change}`,
      '2. apply objects of your own: start again with npm run dev -- --apply FILE (kubectl is not on the PATH)',
    ]);
  });

  it('has nobody reconcile by hand what the command has no reconciler for: it knows the checkout’s own', () => {
    const all = steps(`/nowhere:${dir}`, true, ['east'], { isOtherCode: true });
    assert.match(all, /^1\. pause it: kubectl --context east annotate tenant acme/m);
    assert.doesNotMatch(all, /-- reconcile/);
  });

  it('can be pasted into a shell whatever a context is called', () => {
    assert.match(steps('', false, ["ada's (dev)"]), /kubectl --context 'ada'\\''s \(dev\)' apply/);
  });
});
