/** metadata.generation and resourceVersion: which writes move them, and what watches see of it. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { assertDone, type Lab } from './lab.ts';
import type { Body, WireAnswer } from './wire.ts';

const HOLD = { finalizers: ['wire.example/hold'] };

interface Write {
  readonly name: string;
  readonly plural?: string;
  readonly begin?: { readonly metadata?: Record<string, unknown>; readonly by?: 'apply' };
  write(lab: Lab, object: Body): Promise<WireAnswer>;
  /** How far generation goes. */
  readonly generation: number;
  readonly isNoted: boolean;
}

/** PUT of the object as it was read, changed. */
const put =
  (change: (object: Body) => void, subresource = '', plural = 'widgets') =>
  (lab: Lab, object: Body): Promise<WireAnswer> => {
    const body = structuredClone(object);
    change(body);
    return lab.send('PUT', lab.path(plural, object.metadata.name, subresource), { body });
  };
const merge =
  (patch: unknown, subresource = '', plural = 'widgets') =>
  (lab: Lab, { metadata }: Body): Promise<WireAnswer> =>
    lab.merge(plural, metadata.name, patch, subresource);

const WRITES: readonly Write[] = [
  { name: 'a change of spec', write: merge({ spec: { size: 2 } }), generation: 1, isNoted: true },
  { name: 'a change of spec by PUT', write: put((object) => Object.assign(object.spec, { size: 2 })), generation: 1, isNoted: true },
  { name: 'a change of another field at the top', write: merge({ data: 'd' }), generation: 1, isNoted: true },
  { name: 'a field taken out of spec', write: merge({ spec: { size: null } }), generation: 1, isNoted: true },
  { name: 'the same content by PUT', write: put(() => {}), generation: 0, isNoted: false },
  { name: 'the same content by merge patch', write: merge({ spec: { size: 1 } }), generation: 0, isNoted: false },
  {
    name: 'the same content by apply, again',
    begin: { by: 'apply' },
    write: (lab, { metadata }) => lab.apply('widgets', lab.object('widgets', metadata.name, { spec: { size: 1 } })),
    generation: 0,
    isNoted: false,
  },
  { name: 'an empty merge patch', write: merge({}), generation: 0, isNoted: false },
  { name: 'labels', write: merge({ metadata: { labels: { a: 'b' } } }), generation: 0, isNoted: true },
  { name: 'annotations', write: merge({ metadata: { annotations: { a: 'b' } } }), generation: 0, isNoted: true },
  { name: 'finalizers', write: merge({ metadata: HOLD }), generation: 0, isNoted: true },
  { name: 'a generation that the client sends', write: merge({ metadata: { generation: 77 } }), generation: 0, isNoted: false },
  { name: 'status at the main endpoint', write: merge({ status: { phase: 'x' } }), generation: 0, isNoted: false },
  { name: 'status by PUT at the main endpoint', write: put((object) => (object.status = { phase: 'x' })), generation: 0, isNoted: false },
  { name: 'status at its own endpoint', write: merge({ status: { phase: 'x' } }, 'status'), generation: 0, isNoted: true },
  {
    name: 'status by PUT at its own endpoint',
    write: put((object) => Object.assign(object, { status: { phase: 'x' } }), 'status'),
    generation: 0,
    isNoted: true,
  },
  {
    name: 'spec, labels and finalizers at the endpoint of status',
    write: merge({ spec: { size: 9 }, metadata: { labels: { a: 'b' }, finalizers: ['wire.example/x'] } }, 'status'),
    generation: 0,
    isNoted: false,
  },
  {
    name: 'status of a kind without such an endpoint',
    plural: 'plains',
    write: merge({ status: { phase: 'x' } }, '', 'plains'),
    generation: 1,
    isNoted: true,
  },
  {
    name: 'a change of spec while deleting',
    begin: { metadata: HOLD },
    write: async (lab, { metadata }) => {
      await lab.send('DELETE', lab.path('widgets', metadata.name));
      return await lab.merge('widgets', metadata.name, { spec: { size: 5 } });
    },
    generation: 2,
    isNoted: true,
  },
  {
    name: 'a deletion that waits for a finalizer',
    begin: { metadata: HOLD },
    write: (lab, { metadata }) => lab.send('DELETE', lab.path('widgets', metadata.name)),
    generation: 1,
    isNoted: true,
  },
];

const writes: readonly ContractCase[] = WRITES.map(({ name, plural = 'widgets', begin = {}, write, generation, isNoted }) => ({
  name: `${name}: generation +${generation}, ${isNoted ? 'a new resourceVersion' : 'no new resourceVersion'}`,
  async run(lab) {
    const fields = { spec: { size: 1 } };
    const object =
      begin.by === 'apply'
        ? assertDone(await lab.apply(plural, lab.object(plural, lab.name(), fields)), 201)
        : await lab.create(plural, fields, begin.metadata);
    const before = object.metadata;
    assert.equal(before.generation, 1);
    const { metadata } = assertDone(await write(lab, object));
    assert.equal(metadata.generation - before.generation, generation);
    assert.equal(metadata.resourceVersion !== before.resourceVersion, isNoted);
    assert.deepEqual((await lab.read(plural, before.name)).metadata.resourceVersion, metadata.resourceVersion);
  },
}));

const lives: readonly ContractCase[] = [
  {
    name: 'a new object has generation 1 and no status, whatever was sent',
    async run(lab) {
      const object = await lab.create('widgets', { spec: { size: 1 }, status: { phase: 'x' } }, { generation: 7 });
      assert.deepEqual([object.metadata.generation, object.status, object.spec], [1, undefined, { size: 1, level: 'low' }]);
    },
  },
  {
    name: 'a kind without endpoint of status keeps the status that it is created with',
    async run(lab) {
      assert.deepEqual((await lab.create('plains', { status: { phase: 'x' } })).status, { phase: 'x' });
    },
  },
  {
    name: 'the same name again is another object: generation 1, new uid',
    async run(lab) {
      const first = await lab.create('widgets', { spec: { size: 1 } });
      await lab.merge('widgets', first.metadata.name, { spec: { size: 2 } });
      assertDone(await lab.send('DELETE', lab.path('widgets', first.metadata.name)));
      const second = await lab.create('widgets', {}, { name: first.metadata.name });
      assert.equal(second.metadata.generation, 1);
      assert.notEqual(second.metadata.uid, first.metadata.uid);
      const query = `&fieldSelector=metadata.name%3D${first.metadata.name}`;
      const events = await lab.events('widgets', first.metadata.resourceVersion, 3, query);
      assert.deepEqual(
        events.map(({ type, object }) => [type, object.metadata.uid]),
        [
          ['MODIFIED', first.metadata.uid],
          ['DELETED', first.metadata.uid],
          ['ADDED', second.metadata.uid],
        ],
      );
    },
  },
  {
    name: 'DELETE answers with Status and uid where the object is gone at once',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const { body } = await lab.send('DELETE', lab.path('widgets', metadata.name));
      assert.deepEqual([body.kind, body.status], ['Status', 'Success']);
      assert.deepEqual(body.details, { name: metadata.name, group: 'wire.example', kind: 'widgets', uid: metadata.uid });
    },
  },
  {
    name: 'DELETE answers with the object where finalizers are pending, and a second one changes nothing',
    async run(lab) {
      const { metadata } = await lab.create('widgets', {}, HOLD);
      const first = assertDone(await lab.send('DELETE', lab.path('widgets', metadata.name)));
      assert.deepEqual([first.kind, first.metadata.deletionGracePeriodSeconds, first.metadata.finalizers], ['Widget', 0, HOLD.finalizers]);
      assert.match(first.metadata.deletionTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      const second = assertDone(await lab.send('DELETE', lab.path('widgets', metadata.name)));
      assert.deepEqual(second, first);
    },
  },
  {
    name: 'the last finalizer goes: the answer has the version from before, the watch says DELETED with the last state and a new version',
    async run(lab) {
      const { metadata } = await lab.create('widgets', {}, HOLD);
      const deleting = assertDone(await lab.send('DELETE', lab.path('widgets', metadata.name))).metadata;
      const answer = assertDone(await lab.merge('widgets', metadata.name, { metadata: { finalizers: null } })).metadata;
      assert.deepEqual([answer.finalizers, answer.resourceVersion], [undefined, deleting.resourceVersion]);
      const [deleted] = await lab.events('widgets', deleting.resourceVersion, 1, `&fieldSelector=metadata.name%3D${metadata.name}`);
      const last = deleted?.object.metadata;
      assert.deepEqual([deleted?.type, last.finalizers, last.deletionTimestamp], ['DELETED', HOLD.finalizers, deleting.deletionTimestamp]);
      assert.ok(BigInt(last.resourceVersion) > BigInt(deleting.resourceVersion));
    },
  },
  {
    name: 'a watch sees each change once, and nothing where nothing changed',
    async run(lab) {
      const position = await lab.position('widgets');
      const { metadata } = await lab.create('widgets', { spec: { size: 1 } });
      const { name } = metadata;
      await lab.merge('widgets', name, { spec: { size: 1 } });
      await lab.merge('widgets', name, { spec: { size: 2 } });
      await lab.merge('widgets', name, { status: { phase: 'x' } }, 'status');
      await lab.merge('widgets', name, { status: { phase: 'y' } });
      await lab.send('DELETE', lab.path('widgets', name));
      const events = await lab.events('widgets', position, 4, `&fieldSelector=metadata.name%3D${name}`);
      assert.deepEqual(
        events.map(({ type, object }) => [type, object.metadata.generation, object.status?.phase, object.metadata.deletionTimestamp]),
        [
          ['ADDED', 1, undefined, undefined],
          ['MODIFIED', 2, undefined, undefined],
          ['MODIFIED', 2, 'x', undefined],
          ['DELETED', 2, 'x', undefined],
        ],
      );
    },
  },
  {
    name: 'a watch sees a deletion that waits, each change meanwhile, and DELETED once',
    async run(lab) {
      const { metadata } = await lab.create('widgets', { spec: { size: 1 } }, HOLD);
      const { name } = metadata;
      for (let i = 0; i < 2; i += 1) await lab.send('DELETE', lab.path('widgets', name));
      await lab.merge('widgets', name, { spec: { size: 5 } });
      await lab.merge('widgets', name, { metadata: { finalizers: null } });
      const query = `&timeoutSeconds=3&resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3D${name}`;
      const { events } = await lab.whole('widgets', query);
      assert.deepEqual(
        events.map(({ type, object }) => [type, object.metadata.generation, object.metadata.deletionGracePeriodSeconds, object.spec.size]),
        [
          ['MODIFIED', 2, 0, 1],
          ['MODIFIED', 3, 0, 5],
          ['DELETED', 3, 0, 5],
        ],
      );
      for (const { object } of events) assert.equal(typeof object.metadata.deletionTimestamp, 'string');
    },
  },
  ...(['Foreground', 'Orphan'] as const).map(
    (policy): ContractCase => ({
      name: `a deletion with propagationPolicy=${policy} waits for the garbage collector, one generation on`,
      async run(lab) {
        const { metadata } = await lab.create('widgets');
        const path = lab.path('widgets', metadata.name);
        const answer = assertDone(await lab.send('DELETE', `${path}?propagationPolicy=${policy}`)).metadata;
        const finalizer = policy === 'Orphan' ? 'orphan' : 'foregroundDeletion';
        assert.deepEqual([answer.generation, answer.finalizers], [2, [finalizer]]);
        assert.ok(answer.deletionTimestamp);
        const [seen] = await lab.events('widgets', metadata.resourceVersion, 1, `&fieldSelector=metadata.name%3D${metadata.name}`);
        assert.deepEqual([seen?.type, seen?.object.metadata.finalizers], ['MODIFIED', [finalizer]]);
        await lab.gone('widgets', metadata.name);
      },
    }),
  ),
  ...['configmaps', 'secrets', 'serviceaccounts', 'resourcequotas', 'leases', 'rolebindings'].map(
    (plural): ContractCase => ({
      name: `${plural} have no generation, also when a deletion waits`,
      async run(lab) {
        const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
        const { metadata } = await lab.create(plural, plural === 'rolebindings' ? { roleRef: role } : {}, HOLD);
        const deleted = assertDone(await lab.send('DELETE', lab.path(plural, metadata.name))).metadata;
        assert.deepEqual([metadata.generation, deleted.generation, typeof deleted.deletionTimestamp], [undefined, undefined, 'string']);
        assertDone(await lab.merge(plural, metadata.name, { metadata: { finalizers: null } }));
      },
    }),
  ),
];

export const generationCases: readonly ContractCase[] = [...writes, ...lives];
