import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Applier } from '../../../../infra/local/dev/apply-object.ts';
import { applyFile, applySamples } from '../../../../infra/local/dev/manifest-files.ts';

/** @param refusals  by name; `away` is what a cluster says that does not answer */
function applier(refusals: Readonly<Record<string, string>> = {}): Applier & { readonly asked: string[] } {
  const asked: string[] = [];
  let isAnswering = true;
  return {
    asked,
    async apply({ metadata: { name } }) {
      asked.push(name);
      isAnswering = refusals[name] !== 'away';
      return refusals[name];
    },
    get isAnswering() {
      return isAnswering;
    },
    close: () => undefined,
  };
}

describe('applyFile', () => {
  let dir: string;
  let file: string;
  let told: string[];

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-manifest-'));
    file = join(dir, 'm.yaml');
    told = [];
    const documents = ['a', 'b', 'c'].map((name) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }));
    writeFileSync(file, documents.join('\n---\n'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const apply = (appliers: Readonly<Record<string, Applier>>): Promise<void> =>
    applyFile(file, new Map(Object.entries(appliers)), (event) =>
      told.push('text' in event ? `${event.kind} ${event.text}`.replaceAll(file, 'FILE') : ''),
    );

  it('tells once of what all clusters took', async () => {
    await apply({ east: applier(), west: applier() });
    assert.deepEqual(told, ['step applied FILE to east and west: configmap/a, configmap/b, configmap/c']);
  });

  it('tells what each took where one refuses something, and of a refusal that is the same once', async () => {
    await apply({ east: applier({ a: 'no' }), west: applier({ a: 'no', b: 'never' }) });
    assert.deepEqual(told, [
      'notice FILE: document 1: configmap/a in east, west: no',
      'notice FILE: document 2: configmap/b in west: never',
      'step applied FILE to east: configmap/b, configmap/c',
      'step applied FILE to west: configmap/c',
    ]);
  });

  it('asks a cluster that does not answer for nothing more of the file', async () => {
    const [east, west] = [applier({ b: 'away' }), applier()];
    await apply({ east, west });
    assert.deepEqual(
      [east.asked, west.asked],
      [
        ['a', 'b'],
        ['a', 'b', 'c'],
      ],
    );
    assert.match(told.join('\n'), /^notice FILE: document 2: configmap\/b in east: away$/m);
  });

  it('applies the samples of the kinds that the code defines', async () => {
    const east = applier();
    await applySamples(new Set(['platform.example/v1 Tenant']), new Map([['east', east]]), () => undefined);
    assert.deepEqual(east.asked, ['acme']);
  });
});
