/** `dogwatch dev --real`: the same run, on control planes that are the real thing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { controlPlaneAssets } from '../../infra/local/control-plane/build.ts';
import { DevProcess } from '../functions/cli/dev-process.ts';

describe('dogwatch dev --real', () => {
  let root: string;
  let dev: DevProcess | undefined;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'dogwatch-real-'));
  });
  after(() => {
    dev?.kill();
    rmSync(root, { recursive: true, force: true });
  });

  it('reconciles the samples in each of its clusters, gives out their kubectl, and leaves nothing', { timeout: 180_000 }, async () => {
    await controlPlaneAssets(); // Not in the time of what follows.
    const cache = {
      HOME: process.env['HOME'] ?? '',
      ...(process.env['XDG_CACHE_HOME'] ? { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] } : {}),
    };
    dev = new DevProcess(['--real'], { tmpDir: root, env: cache, withinSeconds: 90 });
    await dev.seen(/^starting real control planes: east/m);
    await dev.seen(/^outcome .*east\/Tenant\/acme {2}reconciled/m);
    await dev.seen(/^outcome .*east\/QueueClaim\/default\/jobs {2}reconciled/m);
    const [, envFile = ''] = await dev.seen(/source (.+)$/m);
    const script = `. ${envFile} && exec kubectl --context east get tenants -o name`;
    const env = { PATH: process.env['PATH'] ?? '', HOME: root };
    assert.equal(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env }), 'tenant.platform.example/acme\n');
    dev.interrupt();
    assert.equal(await dev.ended, 0, dev.output);
    assert.deepEqual(
      readdirSync(root).filter((name) => name.startsWith('dogwatch-')),
      [],
    );
  });
});
