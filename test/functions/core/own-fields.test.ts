import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ownFieldsOf } from '../../../functions/core/own-fields.ts';

const FIELDS = { 'f:spec': { 'f:hard': { 'f:pods': {}, 'f:requests.cpu': {} } } };

function entry(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return { manager: 'dogwatch', operation: 'Apply', apiVersion: 'v1', time: '2026-01-01T00:00:00Z', fieldsV1: FIELDS, ...overrides };
}

describe('ownFieldsOf', () => {
  it('has a digest and a count of what we own by apply', () => {
    const own = ownFieldsOf([entry()]);
    assert.ok(own !== undefined && Number.isSafeInteger(own.digest) && own.digest >= 0);
    assert.equal(own.count, 4);
  });

  const nobody: readonly (readonly [what: string, managedFields: unknown])[] = [
    ['no managedFields', undefined],
    ['an empty list', []],
    ['a wiped list', [{}]],
    ['something else', 'text'],
    ['null for an entry', [null]],
    ['another manager', [entry({ manager: 'kubectl-edit' })]],
    ['an Update of our name', [entry({ operation: 'Update' })]],
    ['our part of status', [entry({ subresource: 'status' })]],
  ];
  for (const [what, managedFields] of nobody) {
    it(`is undefined for ${what}`, () => assert.equal(ownFieldsOf(managedFields), undefined));
  }

  it('is the same for the same fields: order, time, version and the entries of others do not count', () => {
    const reordered = { 'f:spec': { 'f:hard': { 'f:requests.cpu': {}, 'f:pods': {} } } };
    const others = [
      entry({ manager: 'kube-controller-manager', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': {} } }),
    ];
    const later = entry({ fieldsV1: reordered, time: '2026-02-01T00:00:00Z', apiVersion: 'v2', subresource: '' });
    assert.deepEqual(ownFieldsOf([...others, later]), ownFieldsOf([entry()]));
  });

  it('is another one, with a smaller count, once somebody took a field', () => {
    const [whole, less] = [ownFieldsOf([entry()]), ownFieldsOf([entry({ fieldsV1: { 'f:spec': { 'f:hard': { 'f:pods': {} } } } })])];
    assert.notEqual(less?.digest, whole?.digest);
    assert.ok((less?.count ?? 9) < (whole?.count ?? 0));
  });

  it('counts an entry without fields as one that owns nothing', () => {
    assert.equal(ownFieldsOf([entry({ fieldsV1: undefined })])?.count, 0);
  });

  it('counts less for every set of fields that is contained in another', () => {
    const leaf = fc.constant<Record<string, unknown>>({});
    const tree = fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.dictionary(fc.string(), leaf)));
    fc.assert(
      fc.property(tree, fc.string(), (fields, added) => {
        fc.pre(!Object.hasOwn(fields, added));
        const [less, more] = [ownFieldsOf([entry({ fieldsV1: fields })]), ownFieldsOf([entry({ fieldsV1: { ...fields, [added]: {} } })])];
        assert.equal(more?.count, (less?.count ?? 0) + 1);
        assert.notEqual(more?.digest, less?.digest);
      }),
    );
  });
});
