/** A kind that is not ours, watched in part: leaving the selection destroys nothing, and coming back repairs. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ApiObject, until } from './api.ts';
import { type System, startSystem } from './system.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const COPY = `${CONFIG_MAPS}/source-copy`;
const OTHER_COPY = `${CONFIG_MAPS}/other-copy`;
const SENDS = 'dogwatch_sends_total';

describe('a reconciler of labelled ConfigMaps', () => {
  let system: System;

  before(async () => {
    system = await startSystem({ reconcilers: 'test/real/reconcilers/copies.ts', crds: '' });
    for (const name of ['source', 'other']) {
      const answer = await system.api.post(CONFIG_MAPS, { metadata: { name, labels: { copy: 'yes' } }, data: { text: 'one' } });
      assert.equal(answer.status, 201);
    }
  });
  after(async () => {
    await system?.stop();
  });

  const sent = (): Promise<number> => system.metric(SENDS, 'result="sent"');
  const change = async (body: object): Promise<void> => {
    assert.equal((await system.api.merge(`${CONFIG_MAPS}/source`, body)).status, 200);
  };
  const label = (labels: Record<string, string | null>): Promise<void> => change({ metadata: { labels } });

  function copy(what: string, fits: (data: Record<string, string>) => boolean): Promise<ApiObject> {
    return until(`a copy ${what}`, async () => {
      const { status, body } = await system.api.get(COPY);
      return status === 200 && fits((body as unknown as { data: Record<string, string> }).data) ? body : undefined;
    });
  }

  it('copies one, follows its data and the label that its predicate names, and writes nothing to it', async () => {
    await copy('of the first text', ({ text }) => text === 'one');
    await until('the other copy', async () => (await system.api.get(OTHER_COPY)).status === 200 || undefined);
    await change({ data: { text: 'two' } });
    await copy('of the second', ({ text }) => text === 'two');
    await label({ tier: 'gold' });
    await copy('that is gold', ({ tier }) => tier === 'gold');
    await system.drained();
    const { managedFields } = (await system.api.get(`${CONFIG_MAPS}/source`)).body.metadata as unknown as {
      managedFields: { manager: string }[];
    };
    assert.ok(!managedFields.some(({ manager }) => manager === 'dogwatch'));
  });

  it('leaves the copy alone when the label is taken off, and tells of it once (B11)', async () => {
    const { uid, resourceVersion } = (await system.api.get(COPY)).body.metadata;
    const before = await sent();
    await label({ copy: null });
    await system.functionHost.line(/"branch":"not-selected"/);
    await change({ data: { text: 'three' } });
    await system.drained();
    assert.equal((await sent()) - before, 1);
    const { metadata } = (await system.api.get(COPY)).body;
    assert.deepEqual([metadata.uid, metadata.resourceVersion], [uid, resourceVersion]);
  });

  it('repairs the copy when the label comes back, by one message', async () => {
    assert.equal((await system.api.delete(COPY)).status, 200);
    const before = await sent();
    await label({ copy: 'yes' });
    await copy('of the third text', ({ text }) => text === 'three');
    await system.drained();
    assert.equal((await sent()) - before, 1);
  });

  it('restores a copy that is deleted, and leaves one alone that the predicate holds back', async () => {
    await system.api.delete(COPY);
    await copy('again', ({ text }) => text === 'three');
    await label({ held: '' });
    await change({ data: { text: 'four' } });
    await system.api.delete(COPY);
    // What is deleted later and comes back shows that the time of the first has come as well.
    await system.api.delete(OTHER_COPY);
    await until('the other copy again', async () => (await system.api.get(OTHER_COPY)).status === 200 || undefined);
    await system.drained();
    assert.equal((await system.api.get(COPY)).status, 404);
    await label({ held: null });
    await copy('of the fourth text', ({ text }) => text === 'four');
  });
});
