import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { capUpdates, decodeOwners, encodeOwners } from '../../../../infra/local/api-server/managed-fields.ts';
import { API_VERSION, configMap, Written, widget } from './lab-kinds.ts';

const entry = (manager: string, time: string | undefined, field: string, more: object = {}) => ({
  apiVersion: API_VERSION,
  fieldsType: 'FieldsV1',
  fieldsV1: { [`f:${field}`]: {} },
  manager,
  operation: 'Update',
  ...(time === undefined ? {} : { time }),
  ...more,
});
const second = (n: number): string => `2026-11-29T15:38:${String(n).padStart(2, '0')}Z`;

describe('managedFields', () => {
  it('stand in the order of the server: Apply, then by time and manager', () => {
    const entries = [
      entry('b', second(2), 'x'),
      entry('a', second(2), 'x'),
      entry('z', second(1), 'x'),
      entry('late', second(9), 'x', { operation: 'Apply' }),
      entry('timeless', undefined, 'x', { operation: 'Apply' }),
    ];
    const encoded = encodeOwners(decodeOwners(entries) ?? new Map());
    assert.deepEqual(
      encoded.map(({ manager }) => manager),
      ['timeless', 'late', 'z', 'a', 'b'],
    );
  });

  for (const [name, broken] of [
    ['an unknown operation', { operation: 'Edit' }],
    ['no version', { apiVersion: '' }],
    ['another fields type', { fieldsType: 'FieldsV2' }],
  ] as const) {
    it(`with ${name} cannot be read`, () => assert.equal(decodeOwners([entry('m', second(1), 'x', broken)]), undefined));
  }

  it('keep ten updates; the oldest become ancient-changes', () => {
    const entries = Array.from({ length: 12 }, (_, i) => entry(`m${i}`, second(i), `x${i}`));
    const capped = encodeOwners(capUpdates(decodeOwners(entries) ?? new Map()));
    assert.equal(capped.length, 10);
    assert.deepEqual(capped[0], { ...entry('ancient-changes', second(2), 'x0'), fieldsV1: { 'f:x0': {}, 'f:x1': {}, 'f:x2': {} } });
  });
});

describe('managedFields of an object', () => {
  it('can be edited by a PUT, and wiped by one empty entry', () => {
    const w = Written.create(widget, 'w');
    w.put((draft) => Object.assign(draft['metadata'] as object, { managedFields: [entry('other', second(1), 'spec')] }));
    assert.deepEqual(w.owners, ['other/Update/']);
    w.put((draft) => Object.assign(draft['metadata'] as object, { managedFields: [{}] }));
    assert.deepEqual(w.owners, []);
    w.merge({ spec: { size: 3 } });
    assert.deepEqual(w.owners, []);
  });

  it('survive a client that leaves them out, or empties the list', () => {
    const w = Written.create(widget, 'w');
    for (const managedFields of [null, []]) {
      w.put((draft) => Object.assign(draft['metadata'] as object, { managedFields, labels: { a: String(managedFields) } }));
      assert.deepEqual(w.owners, ['unknown/Update/']);
    }
  });

  it('cannot be edited through the status', () => {
    const w = Written.create(widget, 'w');
    w.put(
      (draft) => Object.assign(draft, { status: { phase: 'x' }, metadata: { ...(draft['metadata'] as object), managedFields: [{}] } }),
      {
        subresource: 'status',
      },
    );
    assert.deepEqual(w.owners, ['unknown/Update/', 'unknown/Update/status']);
  });

  it('tell drift: an apply, a status and a foreign annotation leave our entry as it is, a foreign edit does not', () => {
    const c = Written.create(configMap, 'c', {});
    c.apply('dogwatch', { data: { a: '1', b: '2' } });
    const ours = c.fieldsOf('dogwatch');
    c.apply('dogwatch', { data: { a: '3', b: '4' } });
    c.merge({ metadata: { annotations: { x: 'y' } } }, { manager: 'kubectl' });
    assert.deepEqual(c.fieldsOf('dogwatch'), ours);
    c.merge({ data: { a: 'edited' } }, { manager: 'kubectl' });
    assert.deepEqual(c.fieldsOf('dogwatch'), { 'f:data': { 'f:b': {} } });
    c.apply('dogwatch', { data: { a: '3', b: '4' } }, { force: true });
    assert.deepEqual(c.fieldsOf('dogwatch'), ours);
  });
});
