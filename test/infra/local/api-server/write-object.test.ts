import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../infra/local/api-server/api-object.ts';
import { createObject, updateObject } from '../../../../infra/local/api-server/write-object.ts';
import { bodyOf, configMap, contextOf, customKind, labSchema, plain, refusalOf, shortRefusal, Written, widget } from './lab-kinds.ts';

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

describe('create', () => {
  it('sets what the server sets, and drops a status that has its own endpoint', () => {
    const body = bodyOf(
      widget,
      'a1',
      { spec: { size: 1 }, status: { phase: 'Set' } },
      { generation: 7, uid: 'mine', creationTimestamp: null },
    );
    const object = createObject(widget, body, contextOf());
    assert.deepEqual(object['status'], undefined);
    const { managedFields: _, ...metadata } = object.metadata;
    assert.deepEqual(metadata, {
      name: 'a1',
      namespace: 'lab',
      generation: 1,
      uid: '00000000-0000-4000-8000-000000000001',
      creationTimestamp: '2026-11-29T15:38:44Z',
      resourceVersion: '',
    });
  });

  it('keeps the status of a kind without that endpoint', () => {
    assert.deepEqual(createObject(plain, bodyOf(plain, 'a1', { status: { phase: 'Set' } }), contextOf())['status'], { phase: 'Set' });
  });

  it('gives no generation to built-in kinds that have none', () => {
    assert.equal(createObject(configMap, bodyOf(configMap, 'c', { data: { a: 'b' } }), contextOf()).metadata.generation, undefined);
  });

  it('makes a name of generateName, at most 63 long', () => {
    const nameOf = (generateName: string) =>
      createObject(widget, { ...bodyOf(widget, ''), metadata: { generateName } }, contextOf()).metadata.name;
    assert.equal(nameOf('job-'), 'job-x7k2p');
    assert.equal(nameOf('a'.repeat(70)), `${'a'.repeat(58)}x7k2p`);
  });

  it('tells the faults of the body as the real server does', () => {
    const { details, ...status } = refusalOf(() =>
      createObject(widget, bodyOf(widget, 'i2', { spec: { size: -1, tier: 5 } }), contextOf()),
    );
    assert.equal(
      status['message'],
      'Widget.lab.example.com "i2" is invalid: [spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0, spec.tier: Invalid value: "integer": spec.tier in body must be of type string: "integer"]',
    );
    assert.deepEqual(details, {
      name: 'i2',
      group: 'lab.example.com',
      kind: 'Widget',
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: -1: spec.size in body should be greater than or equal to 0',
          field: 'spec.size',
        },
        {
          reason: 'FieldValueTypeInvalid',
          message: 'Invalid value: "integer": spec.tier in body must be of type string: "integer"',
          field: 'spec.tier',
        },
      ],
    });
  });

  const rows: readonly (readonly [string, JsonObject, readonly unknown[]])[] = [
    [
      'no kind',
      { kind: undefined },
      [400, 'BadRequest', /^Widget in version "v1" cannot be handled as a Widget: Object 'Kind' is missing in '/],
    ],
    ['another kind', { kind: 'Gadget' }, [422, 'Invalid', /kind: Invalid value: "Gadget": must be Widget$/]],
    [
      'another version',
      { apiVersion: 'lab.example.com/v2' },
      [
        400,
        'BadRequest',
        /^the API version in the data \(lab.example.com\/v2\) does not match the expected API version \(lab.example.com\/v1\)$/,
      ],
    ],
    [
      'a resourceVersion',
      { metadata: { name: 'x', resourceVersion: '5' } },
      [500, undefined, /^resourceVersion should not be set on objects to be created$/],
    ],
    [
      'another namespace',
      { metadata: { name: 'x', namespace: 'other' } },
      [400, 'BadRequest', /^the namespace of the provided object does not match the namespace sent on the request$/],
    ],
    [
      'no name',
      { metadata: {} },
      [422, 'Invalid', /^Widget.lab.example.com "" is invalid: metadata.name: Required value: name or generateName is required$/],
    ],
    [
      'labels that are no texts',
      { metadata: { name: 'x', labels: { a: 1 } } },
      [400, 'BadRequest', /json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string$/],
    ],
  ];
  for (const [name, change, [code, reason, message]] of rows) {
    it(`refuses a body with ${name}`, () => {
      const refusal = shortRefusal(() =>
        createObject(widget, { ...bodyOf(widget, 'x'), ...change }, contextOf({ fieldValidation: 'Strict' })),
      );
      assert.deepEqual(refusal.slice(0, 2), [code, reason]);
      assert.match(String(refusal[2]), message as RegExp);
    });
  }

  it('drops unknown fields: silently, with warnings, or not at all', () => {
    const body = { ...bodyOf(widget, 'u', { spec: { size: 1, typo: 2 }, extra: {} }), metadata: { name: 'u', hue: 'red' } };
    for (const fieldValidation of ['Ignore', 'Warn'] as const) {
      const context = contextOf({ fieldValidation });
      const object = createObject(widget, body, context);
      assert.deepEqual([object['spec'], object['extra'], object.metadata['hue']], [{ size: 1 }, undefined, undefined]);
      const warnings = ['unknown field "metadata.hue"', 'unknown field "extra"', 'unknown field "spec.typo"'];
      assert.deepEqual(context.warnings, fieldValidation === 'Warn' ? warnings : []);
    }
    assert.deepEqual(
      shortRefusal(() => createObject(widget, body, contextOf({ fieldValidation: 'Strict' }))),
      [
        400,
        'BadRequest',
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "metadata.hue", unknown field "extra", unknown field "spec.typo"',
      ],
    );
  });

  it('warns of finalizers without a domain', () => {
    const context = contextOf();
    createObject(widget, bodyOf(widget, 'f', {}, { finalizers: ['nodomain', 'with.dot', 'a.b/c'] }), context);
    assert.deepEqual(context.warnings, [
      'metadata.finalizers: "nodomain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
      'metadata.finalizers: "with.dot": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
    ]);
  });

  it('keeps an owner reference once', () => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
    const context = contextOf();
    const object = createObject(widget, bodyOf(widget, 'o', {}, { ownerReferences: [reference, { ...reference }] }), context);
    assert.deepEqual(object.metadata.ownerReferences, [reference]);
    assert.match(String(context.warnings[0]), /duplicate UID\(s\) observed: u$/);
  });
});

describe('generation', () => {
  const rows: readonly (readonly [string, (draft: JsonObject) => void, number, boolean])[] = [
    ['the spec', (draft) => Object.assign(draft, { spec: { size: 2 } }), 2, true],
    ['another top-level field', (draft) => Object.assign(draft, { data: 'x' }), 2, true],
    ['nothing', () => {}, 1, false],
    ['labels', (draft) => Object.assign(draft['metadata'] as object, { labels: { a: 'b' } }), 1, true],
    ['finalizers', (draft) => Object.assign(draft['metadata'] as object, { finalizers: ['a.b/c'] }), 1, true],
    ['generation itself', (draft) => Object.assign(draft['metadata'] as object, { generation: 9 }), 1, false],
    ['the status, which is ignored', (draft) => Object.assign(draft, { status: { phase: 'x' } }), 1, false],
  ];
  for (const [what, change, generation, changed] of rows) {
    it(`is ${generation} after a PUT that changes ${what}`, () => {
      const a1 = Written.create(widget, 'a1');
      assert.equal(a1.put(change), changed);
      assert.equal(a1.object.metadata.generation, generation);
      assert.equal(a1.status, undefined);
    });
  }

  it('stays in a status write, which takes nothing but the status', () => {
    const a1 = Written.create(widget, 'a1');
    a1.put((draft) => Object.assign(draft, { status: { phase: 'Sub' }, spec: { size: 9 }, data: 'x' }), { subresource: 'status' });
    assert.deepEqual(
      [a1.object.metadata.generation, a1.status, a1.object['spec'], a1.object['data']],
      [1, { phase: 'Sub' }, { size: 1 }, undefined],
    );
    a1.put((draft) => delete draft['status'], { subresource: 'status' });
    assert.equal(a1.status, undefined);
  });

  it('counts each status write of a kind without a status endpoint', () => {
    const p = Written.create(plain, 'p');
    p.merge({ status: { phase: 'x' } });
    assert.equal(p.object.metadata.generation, 2);
  });

  it('counts a change of the spec while the object is being deleted', () => {
    const a2 = Written.create(widget, 'a2', { spec: { size: 1 } }, { finalizers: ['lab.example.com/hold'] });
    a2.beginDeletion();
    a2.merge({ spec: { size: 5 } });
    assert.deepEqual([a2.object.metadata.generation, a2.object.metadata.deletionGracePeriodSeconds], [3, 0]);
    a2.merge({ metadata: { finalizers: null } });
    assert.deepEqual([a2.object.metadata.generation, a2.object.metadata.finalizers], [3, undefined]);
    assert.deepEqual(a2.fieldsOf('unknown'), { 'f:spec': { '.': {}, 'f:size': {} } });
  });
});

describe('update', () => {
  const put = (kind: typeof widget, change: JsonObject, metadata: JsonObject = {}, context = contextOf({ name: 'g1' })) => {
    const { object } = Written.create(kind, 'g1', {});
    return () => updateObject(kind, object, { ...bodyOf(kind, 'g1', {}, { resourceVersion: '101', ...metadata }), ...change }, context);
  };

  it('needs the current resourceVersion', () => {
    const refusal = refusalOf(put(widget, {}, { resourceVersion: '1' }));
    assert.deepEqual([refusal['code'], refusal['reason']], [409, 'Conflict']);
    assert.equal(refusal['message'], `Operation cannot be fulfilled on widgets.lab.example.com "g1": ${MODIFIED}`);
    assert.deepEqual(refusal['details'], { name: 'g1', group: 'lab.example.com', kind: 'widgets' });
    assert.deepEqual(shortRefusal(put(widget, { metadata: { name: 'g1' } })), [
      422,
      'Invalid',
      'widgets.lab.example.com "g1" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
    assert.deepEqual(shortRefusal(put(widget, {}, { resourceVersion: 'abc' })), [
      500,
      undefined,
      'strconv.ParseUint: parsing "abc": invalid syntax',
    ]);
    assert.equal(put(configMap, { metadata: { name: 'g1' }, data: { a: 'b' } })().changed, true);
  });

  it('is a precondition on the uid, for the status too', () => {
    for (const subresource of ['', 'status'] as const) {
      const refusal = refusalOf(put(widget, {}, { uid: 'other' }, contextOf({ name: 'g1', subresource })));
      assert.equal(refusal['code'], 409);
      assert.match(
        String(refusal['message']),
        /^Operation cannot be fulfilled on widgets.lab.example.com "g1": StorageError: invalid object, Code: 4, Key: \/registry\/lab.example.com\/widgets\/lab\/g1, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: 00000000-/,
      );
    }
  });

  it('refuses a name that is not that of the URL', () => {
    const name = put(widget, { metadata: { name: 'g2', resourceVersion: '101' } });
    assert.deepEqual(shortRefusal(name), [400, 'BadRequest', 'the name of the object (g2) does not match the name on the URL (g1)']);
  });

  it('lets values stay that a newer schema forbids, but no new ones in', () => {
    const loose = Written.create(widget, 'r', { spec: { size: 5, tier: 'gold' } });
    const schema = labSchema();
    Object.assign(schema.properties?.['spec']?.properties ?? {}, { size: { type: 'integer', maximum: 3 } });
    const strict = new Written(customKind('Widget', schema), loose.object);
    assert.equal(strict.merge({ spec: { tier: 'silver' } }), true);
    assert.equal(refusalOf(() => strict.merge({ spec: { size: 6 } }))['code'], 422);
  });

  it('names the path of a faulty status with and without its root', () => {
    const schema = labSchema();
    Object.assign(schema.properties?.['status']?.properties ?? {}, { count: { type: 'integer', maximum: 3 } });
    const strict = Written.create(customKind('Widget', schema), 's');
    const [, , message] = shortRefusal(() => strict.merge({ status: { count: 6 } }, { subresource: 'status' }));
    assert.equal(
      message,
      'Widget.lab.example.com "s" is invalid: status.count: Invalid value: 6: count in body should be less than or equal to 3',
    );
  });
});
