import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../../infra/local/api-server/api-object.ts';
import { applyJsonPatch, applyMergePatch, PatchRefusal } from '../../../../infra/local/api-server/json-patch.ts';

const DOCUMENT = { a: { b: 1, 'c/d': 2, 'e~f': 3 }, list: ['x', 'y', 'z'] };

describe('applyJsonPatch', () => {
  const rows: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['adds a field', { op: 'add', path: '/a/n', value: null }, { a: { ...DOCUMENT.a, n: null } }],
    ['adds over a field', { op: 'add', path: '/a', value: 1 }, { a: 1 }],
    ['inserts into a list', { op: 'add', path: '/list/1', value: 'n' }, { list: ['x', 'n', 'y', 'z'] }],
    ['appends by index', { op: 'add', path: '/list/3', value: 'n' }, { list: ['x', 'y', 'z', 'n'] }],
    ['appends by a dash', { op: 'add', path: '/list/-', value: 'n' }, { list: ['x', 'y', 'z', 'n'] }],
    ['removes from the end by a negative index', { op: 'remove', path: '/list/-1' }, { list: ['x', 'y'] }],
    ['reads an escaped slash', { op: 'replace', path: '/a/c~1d', value: 5 }, { a: { ...DOCUMENT.a, 'c/d': 5 } }],
    ['reads an escaped tilde', { op: 'remove', path: '/a/e~0f' }, { a: { b: 1, 'c/d': 2 } }],
    ['moves', { op: 'move', from: '/list/0', path: '/first' }, { list: ['y', 'z'], first: 'x' }],
    ['copies', { op: 'copy', from: '/a/b', path: '/list/0' }, { list: [1, 'x', 'y', 'z'] }],
    ['tests without regard to the order of fields', { op: 'test', path: '/a', value: { 'e~f': 3, 'c/d': 2, b: 1 } }, {}],
  ];
  for (const [name, operation, change] of rows) {
    it(name, () => assert.deepEqual(applyJsonPatch(DOCUMENT, [operation]), { ...DOCUMENT, ...change }));
  }

  const refused: readonly (readonly [string, unknown])[] = [
    ['a missing field to remove', { op: 'remove', path: '/a/none' }],
    ['a missing field to replace', { op: 'replace', path: '/a/none', value: 1 }],
    ['a missing parent', { op: 'add', path: '/none/x', value: 1 }],
    ['a scalar as parent', { op: 'add', path: '/a/b/c', value: 1 }],
    ['an index beyond the end', { op: 'add', path: '/list/4', value: 1 }],
    ['an index that is no number', { op: 'add', path: '/list/x', value: 1 }],
    ['a dash to read', { op: 'test', path: '/list/-', value: 'z' }],
    ['a test of a missing field', { op: 'test', path: '/a/none', value: null }],
    ['a field of the prototype', { op: 'test', path: '/a/constructor', value: null }],
    ['a path without a slash', { op: 'add', path: 'a', value: 1 }],
    ['an unknown operation', { op: 'merge', path: '/a', value: 1 }],
    ['no object', 'remove'],
    ['a root that is no object', { op: 'replace', path: '', value: [] }],
  ];
  for (const [name, operation] of refused) {
    it(`refuses ${name}`, () => assert.throws(() => applyJsonPatch(DOCUMENT, [operation]), PatchRefusal));
  }

  it('leaves the document alone', () => {
    const before = structuredClone(DOCUMENT);
    applyJsonPatch(DOCUMENT, [{ op: 'remove', path: '/a' }]);
    assert.deepEqual(DOCUMENT, before);
  });

  it('sets no prototype', () => {
    const patched = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
    assert.equal((patched as { polluted?: boolean }).polluted, undefined);
  });
});

describe('applyMergePatch', () => {
  // The examples of RFC 7386, appendix A, whose document and patch are objects, and one of nulls in a list as the server has it.
  const rows: readonly (readonly [JsonObject, JsonObject, JsonObject])[] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{}, { a: [null, { b: null, c: [{ d: null }] }] }, { a: [null, { c: [{}] }] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [document, patch, result] of rows) {
    it(`makes ${JSON.stringify(result)} of ${JSON.stringify(document)} by ${JSON.stringify(patch)}`, () =>
      assert.deepEqual(applyMergePatch(document, patch), result));
  }

  it('has the same result when it is applied again', () => {
    const json = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const once = applyMergePatch(document, patch);
        assert.deepEqual(applyMergePatch(once, patch), once);
      }),
    );
  });
});
