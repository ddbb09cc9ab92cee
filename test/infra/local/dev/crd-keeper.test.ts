/** CRDs of a development run in embedded servers: its own, and one that is somebody's. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { ConfigError } from '../../../../functions/core/errors.ts';
import { type ApiServer, startApiServer } from '../../../../infra/local/api-server/api-server.ts';
import { applierOf } from '../../../../infra/local/dev/apply-object.ts';
import { type ClusterCalls, createClusterCalls } from '../../../../infra/local/dev/cluster-calls.ts';
import { type Crd, createCrdCalls } from '../../../../infra/local/dev/crd-calls.ts';
import { type CrdKeeper, createCrdKeeper } from '../../../../infra/local/dev/crd-keeper.ts';
import { writeKubeconfig } from './kubeconfigs.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** @param spec  the properties of a Note's spec */
function crd(kind: string, spec: object = { text: { type: 'string' } }, scope = 'Namespaced', required: readonly string[] = []): Crd {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', required, properties: spec } } } };
  const made = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.test.example` },
    spec: {
      group: 'test.example',
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  return made;
}

const note = (name: string) => ({ apiVersion: 'test.example/v1', kind: 'Note', metadata: { name }, spec: { text: 'a' } });

describe('createCrdKeeper', () => {
  let dir: string;
  let server: ApiServer;
  let calls: ClusterCalls;
  let told: string[];

  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'dogwatch-crds-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));
  beforeEach(async () => {
    server = await startApiServer();
    calls = createClusterCalls({ kubeconfigPath: writeKubeconfig(dir, { it: { server } }), context: 'it' });
    told = [];
  });
  afterEach(async () => {
    calls.close();
    await server.stop();
  });

  function keeper(clusters: readonly { readonly name: string; readonly isOwn: boolean; readonly calls?: ClusterCalls }[]): CrdKeeper {
    const kept = clusters.map((cluster) => ({ ...cluster, calls: createCrdCalls(cluster.calls ?? calls) }));
    return createCrdKeeper(kept, (event) => told.push('text' in event ? `${event.kind}: ${event.text}` : event.kind));
  }

  async function stored(name: string): Promise<{ status: number; body: { metadata: { generation: number }; spec: unknown } }> {
    const answer = await calls.send({ method: 'GET', path: `${CRDS}/${name}` });
    assert.equal(answer.kind, 'answer');
    return answer.kind === 'answer' ? { status: answer.status, body: JSON.parse(answer.text) } : assert.fail();
  }

  async function applyAs(manager: string, object: Crd): Promise<void> {
    const path = `${CRDS}/${object.metadata.name}?fieldManager=${manager}&force=true`;
    const answer = await calls.send({ method: 'PATCH', path, contentType: 'application/apply-patch+yaml', body: JSON.stringify(object) });
    assert.ok(answer.kind === 'answer' && answer.status < 300);
  }

  const isThere = async (name: string): Promise<boolean> => (await stored(name)).status === 200;
  const propertiesOf = async (name: string): Promise<string> => JSON.stringify((await stored(name)).body.spec);

  it('applies what is missing and what has changed to a cluster of the run, and says nothing of it', async () => {
    const { use, look } = keeper([{ name: 'east', isOwn: true }]);
    await use([crd('Note')]);
    assert.equal(await applierOf(calls).apply(note('a')), undefined, 'the kind is served');
    await use([crd('Note', { text: { type: 'string' }, size: { type: 'integer' } })]);
    assert.match(await propertiesOf('notes.test.example'), /size/);
    await look();
    assert.deepEqual(told, []);
  });

  it('names the objects that a changed definition would not take, with the field', async () => {
    const { use } = keeper([{ name: 'east', isOwn: true }]);
    await use([crd('Note')]);
    for (const name of ['a', 'b']) await applierOf(calls).apply(note(name));
    const changed = crd('Note', { text: { type: 'string' }, size: { type: 'integer' } }, 'Namespaced', ['size']);
    await use([changed]);
    await use([changed]);
    assert.deepEqual(told, [
      'notice: customresourcedefinition/notes.test.example has changed, and objects in east do not fit it: default/a (spec.size: Required value); default/b (spec.size: Required value)',
    ]);
  });

  it('names what stays of a kind that is no longer defined, with its objects', async () => {
    const { use } = keeper([{ name: 'east', isOwn: true }]);
    await use([crd('Note'), crd('Memo')]);
    for (const name of ['a', 'b']) await applierOf(calls).apply(note(name));
    await use([crd('Letter')]);
    assert.deepEqual(told, [
      'notice: Note is no longer defined: customresourcedefinition/notes.test.example stays in east with 2 objects (default/a, default/b), which nobody reconciles',
    ]);
  });

  it('throws, with the field, the objects and the way out, where a change is refused', async () => {
    const { use, look } = keeper([{ name: 'east', isOwn: true }]);
    await use([crd('Note')]);
    await applierOf(calls).apply(note('a'));
    await assert.rejects(use([crd('Note', {}, 'Cluster')]), (error: unknown) => {
      assert.ok(error instanceof ConfigError && error.code === 'crd-refused');
      assert.match(error.message, /^customresourcedefinition\/notes\.test\.example is refused by east: .*spec\.scope.*immutable/);
      assert.match(error.message, /; east has 1 object \(default\/a\), and kubectl delete crd notes\.test\.example deletes them with it$/);
      return true;
    });
    await look();
    assert.deepEqual(told, []);
  });

  it('applies again what somebody deletes in a cluster of the run, and tells of what somebody changes', async () => {
    const { use, look } = keeper([{ name: 'east', isOwn: true }]);
    await use([crd('Note')]);
    await calls.send({ method: 'DELETE', path: `${CRDS}/notes.test.example` });
    assert.ok(!(await isThere('notes.test.example')));
    await look();
    assert.ok(await isThere('notes.test.example'));
    await applyAs('ada', crd('Note', { other: { type: 'string' } }));
    await look();
    await look();
    assert.deepEqual(told, [
      'notice: customresourcedefinition/notes.test.example was deleted in east, with its objects, and is applied again',
      'notice: customresourcedefinition/notes.test.example in east was changed by ada: save a file of the code, and it is applied again',
    ]);
    await use([crd('Note')]);
    assert.doesNotMatch(await propertiesOf('notes.test.example'), /other/);
  });

  it('is a guest elsewhere: applies what is missing or only a development run’s, leaves the rest, and tells of each', async () => {
    await applyAs('dogwatch-dev', crd('Memo', {}));
    await applyAs('ada', crd('Letter'));
    await applyAs('ada', crd('Card', {}));
    const { use, look } = keeper([{ name: 'prod', isOwn: false }]);
    await use([crd('Note'), crd('Memo'), crd('Letter'), crd('Card')]);
    assert.deepEqual(told, [
      'step: applied customresourcedefinition/notes.test.example to prod, where it was not',
      'step: applied customresourcedefinition/memos.test.example to prod, where a development run had applied another version of it',
      'step: customresourcedefinition/letters.test.example is in prod as the code has it',
      'notice: customresourcedefinition/cards.test.example in prod is not as the code has it, and is left as it is, because ada has applied it: compare it with what dogwatch crds prints',
    ]);
    assert.match(await propertiesOf('memos.test.example'), /text/);
    assert.doesNotMatch(await propertiesOf('cards.test.example'), /text/);
    assert.equal((await stored('letters.test.example')).body.metadata.generation, 1);
    told = [];
    await look();
    assert.deepEqual(told, []);
  });

  for (const [of, managers, writer] of [
    ['the Dogwatch that is deployed there', ['dogwatch'], 'dogwatch'],
    ['somebody who has taken it over from a development run', ['dogwatch-dev', 'ada'], 'ada'],
  ] as const)
    it(`leaves a definition of ${of} as it is`, async () => {
      for (const manager of managers) await applyAs(manager, crd('Card', { [manager]: { type: 'string' } }));
      const before = await propertiesOf('cards.test.example');
      await keeper([{ name: 'prod', isOwn: false }]).use([crd('Card')]);
      assert.equal(await propertiesOf('cards.test.example'), before);
      assert.match(told.join('\n'), new RegExp(`^notice: .* is left as it is, because ${writer} has applied it`));
    });

  it('applies nothing to a cluster that does not say whether it is there', async () => {
    await applyAs('ada', crd('Card', {}));
    const lift = server.faults.add({ kind: 'error', code: 500, where: ({ method }) => method === 'GET' });
    const { use, look } = keeper([{ name: 'prod', isOwn: false }]);
    await use([crd('Card')]);
    lift();
    assert.doesNotMatch(await propertiesOf('cards.test.example'), /text/);
    assert.match(told.join('\n'), /^notice: prod: .* answers 500/);
    told = [];
    await look();
    assert.match(told.join('\n'), /^notice: .*cards\.test\.example in prod is not as the code has it/);
  });

  it('does not say that a definition differs where it may not try', async () => {
    await applyAs('ada', crd('Card'));
    server.faults.add({ kind: 'error', code: 403, where: ({ method }) => method === 'PATCH' });
    await keeper([{ name: 'prod', isOwn: false }]).use([crd('Card')]);
    assert.equal(told.length, 1);
    assert.match(
      told.join('\n'),
      /^step: customresourcedefinition\/cards\.test\.example in prod is left as it is, because ada has applied it; whether it is as the code has it cannot be tried: .*\(403\)/,
    );
  });

  it('does not apply again by itself what somebody deletes elsewhere', async () => {
    const { use, look } = keeper([{ name: 'prod', isOwn: false }]);
    await use([crd('Note')]);
    told = [];
    await calls.send({ method: 'DELETE', path: `${CRDS}/notes.test.example` });
    await look();
    await look();
    assert.ok(!(await isThere('notes.test.example')));
    assert.deepEqual(told, [
      'notice: customresourcedefinition/notes.test.example was deleted in prod, with its objects: save a file of the code, and it is applied again',
    ]);
    await use([crd('Note')]);
    assert.ok(await isThere('notes.test.example'));
  });

  it('does without a cluster that is not available, tells why once, and goes on with it when it is', async () => {
    const bad = await startApiServer();
    const badCalls = createClusterCalls({ kubeconfigPath: writeKubeconfig(dir, { bad: { server: bad } }), context: 'bad' });
    await badCalls.send({ method: 'GET', path: '/version' });
    const { use, look } = keeper([
      { name: 'bad', isOwn: false, calls: badCalls },
      { name: 'prod', isOwn: false },
    ]);
    await bad.down();
    await use([crd('Note'), crd('Memo')]);
    await look();
    assert.equal(told.filter((text) => /^notice: bad: .*cannot be reached \(ECONNREFUSED\)/.test(text)).length, 1, told.join('\n'));
    assert.equal(told.filter((text) => /^step: applied .* to prod, where it was not$/.test(text)).length, 2);
    await bad.up();
    told = [];
    await look();
    assert.equal(told.filter((text) => /^step: applied .* to bad, where it was not$/.test(text)).length, 2, told.join('\n'));
    badCalls.close();
    await bad.stop();
  });
});
