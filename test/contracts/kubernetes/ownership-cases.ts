/** Finalizers, children and their owners, namespaces that go. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { assertDone, assertRefused, CONTROLLER_MS, eventually, type Lab } from './lab.ts';
import type { Body } from './wire.ts';

const OTHER_UID = '00000000-0000-4000-8000-00000000dead';
const MINE = 'wire.example/mine';
const THEIRS = 'wire.example/theirs';
const UNTOLD = { status: 422, reason: 'Invalid', details: {}, message: /^the server rejected our request due to an error in our request$/ };
// The real server checks metadata twice, and tells twice.
const UID = 'FieldValueInvalid metadata.uid';
const ADDED = 'FieldValueForbidden metadata.finalizers';

const finalizers: readonly ContractCase[] = [
  {
    name: 'a JSON patch removes a finalizer that it tests for',
    async run(lab) {
      const { name, uid } = (await lab.create('widgets', {}, { finalizers: [MINE, THEIRS] })).metadata;
      const patch = [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'test', path: '/metadata/finalizers/0', value: MINE },
        { op: 'remove', path: '/metadata/finalizers/0' },
      ];
      assert.deepEqual(assertDone(await lab.json('widgets', name, patch)).metadata.finalizers, [THEIRS]);
    },
  },
  ...(
    [
      ['a test that fails', [{ op: 'test', path: '/metadata/finalizers/0', value: THEIRS }]],
      ['an index that is not there', [{ op: 'remove', path: '/metadata/finalizers/7' }]],
      ['a list that is not there', [{ op: 'add', path: '/metadata/none/-', value: MINE }]],
      ['a test of another uid', [{ op: 'test', path: '/metadata/uid', value: OTHER_UID }]],
    ] as const
  ).map(
    ([what, patch]): ContractCase => ({
      name: `a JSON patch with ${what} is invalid, and does not say why`,
      async run(lab) {
        const { name } = (await lab.create('widgets', {}, { finalizers: [MINE] })).metadata;
        assertRefused(await lab.json('widgets', name, patch), UNTOLD);
      },
    }),
  ),
  {
    name: 'a JSON patch cannot add a finalizer where there is no list yet',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      assertRefused(await lab.json('widgets', name, [{ op: 'add', path: '/metadata/finalizers/-', value: MINE }]), UNTOLD);
    },
  },
  {
    name: 'a merge patch with uid and version removes one; with an old version it is a conflict, with another uid invalid',
    async run(lab) {
      const { name, uid, resourceVersion } = (await lab.create('widgets', {}, { finalizers: [MINE, THEIRS] })).metadata;
      const patch = (metadata: object) => lab.merge('widgets', name, { metadata: { finalizers: [THEIRS], ...metadata } });
      assertRefused(await patch({ uid: OTHER_UID, resourceVersion }), {
        status: 422,
        reason: 'Invalid',
        causes: [UID, UID],
      });
      for (const each of [uid, OTHER_UID]) {
        assertRefused(await patch({ uid: each, resourceVersion: '1' }), { status: 409, reason: 'Conflict' });
      }
      assert.deepEqual(assertDone(await patch({ uid, resourceVersion })).metadata.finalizers, [THEIRS]);
    },
  },
  {
    name: 'none can be added to an object that is deleting: by merge patch, JSON patch or apply',
    async run(lab) {
      const { name } = (await lab.create('widgets', {}, { finalizers: [MINE] })).metadata;
      await lab.send('DELETE', lab.path('widgets', name));
      const refusal = {
        status: 422,
        reason: 'Invalid',
        causes: [ADDED, ADDED],
        message:
          /no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"wire\.example\/theirs"\}/,
      };
      assertRefused(await lab.merge('widgets', name, { metadata: { finalizers: [MINE, THEIRS] } }), refusal);
      assertRefused(await lab.json('widgets', name, [{ op: 'add', path: '/metadata/finalizers/-', value: THEIRS }]), refusal);
      assertRefused(await lab.apply('widgets', lab.object('widgets', name, {}, { finalizers: [THEIRS] })), refusal);
    },
  },
  {
    name: 'an apply removes only what its manager alone owns',
    async run(lab) {
      const { name } = (await lab.create('widgets', {}, { finalizers: [THEIRS] })).metadata;
      await lab.apply('widgets', lab.object('widgets', name, {}, { finalizers: [MINE] }));
      await lab.apply('widgets', lab.object('widgets', name, {}, { finalizers: [MINE, THEIRS] }));
      const { metadata } = assertDone(await lab.apply('widgets', lab.object('widgets', name)));
      assert.deepEqual(metadata.finalizers, [THEIRS]);
    },
  },
  {
    name: 'an apply that takes the last finalizer away deletes the object, and one after it creates another',
    async run(lab) {
      const body = lab.object('widgets', lab.name(), {}, { finalizers: [MINE] });
      const { uid, name } = assertDone(await lab.apply('widgets', body), 201).metadata;
      await lab.send('DELETE', lab.path('widgets', name));
      assertDone(await lab.apply('widgets', lab.object('widgets', name)));
      assert.equal((await lab.send('GET', lab.path('widgets', name))).status, 404);
      assert.notEqual(assertDone(await lab.apply('widgets', lab.object('widgets', name)), 201).metadata.uid, uid);
    },
  },
];

const own = ({ metadata }: Body) =>
  metadata.managedFields.find((entry: Body) => entry.manager === 'us' && entry.operation === 'Apply')?.fieldsV1;
const quota = (lab: Lab, name: string, hard: object) => lab.object('resourcequotas', name, { spec: { hard } });

const applies: readonly ContractCase[] = [
  {
    name: 'an apply with a uid creates nothing, writes to no other object, and to the right one it does',
    async run(lab) {
      const name = lab.name();
      const body = (uid: string) => lab.object('configmaps', name, { data: { a: 'b' } }, { uid });
      const details = { name, kind: 'configmaps' };
      assertRefused(await lab.apply('configmaps', body(OTHER_UID)), {
        status: 409,
        reason: 'Conflict',
        details,
        message: /uid mismatch: the provided object specified uid/,
      });
      const { uid } = (await lab.create('configmaps', {}, { name })).metadata;
      assertRefused(await lab.apply('configmaps', body(OTHER_UID)), {
        status: 422,
        reason: 'Invalid',
        causes: [UID, UID],
      });
      assertDone(await lab.apply('configmaps', body(uid)));
    },
  },
  {
    name: 'an apply with a version alone creates what is absent',
    async run(lab) {
      const body = lab.object('configmaps', lab.name(), {}, { resourceVersion: '5' });
      assertDone(await lab.apply('configmaps', body), 201);
    },
  },
  {
    name: 'what our entry of managedFields names stays the same under our own writes, a status, and an annotation of others',
    async run(lab) {
      const name = lab.name();
      const whole = own(assertDone(await lab.apply('resourcequotas', quota(lab, name, { pods: '1', services: '2' })), 201));
      assert.deepEqual(whole, { 'f:spec': { 'f:hard': { 'f:pods': {}, 'f:services': {} } } });
      assert.deepEqual(own(assertDone(await lab.apply('resourcequotas', quota(lab, name, { pods: '5', services: '2' })))), whole);
      assert.deepEqual(own(assertDone(await lab.merge('resourcequotas', name, { metadata: { annotations: { a: 'b' } } }))), whole);
      assert.deepEqual(own(assertDone(await lab.merge('resourcequotas', name, { status: { hard: { pods: '5' } } }, 'status'))), whole);
    },
  },
  {
    name: 'it loses a field that others change or remove, however they do, and has it again with our next apply',
    async run(lab) {
      const name = lab.name();
      const ours = quota(lab, name, { pods: '1', services: '2' });
      const whole = own(assertDone(await lab.apply('resourcequotas', ours), 201));
      const less = { 'f:spec': { 'f:hard': { 'f:pods': {} } } };
      const steps = [
        () => lab.merge('resourcequotas', name, { spec: { hard: { services: '9' } } }),
        () => lab.merge('resourcequotas', name, { spec: { hard: { services: null } } }),
        () => lab.apply('resourcequotas', quota(lab, name, { services: '7' }), { manager: 'them', force: true }),
        async () => {
          // Without a version: the controller of quotas may write a status at any time.
          const { metadata, ...body } = await lab.read('resourcequotas', name);
          body.spec.hard.services = '8';
          body.metadata = { ...metadata, resourceVersion: undefined };
          // A real server's quota controller may write the status meanwhile.
          delete body.metadata.resourceVersion;
          return await lab.send('PUT', lab.path('resourcequotas', name), { body });
        },
      ];
      for (const step of steps) {
        assert.deepEqual(own(assertDone(await step())), less);
        assert.deepEqual(own(assertDone(await lab.apply('resourcequotas', ours, { force: true }))), whole);
      }
    },
  },
  {
    name: 'managedFields can be wiped, and our entry with them',
    async run(lab) {
      const name = lab.name();
      assertDone(await lab.apply('resourcequotas', quota(lab, name, { pods: '1' })), 201);
      const { metadata } = assertDone(await lab.merge('resourcequotas', name, { metadata: { managedFields: [{}] } }));
      assert.ok(!(metadata.managedFields ?? []).some((entry: Body) => entry.manager === 'us'));
    },
  },
  {
    name: 'the data of a ConfigMap is owned key by key',
    async run(lab) {
      const name = lab.name();
      assertDone(await lab.apply('configmaps', lab.object('configmaps', name, { data: { a: '1', b: '2' } })), 201);
      await lab.merge('configmaps', name, { data: { c: 'theirs' } });
      const { data } = assertDone(await lab.apply('configmaps', lab.object('configmaps', name, { data: { a: '1' } })));
      assert.deepEqual(data, { a: '1', c: 'theirs' });
    },
  },
];

const owner = ({ apiVersion, kind, metadata }: Body, more: object = {}) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  ...more,
});
/**
 * Resolves when the collector knows the ConfigMaps that there are: it takes their events in order, and has collected one that was
 * made after them. Before that, a real one orphans and waits for only the children that it has heard of.
 */
async function collectorKnows(lab: Lab, parent: Body): Promise<void> {
  const stale = await lab.create('configmaps', {}, { ownerReferences: [{ ...owner(parent), uid: OTHER_UID }] });
  await lab.gone('configmaps', stale.metadata.name);
}

const owners: readonly ContractCase[] = [
  {
    name: 'children go with their owner, and their children with them',
    async run(lab) {
      await lab.collectorIsReady();
      const parent = await lab.create('widgets');
      const child = await lab.create('configmaps', {}, { ownerReferences: [owner(parent)] });
      const grandchild = await lab.create('secrets', {}, { ownerReferences: [owner(child)] });
      await lab.send('DELETE', lab.path('widgets', parent.metadata.name));
      await lab.gone('configmaps', child.metadata.name);
      await lab.gone('secrets', grandchild.metadata.name);
    },
  },
  {
    name: 'a child with another owner stays',
    async run(lab) {
      await lab.collectorIsReady();
      const [one, two] = [await lab.create('widgets'), await lab.create('widgets')];
      const child = (await lab.create('configmaps', {}, { ownerReferences: [owner(one), owner(two)] })).metadata.name;
      const doomed = (await lab.create('configmaps', {}, { ownerReferences: [owner(one)] })).metadata.name;
      await lab.send('DELETE', lab.path('widgets', one.metadata.name));
      await lab.gone('configmaps', doomed);
      await lab.read('configmaps', child);
    },
  },
  {
    name: 'a child whose owner is another object of that name is collected',
    async run(lab) {
      await lab.collectorIsReady();
      const parent = await lab.create('widgets');
      await collectorKnows(lab, parent);
    },
  },
  {
    name: 'an owner in another namespace counts as absent: the child is collected',
    async run(lab) {
      await lab.collectorIsReady();
      const parent = await lab.create('widgets');
      const path = lab.path('configmaps', '', '', 'default');
      const child = lab.object('configmaps', lab.name('abroad'), {}, { ownerReferences: [owner(parent)] });
      assertDone(await lab.send('POST', path, { body: child }), 201);
      const isGone = async () => (await lab.send('GET', `${path}/${child.metadata.name}`)).status === 404;
      await eventually('the child gone', isGone, CONTROLLER_MS);
    },
  },
  {
    name: 'orphaned children stay, and no longer name their owner',
    async run(lab) {
      await lab.collectorIsReady();
      const parent = await lab.create('widgets');
      const child = (await lab.create('configmaps', {}, { ownerReferences: [owner(parent)] })).metadata.name;
      await collectorKnows(lab, parent);
      await lab.send('DELETE', `${lab.path('widgets', parent.metadata.name)}?propagationPolicy=Orphan`);
      await lab.gone('widgets', parent.metadata.name);
      assert.equal((await lab.read('configmaps', child)).metadata.ownerReferences, undefined);
    },
  },
  {
    name: 'in a foreground deletion the owner waits for children that block it',
    async run(lab) {
      await lab.collectorIsReady();
      const parent = await lab.create('widgets');
      const references = { ownerReferences: [owner(parent, { blockOwnerDeletion: true })], finalizers: [MINE] };
      const child = (await lab.create('configmaps', {}, references)).metadata.name;
      await collectorKnows(lab, parent);
      await lab.send('DELETE', `${lab.path('widgets', parent.metadata.name)}?propagationPolicy=Foreground`);
      const isDeleting = async () => (await lab.read('configmaps', child)).metadata.deletionTimestamp !== undefined;
      await eventually('the child deleting', isDeleting, CONTROLLER_MS);
      await lab.read('widgets', parent.metadata.name);
      await lab.merge('configmaps', child, { metadata: { finalizers: null } });
      await lab.gone('widgets', parent.metadata.name);
    },
  },
  {
    name: 'a namespace empties before it goes, takes nothing new meanwhile, and waits for finalizers',
    async run(lab) {
      const namespace = lab.name('ns');
      const made = await lab.create('namespaces', {}, { name: namespace });
      assert.deepEqual(
        [made.spec, made.status, made.metadata.labels, made.metadata.generation],
        [{ finalizers: ['kubernetes'] }, { phase: 'Active' }, { 'kubernetes.io/metadata.name': namespace }, undefined],
      );
      const held = lab.object('widgets', 'held', {}, { finalizers: [MINE] });
      assertDone(await lab.send('POST', lab.path('widgets', '', '', namespace), { body: held }), 201);
      assertDone(await lab.send('POST', lab.path('configmaps', '', '', namespace), { body: lab.object('configmaps', 'free') }), 201);
      const going = assertDone(await lab.send('DELETE', lab.path('namespaces', namespace)));
      assert.deepEqual([going.kind, going.status.phase], ['Namespace', 'Terminating']);
      const late = await lab.send('POST', lab.path('configmaps', '', '', namespace), { body: lab.object('configmaps', 'late') });
      assertRefused(late, {
        status: 403,
        reason: 'Forbidden',
        causes: ['NamespaceTerminating metadata.namespace'],
        details: { name: 'late', kind: 'configmaps' },
      });
      const isFree = async () => (await lab.send('GET', lab.path('configmaps', 'free', '', namespace))).status === 404;
      await eventually('the content gone', isFree, CONTROLLER_MS);
      assert.equal((await lab.send('GET', lab.path('namespaces', namespace))).status, 200);
      const path = lab.path('widgets', 'held', '', namespace);
      assertDone(await lab.send('PATCH', path, { body: { metadata: { finalizers: null } }, type: 'application/merge-patch+json' }));
      await lab.gone('namespaces', namespace);
    },
  },
];

export const ownershipCases: readonly ContractCase[] = [...finalizers, ...applies, ...owners];
