import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { deepFreeze } from '../../../functions/core/frozen.ts';

describe('deepFreeze', () => {
  it('makes a change at any depth throw', () => {
    const object = deepFreeze({ spec: { list: [{ name: 'a' }] } });
    assert.throws(() => Object.assign(object.spec, { added: 1 }), TypeError);
    assert.throws(() => object.spec.list.push({ name: 'b' }), TypeError);
    assert.throws(() => {
      (object.spec.list[0] as { name: string }).name = 'b';
    }, TypeError);
  });

  it('freezes below what somebody froze already', () => {
    const object = deepFreeze(Object.freeze({ inner: { value: 1 } }));
    assert.throws(() => Object.assign(object.inner, { value: 2 }), TypeError);
  });

  it('leaves instances of classes alone and ends on a cycle', () => {
    const value: { at: Date; self?: unknown } = { at: new Date(0) };
    value.self = value;
    deepFreeze(value);
    value.at.setTime(5);
    assert.equal(value.at.getTime(), 5);
  });

  it('changes no value', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.deepEqual(deepFreeze(structuredClone(value)), value)));
  });
});
