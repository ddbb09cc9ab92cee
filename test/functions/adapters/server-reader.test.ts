import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { clusterName } from '../../../events/resource.ts';
import type { ClusterEntry } from '../../../functions/adapters/clusters.ts';
import { createServerReader } from '../../../functions/adapters/server-reader.ts';

const dir = mkdtempSync(join(tmpdir(), 'dogwatch-servers-'));
after(() => rmSync(dir, { recursive: true, force: true }));

const KUBECONFIG = `
current-context: main
clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]
contexts: [{name: main, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: t}}]
`;

describe('createServerReader', () => {
  const entry = (path: string, context?: string): ClusterEntry => ({
    name: clusterName('east'),
    access: { kind: 'file', path, context },
    where: 'clusters.yml: clusters[0] (east)',
  });
  const content = (server: string, token = 't'): string =>
    KUBECONFIG.replace('http://127.0.0.1:1', server).replace('token: t', `token: ${token}`);

  it('follows a kubeconfig that is replaced by swapping a link, as a mounted Secret is', async () => {
    const mount = mkdtempSync(join(dir, 'mount-'));
    for (const [version, server] of [
      ['v1', 'https://one'],
      ['v2', 'https://two'],
    ] as const) {
      mkdirSync(join(mount, version));
      writeFileSync(join(mount, version, 'east.yaml'), content(server));
    }
    const swap = (version: string): void => {
      symlinkSync(version, join(mount, 'new'));
      renameSync(join(mount, 'new'), join(mount, '..data'));
    };
    swap('v1');
    symlinkSync(join('..data', 'east.yaml'), join(mount, 'east.yaml'));
    const serverOf = createServerReader();
    const found = [await serverOf(entry(join(mount, 'east.yaml')))];
    swap('v2');
    found.push(await serverOf(entry(join(mount, 'east.yaml'))));
    assert.deepEqual(found, ['https://one', 'https://two']);
  });

  it('says the same of another token', async () => {
    const path = join(dir, 'rotated.yaml');
    const serverOf = createServerReader();
    const found = [];
    for (const token of ['one', 'two', 'two']) {
      writeFileSync(path, content('https://one', token));
      found.push(await serverOf(entry(path)));
    }
    assert.deepEqual(found, ['https://one', 'https://one', 'https://one']);
  });

  it('knows nothing of a file that is absent, cut off or without the context, and finds it again', async () => {
    const path = join(dir, 'cut.yaml');
    const serverOf = createServerReader();
    const found = [await serverOf(entry(path))];
    for (const text of ['current-context: ma', 'clusters: [{name: c, clus', content('https://one'), content('https://one')]) {
      writeFileSync(path, text);
      found.push(await serverOf(entry(path)), await serverOf(entry(path, 'other')));
    }
    assert.deepEqual(found, [undefined, undefined, undefined, undefined, undefined, 'https://one', undefined, 'https://one', undefined]);
  });

  it('has no word on the cluster that we run in', async () => {
    assert.equal(await createServerReader()({ ...entry(''), access: { kind: 'in-cluster' } }), undefined);
  });
});
