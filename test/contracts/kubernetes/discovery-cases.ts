/** What a server says that it serves, and definitions that it refuses. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { definitions, GROUP } from './definitions.ts';
import { AGGREGATED, assertDone, assertRefused, eventually, type Lab } from './lab.ts';
import type { Body } from './wire.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const byName = (resources: readonly Body[], name: string): Body => resources.find((resource) => resource.name === name);

interface Mistake {
  readonly name: string;
  change(definition: Body): void;
  readonly causes: readonly string[];
}

const MISTAKES: readonly Mistake[] = [
  {
    name: 'a name that is not plural.group',
    change: (definition) => (definition.metadata.name = 'others.wire.example'),
    causes: ['FieldValueInvalid metadata.name'],
  },
  {
    name: 'no version that is stored',
    change: (definition) => (definition.spec.versions[0].storage = false),
    causes: ['FieldValueInvalid spec.versions', 'FieldValueInvalid status.storedVersions'],
  },
  {
    name: 'a version without schema',
    change: (definition) => delete definition.spec.versions[0].schema,
    causes: ['FieldValueRequired spec.versions[0].schema.openAPIV3Schema'],
  },
];

/** The definition of a kind that nobody else has. */
async function definitionOf(lab: Lab, change: (definition: Body) => void): Promise<Body> {
  const definition = structuredClone(definitions()[0]) as Body;
  const plural = `${lab.name('made').replace(/-/g, '')}s`;
  Object.assign(definition.spec.names, {
    plural,
    singular: plural.slice(0, -1),
    kind: `Made${plural.replace(/\D/g, '')}`,
    listKind: undefined,
  });
  definition.metadata.name = `${plural}.wire.example`;
  change(definition);
  return definition;
}

export const discoveryCases: readonly ContractCase[] = [
  {
    name: 'a version lists its resources, with those of status',
    async run(lab) {
      const body = assertDone(await lab.send('GET', '/apis/wire.example/v1'));
      assert.deepEqual([body.kind, body.groupVersion], ['APIResourceList', 'wire.example/v1']);
      const { namespaced, kind, singularName, verbs } = byName(body.resources, 'widgets');
      assert.deepEqual([namespaced, kind, singularName, verbs.toSorted()], [true, 'Widget', 'widget', VERBS]);
      assert.equal(byName(body.resources, 'widgets/status').kind, 'Widget');
      assert.equal(byName(body.resources, 'plains/status'), undefined);
    },
  },
  {
    name: 'the core group lists its resources',
    async run(lab) {
      const { resources } = assertDone(await lab.send('GET', '/api/v1'));
      const listed = ['namespaces', 'configmaps', 'secrets', 'serviceaccounts', 'resourcequotas', 'events'].map((name) =>
        byName(resources, name),
      );
      assert.deepEqual(
        listed.map(({ namespaced, shortNames }) => [namespaced, shortNames]),
        [
          [false, ['ns']],
          [true, ['cm']],
          [true, undefined],
          [true, ['sa']],
          [true, ['quota']],
          [true, ['ev']],
        ],
      );
    },
  },
  {
    name: 'groups are listed, and each for itself',
    async run(lab) {
      const { groups } = assertDone(await lab.send('GET', '/apis'));
      const ours = groups.find(({ name }: { name: string }) => name === 'wire.example');
      const one = assertDone(await lab.send('GET', '/apis/wire.example'));
      assert.deepEqual([one.kind, one.name], ['APIGroup', 'wire.example']);
      const v1 = { groupVersion: 'wire.example/v1', version: 'v1' };
      for (const { preferredVersion, versions } of [ours, one]) assert.deepEqual([preferredVersion, versions], [v1, [v1]]);
      assert.deepEqual(assertDone(await lab.send('GET', '/api')).versions, ['v1']);
    },
  },
  {
    name: 'all is told at once to a client that takes the aggregated form',
    async run(lab) {
      const { body, headers } = await lab.send('GET', '/apis', { accept: `${AGGREGATED},application/json` });
      assert.match(String(headers['content-type']), /as=APIGroupDiscoveryList/);
      assert.equal(body.kind, 'APIGroupDiscoveryList');
      const group = body.items.find(({ metadata }: Body) => metadata.name === 'wire.example');
      const [version] = group.versions;
      const widgets = version.resources.find(({ resource }: Body) => resource === 'widgets');
      assert.deepEqual(
        [version.version, version.freshness, widgets.scope, widgets.singularResource],
        ['v1', 'Current', 'Namespaced', 'widget'],
      );
      assert.deepEqual(widgets.responseKind, { group: 'wire.example', version: 'v1', kind: 'Widget' });
      assert.deepEqual(widgets.subresources[0].subresource, 'status');
    },
  },
  {
    name: 'a version has an OpenAPI document, by which clients leave validation to the server and explain its kinds',
    async run(lab) {
      const gvk = { group: GROUP, version: 'v1', kind: 'Widget' };
      const path = `apis/${GROUP}/v1`;
      const schemaIn = (document: Body): Body =>
        Object.values<Body>(document?.components?.schemas ?? {}).find(
          (each) => each['x-kubernetes-group-version-kind']?.[0].kind === 'Widget',
        );
      const read = async (): Promise<Body> => {
        // The index comes as text from a real server.
        const { paths } = JSON.parse((await lab.send('GET', '/openapi/v3')).text);
        if (paths[path] === undefined) return undefined;
        // The index has a hash behind the path, and a real server sends who comes with an old one elsewhere.
        const { status, body } = await lab.send('GET', paths[path].serverRelativeURL.split('?')[0]);
        return status === 200 ? body : undefined;
      };
      let document: Body;
      await eventually('widgets in the document', async () => {
        document = await read();
        return schemaIn(document) !== undefined;
      });
      const { patch } = document.paths[`/${path}/namespaces/{namespace}/widgets/{name}`];
      assert.deepEqual(patch['x-kubernetes-group-version-kind'], gvk);
      assert.ok(byName(patch.parameters, 'fieldValidation'));
      const schema = schemaIn(document);
      assert.deepEqual(schema['x-kubernetes-group-version-kind'], [gvk]);
      assert.deepEqual(schema.properties.spec.properties.size, { type: 'integer', minimum: 0 });
    },
  },
  {
    name: 'a definition is established, with its names accepted, and its kind served at once after',
    async run(lab) {
      const { status, spec } = assertDone(await lab.send('GET', `${CRDS}/widgets.wire.example`));
      const conditions = Object.fromEntries(status.conditions.map(({ type, status: is }: Body) => [type, is]));
      assert.deepEqual([conditions.Established, conditions.NamesAccepted], ['True', 'True']);
      assert.deepEqual([status.acceptedNames.kind, status.acceptedNames.listKind, status.storedVersions], ['Widget', 'WidgetList', ['v1']]);
      assert.deepEqual([spec.names.listKind, spec.conversion.strategy], ['WidgetList', 'None']);
    },
  },
  ...MISTAKES.map(
    ({ name, change, causes }): ContractCase => ({
      name: `a definition with ${name} is invalid`,
      async run(lab) {
        const body = await definitionOf(lab, change);
        const answer = await lab.send('POST', CRDS, { body });
        assertRefused(answer, { status: 422, reason: 'Invalid' });
        const told = answer.body.details.causes.map(({ reason, field }: Body) => `${reason} ${field}`);
        assert.ok(told.includes(causes[0]), answer.text);
      },
    }),
  ),
  {
    name: 'two versions of a kind are one storage, each answers with its own apiVersion, and the newer one is preferred',
    async run(lab) {
      const group = 'two.example';
      const definition = await definitionOf(lab, (made) => {
        made.spec.versions.push({ ...made.spec.versions[0], name: 'v2', storage: false });
        made.spec.versions.push({ ...made.spec.versions[0], name: 'v3beta1', storage: false });
        made.spec.group = group;
        made.metadata.name = `${made.spec.names.plural}.${group}`;
      });
      const { plural, kind } = definition.spec.names;
      assertDone(await lab.send('POST', CRDS, { body: definition }), 201);
      const [one, two] = ['v1', 'v2'].map((version) => `/apis/${group}/${version}/namespaces/wire/${plural}`);
      const body = { apiVersion: `${group}/v1`, kind, metadata: { name: 'a' }, spec: { size: 1 } };
      await eventually('the kind is served', async () => (await lab.send('GET', String(two))).status === 200);
      const made = assertDone(await lab.send('POST', String(one), { body }), 201);
      const seen = assertDone(await lab.send('GET', `${two}/a`));
      assert.deepEqual([seen.apiVersion, seen.metadata.uid, seen.spec], [`${group}/v2`, made.metadata.uid, made.spec]);
      assert.equal(assertDone(await lab.send('GET', String(two))).items[0].apiVersion, `${group}/v2`);
      // A real server adds the versions of a group one after the other.
      await eventually('three versions', async () => (await lab.send('GET', `/apis/${group}`)).body?.versions?.length === 3);
      const { preferredVersion, versions } = assertDone(await lab.send('GET', `/apis/${group}`));
      assert.deepEqual([preferredVersion.version, ...versions.map(({ version }: Body) => version)], ['v2', 'v2', 'v1', 'v3beta1']);
    },
  },
  {
    name: 'scope and kind of an established definition are immutable',
    async run(lab) {
      const definition = await definitionOf(lab, () => undefined);
      const { name } = definition.metadata;
      assertDone(await lab.send('POST', CRDS, { body: definition }), 201);
      const isEstablished = ({ type, status }: Body): boolean => type === 'Established' && status === 'True';
      await eventually('the definition is established', async () =>
        (await lab.send('GET', `${CRDS}/${name}`)).body.status?.conditions?.some(isEstablished),
      );
      for (const [field, spec] of [
        ['spec.scope', { scope: 'Cluster' }],
        ['spec.names.kind', { names: { kind: 'Renamed', listKind: 'RenamedList' } }],
      ] as const) {
        const answer = await lab.send('PATCH', `${CRDS}/${name}`, { body: { spec }, type: 'application/merge-patch+json' });
        assertRefused(answer, {
          status: 422,
          reason: 'Invalid',
          details: { name, group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
          message: new RegExp(`${field.replaceAll('.', '\\.')}: Invalid value: "\\w+": field is immutable`),
        });
      }
    },
  },
];
