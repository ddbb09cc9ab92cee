import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patchObject } from '../../../../infra/local/api-server/write-object.ts';
import { contextOf, refusalOf, shortRefusal, Written, widget } from './lab-kinds.ts';

const F = 'lab.example.com/hold';
const G = 'lab.example.com/other';
const withFinalizers = () => Written.create(widget, 'h1', { spec: { size: 1 } }, { finalizers: [F, G] });

describe('a JSON Patch', () => {
  it('removes a finalizer after a test', () => {
    const h1 = withFinalizers();
    h1.patch([
      { op: 'test', path: '/metadata/finalizers/1', value: G },
      { op: 'remove', path: '/metadata/finalizers/1' },
    ]);
    assert.deepEqual(h1.object.metadata.finalizers, [F]);
    assert.deepEqual(h1.fieldsOf('unknown'), {
      'f:metadata': { 'f:finalizers': { '.': {}, [`v:"${F}"`]: {} } },
      'f:spec': { '.': {}, 'f:size': {} },
    });
  });

  for (const [name, operations] of [
    [
      'a test that fails',
      [
        { op: 'test', path: '/metadata/finalizers/0', value: G },
        { op: 'remove', path: '/metadata/finalizers/0' },
      ],
    ],
    ['an index out of range', [{ op: 'remove', path: '/metadata/finalizers/5' }]],
    ['a list that is not there', [{ op: 'add', path: '/metadata/ownerReferences/-', value: {} }]],
    ['a test of another uid', [{ op: 'test', path: '/metadata/uid', value: 'other' }]],
  ] as const) {
    it(`is refused for ${name} without telling why`, () => {
      assert.deepEqual(
        refusalOf(() => withFinalizers().patch(operations)),
        {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'the server rejected our request due to an error in our request',
          reason: 'Invalid',
          details: {},
          code: 422,
        },
      );
    });
  }

  it('is a list of at most 10,000 operations', () => {
    const { object } = withFinalizers();
    const context = contextOf({ name: 'h1' });
    assert.deepEqual(
      shortRefusal(() => patchObject(widget, object, {}, 'json', context)),
      [400, 'BadRequest', 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    );
    const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Widget' }));
    assert.equal(refusalOf(() => patchObject(widget, object, many, 'json', context))['code'], 413);
  });
});

describe('a merge patch', () => {
  it('guards by resourceVersion, then by uid', () => {
    const h4 = withFinalizers();
    const stale = refusalOf(() => h4.merge({ metadata: { resourceVersion: '1', finalizers: [G] } }));
    assert.deepEqual([stale['code'], stale['reason']], [409, 'Conflict']);
    const { resourceVersion } = h4.object.metadata;
    assert.equal(h4.merge({ metadata: { resourceVersion, finalizers: [G] } }), true);
    const other = refusalOf(() => h4.merge({ metadata: { uid: 'other', finalizers: null } }));
    assert.deepEqual(
      [other['code'], other['message']],
      [422, 'Widget.lab.example.com "h1" is invalid: metadata.uid: Invalid value: "other": field is immutable'],
    );
    assert.equal((other['details'] as { causes: unknown[] }).causes.length, 2);
  });

  it('ignores the uid of another object on the status', () => {
    const h4 = withFinalizers();
    assert.equal(h4.merge({ metadata: { uid: 'other' }, status: { phase: 'M' } }, { subresource: 'status' }), true);
    assert.notEqual(h4.object.metadata.uid, 'other');
  });

  it('adds no finalizer to an object that is being deleted; the cause is told twice', () => {
    const h1 = Written.create(widget, 'h1', { spec: { size: 1 } }, { finalizers: [F] });
    h1.beginDeletion();
    const refusal = refusalOf(() => h1.merge({ metadata: { finalizers: [F, 'lab.example.com/new'] } }));
    const message =
      'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"lab.example.com/new"}';
    const cause = { reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' };
    assert.equal(refusal['message'], `Widget.lab.example.com "h1" is invalid: metadata.finalizers: ${message}`);
    assert.deepEqual(refusal['details'], { name: 'h1', group: 'lab.example.com', kind: 'Widget', causes: [cause, cause] });
  });

  it('with an unknown field is refused under Strict, with the patched object', () => {
    const [code, reason, message] = shortRefusal(() => withFinalizers().merge({ spec: { typo: 1 } }, { fieldValidation: 'Strict' }));
    assert.deepEqual([code, reason], [422, 'Invalid']);
    assert.match(String(message), /^ "" is invalid: patch: Invalid value: ".*": strict decoding error: unknown field "spec.typo"$/);
  });

  it('is an object', () => {
    const { object } = withFinalizers();
    const refuse = (patch: unknown) => shortRefusal(() => patchObject(widget, object, patch, 'merge', contextOf({ name: 'h1' })));
    assert.deepEqual(refuse([]), [
      400,
      'BadRequest',
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ]);
    assert.deepEqual(refuse(null), [400, 'BadRequest', 'Invalid JSON Patch']);
  });

  it('cannot rename', () => {
    const refusal = shortRefusal(() => withFinalizers().merge({ metadata: { name: 'other' } }));
    assert.deepEqual(refusal, [400, 'BadRequest', 'the name of the object (other) does not match the name on the URL (h1)']);
  });

  it('takes the fields that it changes from those who applied them', () => {
    const w = Written.create(widget, 'w', {});
    w.apply('dogwatch', { spec: { size: 1, tier: 'gold' } });
    w.merge({ spec: { size: 2 } }, { manager: 'kubectl' });
    assert.deepEqual(w.fieldsOf('dogwatch'), { 'f:spec': { 'f:tier': {} } });
    assert.deepEqual(w.fieldsOf('kubectl'), { 'f:spec': { 'f:size': {} } });
    w.merge({ spec: { tier: null } }, { manager: 'kubectl' });
    assert.equal(w.fieldsOf('dogwatch'), undefined);
    w.apply('dogwatch', { spec: { size: 1, tier: 'gold' } }, { force: true });
    assert.deepEqual(w.fieldsOf('dogwatch'), { 'f:spec': { 'f:size': {}, 'f:tier': {} } });
  });
});
