/** Server-side apply on /status, and who owns what. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { assertDone, assertRefused, type Lab, type Refusal } from './lab.ts';
import type { Body, WireAnswer } from './wire.ts';

const OTHER_UID = '00000000-0000-4000-8000-00000000dead';
const condition = (type: string, status = 'True') => ({ type, status });

interface Row {
  readonly name: string;
  readonly plural?: string;
  apply(lab: Lab, object: Body): Promise<WireAnswer>;
  readonly refusal: Refusal;
}

const status = (body: unknown, options: Parameters<Lab['applyStatus']>[3] = {}) => {
  return (lab: Lab, { metadata }: Body): Promise<WireAnswer> => lab.applyStatus('widgets', metadata.name, body, options);
};
/** The request as it is, with a query and a body of one's own. */
const raw = (query: string, body: (object: Body) => unknown, type = 'application/apply-patch+yaml') => {
  return (lab: Lab, object: Body): Promise<WireAnswer> =>
    lab.send('PATCH', `${lab.path('widgets', object.metadata.name, 'status')}${query}`, { body: body(object), type });
};
const named = (object: Body, more: object) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  metadata: { name: object.metadata.name },
  ...more,
});
const patchOptions = (cause: string): Refusal => ({
  status: 422,
  reason: 'Invalid',
  causes: [cause],
  details: { group: 'meta.k8s.io', kind: 'PatchOptions' },
});
const FINAL: Refusal = { status: 500, message: /^failed to create typed patch object \(.*; wire\.example\/v1, Kind=Widget\): / };

const ROWS: readonly Row[] = [
  {
    name: 'no field manager',
    apply: raw('', (object) => named(object, { status: {} })),
    refusal: patchOptions('FieldValueRequired fieldManager'),
  },
  {
    name: 'a field manager over 128 bytes',
    apply: status({}, { manager: 'm'.repeat(129) }),
    refusal: patchOptions('FieldValueTooLong fieldManager'),
  },
  {
    name: 'force on a merge patch',
    apply: raw('?force=true', () => ({ status: {} }), 'application/merge-patch+json'),
    refusal: patchOptions('FieldValueForbidden force'),
  },
  ...[[], [{ manager: 'x', operation: 'Apply', apiVersion: 'wire.example/v1', fieldsType: 'FieldsV1', fieldsV1: {} }]].map(
    (managedFields) => ({
      name: `managedFields of ${managedFields.length} entries in the body`,
      apply: status({}, { metadata: { managedFields } }),
      refusal: { status: 400, reason: 'BadRequest', message: /metadata\.managedFields must be nil/ },
    }),
  ),
  {
    name: 'another apiVersion',
    apply: raw('?fieldManager=us', (object) => named({ ...object, apiVersion: 'wire.example/v2' }, {})),
    refusal: { status: 400, reason: 'BadRequest', message: /invalid object type: wire\.example\/v2, Kind=Widget/ },
  },
  {
    name: 'another kind',
    apply: raw('?fieldManager=us', (object) => named({ ...object, kind: 'Gadget' }, {})),
    refusal: { status: 400, reason: 'BadRequest', message: /invalid object type: wire\.example\/v1, Kind=Gadget/ },
  },
  ...(['apiVersion', 'kind'] as const).map((field) => ({
    name: `a body without ${field}`,
    apply: raw('?fieldManager=us', (object) => ({ ...named(object, {}), [field]: undefined })),
    refusal: { status: 400, reason: 'BadRequest', message: /invalid object type: / },
  })),
  {
    name: 'another name than that of the URL',
    apply: raw('?fieldManager=us', (object) => ({ ...named(object, {}), metadata: { name: 'another' } })),
    refusal: { status: 400, reason: 'BadRequest' },
  },
  {
    name: 'another namespace than that of the URL',
    apply: raw('?fieldManager=us', (object) => ({ ...named(object, {}), metadata: { name: object.metadata.name, namespace: 'default' } })),
    refusal: { status: 400, reason: 'BadRequest' },
  },
  {
    name: 'an old version, even where nothing would change',
    async apply(lab, { metadata }) {
      await lab.applyStatus('widgets', metadata.name, { phase: 'x' });
      return await lab.applyStatus('widgets', metadata.name, { phase: 'x' }, { metadata: { resourceVersion: metadata.resourceVersion } });
    },
    refusal: {
      status: 409,
      reason: 'Conflict',
      message: /^Operation cannot be fulfilled on widgets\.wire\.example .*the object has been modified/,
    },
  },
  ...['0', ''].map((resourceVersion) => ({
    name: `version ${JSON.stringify(resourceVersion)}`,
    apply: status({ phase: 'x' }, { metadata: { resourceVersion } }),
    refusal: { status: 422, reason: 'Invalid', message: /must be specified for an update/ },
  })),
  {
    name: 'no status at all, where another manager still owns that there is one',
    async apply(lab, { metadata }) {
      await lab.applyStatus('widgets', metadata.name, { phase: 'x' });
      await lab.applyStatus('widgets', metadata.name, {}, { manager: 'them' });
      return await lab.applyStatus('widgets', metadata.name, undefined);
    },
    refusal: { status: 422, reason: 'Invalid', message: /status.*must be of type object: "null"/ },
  },
  {
    name: 'an unknown field, and does not want it tried again',
    apply: status({ typo: 1 }),
    refusal: FINAL,
  },
  { name: 'a value of another type', apply: status({ phase: 5 }), refusal: FINAL },
  { name: 'the same condition type twice', apply: status({ conditions: [condition('Ready'), condition('Ready')] }), refusal: FINAL },
  {
    name: 'an unknown field, with fieldValidation=Ignore as well',
    apply: status({ typo: 1 }, { more: '&fieldValidation=Ignore' }),
    refusal: FINAL,
  },
  {
    name: 'a value outside the schema',
    apply: status({ conditions: [condition('Ready', 'Maybe')] }),
    refusal: { status: 422, reason: 'Invalid', causes: ['FieldValueNotSupported status.conditions[0].status'] },
  },
  {
    name: 'an explicit null',
    apply: status({ phase: null }),
    refusal: { status: 422, reason: 'Invalid', causes: ['FieldValueTypeInvalid status.phase'] },
  },
  {
    name: 'an object that is absent',
    apply: (lab) => lab.applyStatus('widgets', 'none', {}),
    refusal: { status: 404, reason: 'NotFound', details: { name: 'none', group: 'wire.example', kind: 'widgets' } },
  },
  {
    name: 'an object that is absent, with a version',
    apply: (lab) => lab.applyStatus('widgets', 'none', {}, { metadata: { resourceVersion: '5' } }),
    refusal: { status: 404, reason: 'NotFound' },
  },
  {
    name: 'a kind without status subresource',
    plural: 'plains',
    apply: (lab, { metadata }) => lab.applyStatus('plains', metadata.name, {}),
    refusal: { status: 404, reason: 'NotFound', details: { group: 'wire.example', kind: 'plains', name: undefined } },
  },
];

const refusals: readonly ContractCase[] = ROWS.map(({ name, plural = 'widgets', apply, refusal }) => ({
  name: `refuses ${name}`,
  async run(lab) {
    const object = await lab.create(plural);
    const details = refusal.details !== undefined && 'name' in refusal.details && refusal.details['name'] === undefined;
    const expected = details ? { ...refusal, details: { ...refusal.details, name: object.metadata.name } } : refusal;
    assertRefused(await apply(lab, object), expected);
  },
}));

const accepted: readonly ContractCase[] = [
  {
    name: 'writes the status and nothing else: labels, finalizers and spec beside it are dropped',
    async run(lab) {
      const { metadata } = await lab.create('widgets', { spec: { size: 1 } });
      const extra = { labels: { a: 'b' }, finalizers: ['wire.example/x'] };
      const body = { ...lab.object('widgets', metadata.name, { status: { phase: 'x' }, spec: { size: 9 } }, extra) };
      const object = assertDone(await lab.apply('widgets', body, { subresource: 'status' }));
      assert.deepEqual(
        [object.status, object.spec.size, object.metadata.labels, object.metadata.finalizers],
        [{ phase: 'x' }, 1, undefined, undefined],
      );
    },
  },
  {
    name: 'the uid of another object is ignored by apply and merge patch, checked by PUT and by the test of a JSON patch',
    async run(lab) {
      const object = await lab.create('widgets');
      const { name } = object.metadata;
      assertDone(await lab.applyStatus('widgets', name, { phase: 'a' }, { metadata: { uid: OTHER_UID } }));
      assertDone(await lab.merge('widgets', name, { metadata: { uid: OTHER_UID }, status: { phase: 'b' } }, 'status'));
      const current = await lab.read('widgets', name);
      const body = { ...current, metadata: { ...current.metadata, uid: OTHER_UID }, status: { phase: 'c' } };
      assertRefused(await lab.send('PUT', lab.path('widgets', name, 'status'), { body }), {
        status: 409,
        reason: 'Conflict',
        message: /Precondition failed: UID/,
      });
      const test = [
        { op: 'test', path: '/metadata/uid', value: OTHER_UID },
        { op: 'add', path: '/status/phase', value: 'd' },
      ];
      assertRefused(await lab.json('widgets', name, test, 'status'), { status: 422, reason: 'Invalid', details: {} });
      assert.equal((await lab.read('widgets', name)).status.phase, 'b');
    },
  },
  {
    name: 'the right version is accepted, and so is an object that is deleting',
    async run(lab) {
      const { metadata } = await lab.create('widgets', {}, { finalizers: ['wire.example/hold'] });
      assertDone(
        await lab.applyStatus('widgets', metadata.name, { phase: 'a' }, { metadata: { resourceVersion: metadata.resourceVersion } }),
      );
      await lab.send('DELETE', lab.path('widgets', metadata.name));
      assert.equal(assertDone(await lab.applyStatus('widgets', metadata.name, { phase: 'b' })).status.phase, 'b');
    },
  },
  {
    name: 'a dry run answers as if, and stores nothing',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const body = assertDone(await lab.applyStatus('widgets', metadata.name, { phase: 'x' }, { more: '&dryRun=All' }));
      assert.deepEqual([body.status, (await lab.read('widgets', metadata.name)).status], [{ phase: 'x' }, undefined]);
    },
  },
  {
    name: 'a body without a name is taken for that of the URL',
    async run(lab) {
      const { metadata, apiVersion, kind } = await lab.create('widgets');
      const body = { apiVersion, kind, metadata: {}, status: { phase: 'x' } };
      const answer = await lab.apply('widgets', body, { name: metadata.name, subresource: 'status' });
      assert.deepEqual(assertDone(answer).status, { phase: 'x' });
    },
  },
  {
    name: 'YAML is taken as well as JSON',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const body = `apiVersion: wire.example/v1\nkind: Widget\nmetadata: {name: ${metadata.name}}\nstatus:\n  phase: from-yaml\n`;
      const path = `${lab.path('widgets', metadata.name, 'status')}?fieldManager=us`;
      assert.equal(assertDone(await lab.send('PATCH', path, { body, type: 'application/apply-patch+yaml' })).status.phase, 'from-yaml');
    },
  },
  {
    name: 'without any status what the manager owned goes',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      await lab.applyStatus('widgets', metadata.name, { phase: 'x' });
      assert.equal(assertDone(await lab.applyStatus('widgets', metadata.name, undefined)).status, undefined);
    },
  },
  {
    name: 'the same again changes nothing: neither version nor time, and no event',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const first = assertDone(await lab.applyStatus('widgets', metadata.name, { phase: 'x' }));
      const again = assertDone(await lab.applyStatus('widgets', metadata.name, { phase: 'x' }));
      assert.deepEqual(again, first);
      const { resourceVersion } = first.metadata;
      const query = `&resourceVersion=${resourceVersion}&timeoutSeconds=1&fieldSelector=metadata.name%3D${metadata.name}`;
      assert.deepEqual((await lab.whole('widgets', query)).events, []);
    },
  },
];

const conflicts: readonly ContractCase[] = [
  {
    name: 'the same value of another manager is no conflict: both own it, the version moves, generation does not',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const first = assertDone(await lab.applyStatus('widgets', metadata.name, { phase: 'x' })).metadata;
      const second = assertDone(await lab.applyStatus('widgets', metadata.name, { phase: 'x' }, { manager: 'them' })).metadata;
      assert.notEqual(second.resourceVersion, first.resourceVersion);
      assert.deepEqual([second.generation, second.managedFields.length], [1, first.managedFields.length + 1]);
    },
  },
  {
    name: 'another value of a field that others own is a conflict, with a cause for each field and manager',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      await lab.applyStatus('widgets', name, { phase: 'x', detail: 'y' }, { manager: 'one' });
      await lab.applyStatus('widgets', name, { phase: 'x' }, { manager: 'two' });
      const answer = await lab.applyStatus('widgets', name, { phase: 'z', detail: 'z' }, { manager: 'three' });
      const causes = ['FieldManagerConflict .status.detail', 'FieldManagerConflict .status.phase', 'FieldManagerConflict .status.phase'];
      assertRefused(answer, {
        status: 409,
        reason: 'Conflict',
        causes,
        details: {},
        message: /^Apply failed with 3 conflicts: conflicts with "one" with subresource "status":/,
      });
      const messages = answer.body.details.causes.map(({ message }: Body) => message).sort();
      const conflictWith = (manager: string) => `conflict with "${manager}" with subresource "status"`;
      assert.deepEqual(messages, [conflictWith('one'), conflictWith('one'), conflictWith('two')]);
    },
  },
  {
    name: 'with force the field is taken, and the former owner loses it',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      await lab.applyStatus('widgets', name, { phase: 'x', detail: 'y' }, { manager: 'one' });
      const { status: taken, metadata } = assertDone(
        await lab.applyStatus('widgets', name, { phase: 'z' }, { manager: 'two', force: true }),
      );
      assert.deepEqual(taken, { phase: 'z', detail: 'y' });
      const owned = Object.fromEntries(metadata.managedFields.map(({ manager, fieldsV1 }: Body) => [manager, fieldsV1['f:status']]));
      assert.deepEqual([owned.one, owned.two], [{ 'f:detail': {} }, { 'f:phase': {} }]);
    },
  },
  {
    name: 'a field that is left out goes if nobody else owns it, and stays if somebody does',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      await lab.applyStatus('widgets', name, { phase: 'x', detail: 'y' }, { manager: 'one' });
      await lab.applyStatus('widgets', name, { phase: 'x' }, { manager: 'two' });
      const { status: left } = assertDone(await lab.applyStatus('widgets', name, {}, { manager: 'one' }));
      assert.deepEqual(left, { phase: 'x' });
    },
  },
  {
    name: 'conditions with keys: each manager has its own, and takes only its own away',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      await lab.applyStatus('widgets', name, { conditions: [condition('Ready')] }, { manager: 'one' });
      const both = assertDone(await lab.applyStatus('widgets', name, { conditions: [condition('Synced')] }, { manager: 'two' }));
      assert.deepEqual(both.status.conditions, [condition('Ready'), condition('Synced')]);
      const left = assertDone(await lab.applyStatus('widgets', name, { conditions: [] }, { manager: 'one' }));
      assert.deepEqual(left.status.conditions, [condition('Synced')]);
      const conflict = await lab.applyStatus('widgets', name, { conditions: [condition('Synced', 'False')] }, { manager: 'one' });
      assertRefused(conflict, {
        status: 409,
        reason: 'Conflict',
        causes: ['FieldManagerConflict .status.conditions[type="Synced"].status'],
      });
    },
  },
  {
    name: 'conditions without keys are one value: a conflict as a whole, and force erases those of the other',
    async run(lab) {
      const { name } = (await lab.create('atomics')).metadata;
      await lab.applyStatus('atomics', name, { conditions: [condition('Ready')] }, { manager: 'one' });
      const answer = await lab.applyStatus('atomics', name, { conditions: [condition('Synced')] }, { manager: 'two' });
      assertRefused(answer, { status: 409, reason: 'Conflict', causes: ['FieldManagerConflict .status.conditions'] });
      const forced = await lab.applyStatus('atomics', name, { conditions: [condition('Synced')] }, { manager: 'two', force: true });
      assert.deepEqual(assertDone(forced).status.conditions, [condition('Synced')]);
    },
  },
  {
    name: 'a name that wrote by merge patch before conflicts with itself, and what only the old write owned stays behind',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      const path = `${lab.path('widgets', name, 'status')}?fieldManager=us`;
      assertDone(await lab.send('PATCH', path, { body: { status: { phase: 'a', detail: 'b' } }, type: 'application/merge-patch+json' }));
      const answer = await lab.applyStatus('widgets', name, { phase: 'z' });
      assertRefused(answer, {
        status: 409,
        reason: 'Conflict',
        causes: ['FieldManagerConflict .status.phase'],
        message: /with subresource "status" using wire\.example\/v1/,
      });
      const forced = assertDone(await lab.applyStatus('widgets', name, { phase: 'z' }, { force: true }));
      assert.deepEqual(forced.status, { phase: 'z', detail: 'b' });
    },
  },
  {
    name: 'names of managers may hold spaces and slashes',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      const { metadata } = assertDone(await lab.applyStatus('widgets', name, { phase: 'x' }, { manager: 'a b/c' }));
      assert.ok(metadata.managedFields.some(({ manager }: { manager: string }) => manager === 'a b/c'));
    },
  },
];

export const statusApplyCases: readonly ContractCase[] = [...refusals, ...accepted, ...conflicts];
