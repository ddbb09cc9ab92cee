/** Which 404, which 409, and the other errors. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { assertDone, assertRefused, type Lab } from './lab.ts';

const OTHER_UID = '00000000-0000-4000-8000-00000000dead';
const widgets = { group: 'wire.example', kind: 'widgets' };
const blob = (bytes: number) => ({ spec: { blob: 'x'.repeat(bytes) } });
const post = (lab: Lab, body: unknown, type = 'application/json', query = '') =>
  lab.send('POST', lab.path('widgets') + query, { body, type });
const remove = (lab: Lab, name: string, preconditions: object) =>
  lab.send('DELETE', lab.path('widgets', name), { body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions } });

const missing: readonly ContractCase[] = [
  {
    name: 'a kind, a group or a version that is not served is 404 in plain text, whatever the verb',
    async run(lab) {
      for (const path of [
        '/apis/wire.example/v1/namespaces/wire/gadgets/x',
        '/apis/wire.example/v1/gadgets',
        '/apis/none.example/v1/widgets',
        '/apis/wire.example/v9/widgets',
      ]) {
        for (const method of ['GET', 'DELETE']) {
          const { status, text, headers } = await lab.send(method, path);
          assert.deepEqual([status, text, headers['content-type']], [404, '404 page not found\n', 'text/plain; charset=utf-8']);
        }
      }
    },
  },
  {
    name: 'an absent object is 404 with its name, for every verb that needs it',
    async run(lab) {
      const details = { name: 'none', ...widgets };
      const path = lab.path('widgets', 'none');
      const message = /^widgets\.wire\.example "none" not found$/;
      const body = lab.object('widgets', 'none', {}, { resourceVersion: '1' });
      for (const answer of [
        await lab.send('GET', path),
        await lab.send('DELETE', path),
        await lab.send('PUT', path, { body }),
        await lab.merge('widgets', 'none', {}),
        await lab.json('widgets', 'none', []),
        await lab.merge('widgets', 'none', {}, 'status'),
      ]) {
        assertRefused(answer, { status: 404, reason: 'NotFound', details, message });
      }
    },
  },
  {
    name: 'a missing namespace looks like a missing object for GET, is empty for LIST, and is named by a create',
    async run(lab) {
      const namespace = 'nowhere';
      assertRefused(await lab.send('GET', lab.path('widgets', 'a', '', namespace)), {
        status: 404,
        reason: 'NotFound',
        details: { name: 'a', ...widgets },
      });
      assert.deepEqual(assertDone(await lab.send('GET', lab.path('widgets', '', '', namespace))).items, []);
      const body = lab.object('widgets', 'a');
      const named = {
        status: 404,
        reason: 'NotFound',
        message: /^namespaces "nowhere" not found$/,
        details: { name: namespace, kind: 'namespaces' },
      };
      assertRefused(await lab.send('POST', lab.path('widgets', '', '', namespace), { body }), named);
      const apply = `${lab.path('widgets', 'a', '', namespace)}?fieldManager=us`;
      assertRefused(await lab.send('PATCH', apply, { body, type: 'application/apply-patch+yaml' }), named);
    },
  },
  {
    name: 'a kind without status subresource has none, though the object is there',
    async run(lab) {
      const { name } = (await lab.create('plains')).metadata;
      const details = { name, group: 'wire.example', kind: 'plains' };
      for (const answer of [await lab.send('GET', lab.path('plains', name, 'status')), await lab.merge('plains', name, {}, 'status')]) {
        assertRefused(answer, { status: 404, reason: 'NotFound', details });
      }
    },
  },
];

const conflicts: readonly ContractCase[] = [
  {
    name: 'a taken name already exists',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      const answer = await post(lab, lab.object('widgets', name));
      assertRefused(answer, {
        status: 409,
        reason: 'AlreadyExists',
        details: { name, ...widgets },
        message: /^widgets\.wire\.example ".*" already exists$/,
      });
    },
  },
  {
    name: 'an old version is a conflict for PUT, merge patch, apply and status alike',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const { name, resourceVersion } = metadata;
      await lab.merge('widgets', name, { spec: { size: 2 } });
      const body = lab.object('widgets', name, { spec: { size: 3 } }, { resourceVersion });
      for (const answer of [
        await lab.send('PUT', lab.path('widgets', name), { body }),
        await lab.merge('widgets', name, { metadata: { resourceVersion }, spec: { size: 3 } }),
        await lab.merge('widgets', name, { metadata: { resourceVersion }, status: {} }, 'status'),
        await lab.apply('widgets', body, { force: true }),
      ]) {
        const message = /: the object has been modified; please apply your changes to the latest version and try again$/;
        assertRefused(answer, { status: 409, reason: 'Conflict', details: { name, ...widgets }, message });
      }
    },
  },
  {
    name: 'a PUT without a version is refused for a custom kind, accepted for a built-in one',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      const answer = await lab.send('PUT', lab.path('widgets', name), { body: lab.object('widgets', name) });
      assertRefused(answer, {
        status: 422,
        reason: 'Invalid',
        message: /metadata\.resourceVersion: Invalid value: .*must be specified for an update/,
      });
      const map = (await lab.create('configmaps')).metadata.name;
      assertDone(await lab.send('PUT', lab.path('configmaps', map), { body: lab.object('configmaps', map, { data: { a: 'b' } }) }));
    },
  },
  {
    name: 'a DELETE for another uid or version is a conflict that names the Kind',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      const details = { name, group: 'wire.example', kind: 'Widget' };
      assertRefused(await remove(lab, name, { uid: OTHER_UID }), {
        status: 409,
        reason: 'Conflict',
        details,
        message: /the UID in the precondition \(.*\) does not match the UID in record/,
      });
      assertRefused(await remove(lab, name, { resourceVersion: '1' }), {
        status: 409,
        reason: 'Conflict',
        details,
        message: /the ResourceVersion in the precondition \(1\) does not match/,
      });
    },
  },
  {
    name: 'a DELETE for the right uid and version is done',
    async run(lab) {
      const { name, uid, resourceVersion } = (await lab.create('widgets')).metadata;
      assertDone(await remove(lab, name, { uid, resourceVersion }));
    },
  },
  {
    name: 'the options of a DELETE may stand in its query',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      assertRefused(await lab.send('DELETE', `${lab.path('widgets', name)}?propagationPolicy=Nonsense`), {
        status: 422,
        reason: 'Invalid',
      });
      assertDone(await lab.send('DELETE', `${lab.path('widgets', name)}?propagationPolicy=Background&gracePeriodSeconds=0`));
    },
  },
  {
    name: 'a DELETE that is tried only deletes nothing',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      assertDone(await lab.send('DELETE', `${lab.path('widgets', name)}?dryRun=All`));
      await lab.read('widgets', name);
    },
  },
];

const errors: readonly ContractCase[] = [
  {
    name: 'a wrong token is unauthorized, in JSON, without a challenge',
    async run(lab) {
      const wrong = lab.as('wrong');
      const answer = await wrong.send('GET', lab.path('widgets'));
      assertRefused(answer, { status: 401, reason: 'Unauthorized', message: /^Unauthorized$/ });
      assert.equal(answer.headers['www-authenticate'], undefined);
      wrong.close();
    },
  },
  {
    name: 'no token at all is forbidden, as system:anonymous',
    async run(lab) {
      const headers = { authorization: undefined };
      const named = await lab.send('GET', lab.path('widgets', 'a'), { headers });
      const message =
        /^widgets\.wire\.example "a" is forbidden: User "system:anonymous" cannot get resource "widgets" in API group "wire\.example" in the namespace "wire"$/;
      assertRefused(named, { status: 403, reason: 'Forbidden', message, details: { name: 'a', ...widgets } });
      const status = await lab.send('PATCH', lab.path('widgets', 'a', 'status'), { headers, body: {} });
      assertRefused(status, { status: 403, reason: 'Forbidden', message: /cannot patch resource "widgets\/status"/ });
      const unknown = await lab.send('GET', '/apis/none.example/v1/nothings', { headers });
      assertRefused(unknown, { status: 403, reason: 'Forbidden', message: /cannot list resource "nothings" in API group "none\.example"/ });
      const list = await lab.send('GET', lab.path('configmaps'), { headers });
      assertRefused(list, {
        status: 403,
        reason: 'Forbidden',
        message: /^configmaps is forbidden: .* cannot list resource "configmaps" in API group "" in the namespace/,
      });
    },
  },
  {
    name: 'health and version need no token',
    async run(lab) {
      for (const path of ['/livez', '/readyz', '/version'])
        assertDone(await lab.send('GET', path, { headers: { authorization: undefined } }));
      assert.equal((await lab.send('GET', '/readyz')).text, 'ok');
    },
  },
  {
    name: 'a media type that is not taken is 415, and those that are are listed',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      for (const type of ['application/json', 'application/strategic-merge-patch+json', 'text/plain']) {
        const answer = await lab.send('PATCH', lab.path('widgets', name), { body: {}, type });
        const message =
          /accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml/;
        assertRefused(answer, { status: 415, reason: 'UnsupportedMediaType', message });
      }
      assertRefused(await post(lab, 'x', 'text/plain'), { status: 415, reason: 'UnsupportedMediaType' });
    },
  },
  {
    name: 'what violates the schema is invalid, with a cause for each field',
    async run(lab) {
      const name = lab.name();
      const causes = ['FieldValueInvalid spec.size', 'FieldValueTypeInvalid spec.tier'];
      const details = { name, group: 'wire.example', kind: 'Widget' };
      const answer = await post(lab, lab.object('widgets', name, { spec: { size: -1, tier: 5 } }));
      assertRefused(answer, {
        status: 422,
        reason: 'Invalid',
        causes,
        details,
        message:
          /^Widget\.wire\.example ".*" is invalid: \[.*spec\.size: Invalid value: -1: spec\.size in body should be greater than or equal to 0/,
      });
    },
  },
  {
    name: 'a name that is none is invalid',
    async run(lab) {
      const answer = await post(lab, lab.object('widgets', 'Not_A_Name'));
      assertRefused(answer, { status: 422, reason: 'Invalid', causes: ['FieldValueInvalid metadata.name'] });
    },
  },
  {
    name: 'a body over 3 MiB is too large',
    async run(lab) {
      const answer = await post(lab, lab.object('widgets', lab.name(), blob(3.2 * 1024 * 1024)));
      assertRefused(answer, { status: 413, reason: 'RequestEntityTooLarge', message: /limit is 3145728$/ });
    },
  },
  {
    name: 'an object that etcd does not take is a server error without a reason',
    async run(lab) {
      const answer = await post(lab, lab.object('widgets', lab.name(), blob(1.6 * 1024 * 1024)));
      assertRefused(answer, { status: 500, message: /^etcdserver: request is too large$/ });
      assertRefused(await post(lab, lab.object('widgets', lab.name(), blob(2.5 * 1024 * 1024))), { status: 500 });
    },
  },
  {
    name: 'what does not parse is a bad request',
    async run(lab) {
      const { name } = (await lab.create('widgets')).metadata;
      assertRefused(await post(lab, '{"a":'), { status: 400, reason: 'BadRequest' });
      const merge = await lab.send('PATCH', lab.path('widgets', name), { body: '{"a":', type: 'application/merge-patch+json' });
      assertRefused(merge, { status: 400, reason: 'BadRequest' });
      const apply = await lab.send('PATCH', `${lab.path('widgets', name)}?fieldManager=us`, {
        body: '{a: [',
        type: 'application/apply-patch+yaml',
      });
      assertRefused(apply, { status: 400, reason: 'BadRequest' });
    },
  },
  {
    name: 'a body without kind, of another kind or for another namespace is a bad request',
    async run(lab) {
      const name = lab.name();
      for (const body of [
        { metadata: { name } },
        lab.object('widgets', name, { apiVersion: 'wire.example/v2' }),
        lab.object('widgets', name, {}, { namespace: 'default' }),
      ]) {
        assertRefused(await post(lab, body), { status: 400, reason: 'BadRequest' });
      }
    },
  },
  {
    name: 'an unknown field is dropped with a warning, refused by Strict, and dropped in silence by Ignore',
    async run(lab) {
      const body = () => lab.object('widgets', lab.name(), { spec: { size: 1, typo: 1 } });
      const warned = await post(lab, body());
      assert.deepEqual(assertDone(warned, 201).spec, { size: 1, level: 'low' });
      assert.match(String(warned.headers['warning']), /^299 - "unknown field \\"spec\.typo\\""$/);
      const strict = await post(lab, body(), 'application/json', '?fieldValidation=Strict');
      assertRefused(strict, { status: 400, reason: 'BadRequest', message: /strict decoding error: unknown field "spec\.typo"/ });
      const ignored = await post(lab, body(), 'application/json', '?fieldValidation=Ignore');
      assert.deepEqual([ignored.status, ignored.headers['warning']], [201, undefined]);
    },
  },
  {
    name: 'a finalizer without a domain is warned of',
    async run(lab) {
      const answer = await post(lab, lab.object('widgets', lab.name(), {}, { finalizers: ['nodomain'] }));
      assert.equal(answer.status, 201);
      assert.match(String(answer.headers['warning']), /^299 - "metadata\.finalizers: .*nodomain/);
    },
  },
  {
    name: 'a name is made of generateName',
    async run(lab) {
      const body = { ...lab.object('widgets', ''), metadata: { generateName: 'made-' } };
      const [one, two] = [assertDone(await post(lab, body), 201).metadata, assertDone(await post(lab, body), 201).metadata];
      assert.match(one.name, /^made-[a-z0-9]{5}$/);
      assert.notEqual(one.name, two.name);
    },
  },
  {
    name: 'YAML is taken and given',
    async run(lab) {
      const name = lab.name();
      const body = `apiVersion: wire.example/v1\nkind: Widget\nmetadata:\n  name: ${name}\nspec:\n  size: 4\n`;
      assert.equal(assertDone(await post(lab, body, 'application/yaml'), 201).spec.size, 4);
      const { text, headers } = await lab.send('GET', lab.path('widgets', name), { accept: 'application/yaml' });
      assert.equal(headers['content-type'], 'application/yaml');
      assert.match(text, /^ {2}size: 4$/m);
    },
  },
  {
    name: 'a collection is deleted by selector, and only that',
    async run(lab) {
      const label = lab.name('all');
      const stays = (await lab.create('widgets')).metadata.name;
      for (let i = 0; i < 2; i += 1) await lab.create('widgets', {}, { labels: { all: label } });
      const path = `${lab.path('widgets')}?labelSelector=all%3D${label}`;
      assertDone(await lab.send('DELETE', path));
      assert.deepEqual(assertDone(await lab.send('GET', path)).items, []);
      await lab.read('widgets', stays);
    },
  },
];

export const refusalCases: readonly ContractCase[] = [...missing, ...conflicts, ...errors];
