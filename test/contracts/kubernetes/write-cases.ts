/** Writes beside those of status: dry runs, managers, what cannot be changed, and verbs that do not fit. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { assertDone, assertRefused, type Lab } from './lab.ts';
import type { Body } from './wire.ts';

const managers = ({ metadata }: Body): string[] => metadata.managedFields.map(({ manager, operation }: Body) => `${manager} ${operation}`);

const dryRuns: readonly ContractCase[] = [
  {
    name: 'a POST that is tried only answers with the object, and stores nothing',
    async run(lab) {
      const name = lab.name();
      const body = assertDone(
        await lab.send('POST', `${lab.path('widgets')}?dryRun=All`, { body: lab.object('widgets', name, { spec: { size: 1 } }) }),
        201,
      );
      assert.deepEqual([body.metadata.generation, typeof body.metadata.uid, body.metadata.resourceVersion], [1, 'string', undefined]);
      assert.equal((await lab.send('GET', lab.path('widgets', name))).status, 404);
    },
  },
  {
    name: 'a patch, a PUT and an apply that are tried only answer with the version that is stored',
    async run(lab) {
      const object = await lab.create('widgets', { spec: { size: 1 } });
      const { name, resourceVersion } = object.metadata;
      const path = `${lab.path('widgets', name)}?dryRun=All`;
      const changed = { ...object, spec: { size: 2 } };
      const answers = [
        await lab.send('PATCH', path, { body: { spec: { size: 2 } }, type: 'application/merge-patch+json' }),
        await lab.send('PUT', path, { body: changed }),
        await lab.apply('widgets', lab.object('widgets', name, { spec: { size: 2 } }), { force: true, more: '&dryRun=All' }),
      ];
      for (const answer of answers) {
        const { spec, metadata } = assertDone(answer);
        assert.deepEqual([spec.size, metadata.generation, metadata.resourceVersion], [2, 2, resourceVersion]);
      }
      assert.deepEqual(await lab.read('widgets', name), object);
    },
  },
  {
    name: 'a dry run of anything but All is invalid',
    async run(lab) {
      const answer = await lab.send('POST', `${lab.path('widgets')}?dryRun=Some`, { body: lab.object('widgets', lab.name()) });
      assertRefused(answer, { status: 422, reason: 'Invalid', causes: ['FieldValueNotSupported dryRun'] });
    },
  },
];

const whose: readonly ContractCase[] = [
  {
    name: 'a writer without a name is called by its user agent, up to the slash',
    async run(lab) {
      const headers = { 'user-agent': 'tool/1.2 (linux)' };
      const body = assertDone(
        await lab.send('POST', lab.path('widgets'), { headers, body: lab.object('widgets', lab.name(), { spec: { size: 1 } }) }),
        201,
      );
      assert.deepEqual(managers(body), ['tool Update']);
    },
  },
  {
    name: 'a writer that names itself is called so, and each name has an entry for each operation and subresource',
    async run(lab) {
      const { name } = (await lab.create('widgets', { spec: { size: 1 } })).metadata;
      const merge = (query: string, body: unknown, subresource = '') =>
        lab.send('PATCH', `${lab.path('widgets', name, subresource)}${query}`, { body, type: 'application/merge-patch+json' });
      await merge('?fieldManager=me', { spec: { size: 2 } });
      await merge('?fieldManager=me', { status: { phase: 'x' } }, 'status');
      const body = assertDone(await lab.apply('widgets', lab.object('widgets', name, { data: 'd' }), { manager: 'me' }));
      assert.deepEqual(managers(body).sort(), ['me Apply', 'me Update', 'me Update', 'unknown Update']);
    },
  },
  {
    name: 'defaults of the schema are filled in, and belong to whoever created the object by a write, but to nobody by an apply',
    async run(lab) {
      const posted = await lab.create('widgets', { spec: { size: 1 } });
      assert.deepEqual(posted.metadata.managedFields[0].fieldsV1['f:spec'], { '.': {}, 'f:level': {}, 'f:size': {} });
      const applied = assertDone(await lab.apply('widgets', lab.object('widgets', lab.name(), { spec: { size: 1 } })), 201);
      assert.deepEqual(
        [applied.spec, applied.metadata.managedFields[0].fieldsV1],
        [{ size: 1, level: 'low' }, { 'f:spec': { 'f:size': {} } }],
      );
    },
  },
];

const FIXED: readonly (readonly [what: string, patch: object, outcome: 'ignored' | number])[] = [
  ['another uid', { metadata: { uid: '00000000-0000-4000-8000-00000000dead' } }, 422],
  ['another name', { metadata: { name: 'other' } }, 400],
  ['another namespace', { metadata: { namespace: 'default' } }, 400],
  ['another kind', { kind: 'Gadget' }, 422],
  ['another time of creation', { metadata: { creationTimestamp: '2001-01-01T00:00:00Z' } }, 'ignored'],
  ['a time of deletion', { metadata: { deletionTimestamp: '2001-01-01T00:00:00Z' } }, 422],
  ['another generation', { metadata: { generation: 50 } }, 'ignored'],
  ['a self link', { metadata: { selfLink: '/x' } }, 'ignored'],
];

const fixed: readonly ContractCase[] = FIXED.map(([what, patch, outcome]) => ({
  name: `a merge patch with ${what} is ${outcome === 'ignored' ? outcome : `refused with ${outcome}`}`,
  async run(lab) {
    const before = await lab.create('widgets', { spec: { size: 1 } });
    const answer = await lab.merge('widgets', before.metadata.name, patch);
    assert.equal(answer.status, outcome === 'ignored' ? 200 : outcome, answer.text);
    assert.deepEqual(withoutOwners(await lab.read('widgets', before.metadata.name)), withoutOwners(before));
  },
}));

function withoutOwners({ metadata, ...object }: Body): Body {
  const { managedFields: _, resourceVersion: __, ...rest } = metadata;
  return { ...object, metadata: rest };
}

const verbs: readonly ContractCase[] = [
  {
    name: 'verbs that do not fit the path are not allowed',
    async run(lab) {
      const { name } = (await lab.create('configmaps')).metadata;
      const body = lab.object('configmaps', name);
      for (const [method, path] of [
        ['POST', lab.path('configmaps', name)],
        ['PUT', lab.path('configmaps')],
        ['PATCH', lab.path('configmaps')],
        ['DELETE', lab.path('widgets', 'x', 'status')],
      ] as const) {
        assertRefused(await lab.send(method, path, { body }), { status: 405, reason: 'MethodNotAllowed' });
      }
    },
  },
  {
    name: 'a PUT or PATCH on the collection of a custom kind lacks a name',
    async run(lab) {
      for (const method of ['PUT', 'PATCH']) {
        const body = lab.object('widgets', 'x');
        const answer = await lab.send(method, lab.path('widgets'), {
          body,
          type: method === 'PUT' ? 'application/json' : 'application/merge-patch+json',
        });
        assertRefused(answer, { status: 400, reason: 'BadRequest', message: /^name must be provided$/ });
      }
    },
  },
  {
    name: 'the endpoint of status reads, too',
    async run(lab) {
      const object = await lab.create('widgets', { spec: { size: 1 } });
      assert.deepEqual(assertDone(await lab.send('GET', lab.path('widgets', object.metadata.name, 'status'))), object);
    },
  },
  ...(
    [
      ['configmaps', 'Status'],
      ['secrets', 'Status'],
      ['serviceaccounts', 'ServiceAccount'],
      ['resourcequotas', 'ResourceQuota'],
      ['leases', 'Status'],
    ] as const
  ).map(
    ([plural, kind]): ContractCase => ({
      name: `DELETE of one of ${plural} answers with a ${kind}`,
      async run(lab) {
        const { name } = (await lab.create(plural)).metadata;
        assert.equal(assertDone(await lab.send('DELETE', lab.path(plural, name))).kind, kind);
      },
    }),
  ),
  {
    name: 'a limit that is no number is a bad request',
    async run(lab) {
      assertRefused(await lab.send('GET', `${lab.path('widgets')}?limit=x`), { status: 400, reason: 'BadRequest' });
    },
  },
  {
    name: 'watch=1 and a bare watch are watches, watch=false and watch=0 are lists',
    async run(lab) {
      const position = await lab.position('widgets');
      for (const flag of ['watch=1', 'watch']) {
        const { status, ended } = await lab.wire.watch(
          `${lab.path('widgets')}?${flag}&resourceVersion=${position}&timeoutSeconds=60`,
          () => true,
          { withinMs: 20 },
        );
        assert.deepEqual([status, ended], [200, 'client']);
      }
      for (const flag of ['watch=0', 'watch=false']) {
        assert.equal(assertDone(await lab.send('GET', `${lab.path('widgets')}?${flag}`)).kind, 'WidgetList');
      }
    },
  },
  {
    name: 'a path that leads nowhere is 404: in JSON below a group of built-in kinds, in plain text elsewhere',
    async run(lab: Lab) {
      for (const path of ['/nothing', '/apis/wire.example/v1/widgets/x']) {
        const { status, text } = await lab.send('GET', path);
        assert.deepEqual([status, text], [404, '404 page not found\n'], path);
      }
      for (const path of ['/api/v1/nothing', '/apis/rbac.authorization.k8s.io/v1/nothing']) {
        const message = /^the server could not find the requested resource$/;
        assertRefused(await lab.send('GET', path), { status: 404, reason: 'NotFound', message, details: {} });
      }
    },
  },
];

export const writeCases: readonly ContractCase[] = [...dryRuns, ...whose, ...fixed, ...verbs];
