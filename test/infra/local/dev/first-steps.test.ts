import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { firstSteps } from '../../../../infra/local/dev/first-steps.ts';

describe('firstSteps', () => {
  let dir: string;

  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-steps-'));
    writeFileSync(join(dir, 'kubectl'), '#!/bin/sh\n');
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const steps = (path: string, isOwn = true, contexts = ['east', 'west']): string =>
    firstSteps({
      clusters: contexts.map((name) => ({ name, kubeconfigPath: `/d/${name}.kubeconfig`, context: name, isOwn })),
      envFile: '/d/env',
      watcherAddress: 'http://127.0.0.1:1',
      maxAttempts: 4,
      path,
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

  it('can be pasted into a shell whatever a context is called', () => {
    assert.match(steps('', false, ["ada's (dev)"]), /kubectl --context 'ada'\\''s \(dev\)' apply/);
  });
});
