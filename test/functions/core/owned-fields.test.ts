import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { ManagedFields } from '../../../events/observed-object.ts';
import { hasAtomicConditions, ownedStatus } from '../../../functions/core/owned-fields.ts';
import type { KubernetesObject } from '../../../functions/core/reconciler.ts';
import { metadataOf, ticketOf } from './tickets.ts';

/** An object as kube-apiserver answered it, managedFields included. */
function sampleObject(name: string): KubernetesObject {
  const text = readFileSync(new URL(`./samples/${name}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { object: KubernetesObject }).object;
}

function owner(status: object, overrides: Partial<ManagedFields> = {}): ManagedFields {
  return { manager: 'dogwatch', operation: 'Apply', subresource: 'status', fieldsV1: { 'f:status': status }, ...overrides };
}

function withStatus(status: unknown, ...managedFields: ManagedFields[]): KubernetesObject {
  return ticketOf({ status, metadata: metadataOf({ managedFields }) });
}

describe('ownedStatus, of objects as a real API server answered them', () => {
  it('is all of a status that is ours alone', () => {
    const object = sampleObject('status-fields-of-one-manager');
    assert.deepEqual(ownedStatus(object), object['status']);
  });

  it('leaves out the condition of another manager', () => {
    const conditions = ownedStatus(sampleObject('status-conditions-of-two-managers'))?.['conditions'] as { type: string }[];
    assert.deepEqual(
      conditions.map(({ type }) => type),
      ['Synced'],
    );
  });

  it('leaves out a field that another manager has taken', () => {
    assert.deepEqual(ownedStatus(sampleObject('status-fields-of-two-managers')), { observedGeneration: 1 });
  });

  it('leaves out the one field of a condition that another manager has taken', () => {
    const own = ownedStatus(sampleObject('status-partly-taken'));
    assert.deepEqual(Object.keys(own ?? {}).sort(), [
      'childrenDigest',
      'conditions',
      'namespace',
      'observedGeneration',
      'observedRevision',
    ]);
    const conditions = own?.['conditions'] as Record<string, unknown>[];
    assert.deepEqual(
      conditions.map(({ type, status }) => [type, status]),
      [
        ['Open', 'True'],
        ['Ready', undefined],
      ],
    );
  });
});

describe('ownedStatus', () => {
  const cases: { name: string; status: unknown; fields: object; own: unknown }[] = [
    { name: 'a value owned whole', status: { a: { b: 1, c: 2 } }, fields: { 'f:a': {} }, own: { a: { b: 1, c: 2 } } },
    { name: 'some fields of an object', status: { a: { b: 1, c: 2 } }, fields: { 'f:a': { '.': {}, 'f:b': {} } }, own: { a: { b: 1 } } },
    { name: 'an object whose fields are others’', status: { a: { b: 1 } }, fields: { 'f:a': { '.': {} } }, own: { a: {} } },
    { name: 'values of a set', status: { a: ['x', 'y'] }, fields: { 'f:a': { 'v:"y"': {} } }, own: { a: ['y'] } },
    { name: 'items by index', status: { a: ['x', 'y'] }, fields: { 'f:a': { 'i:1': {} } }, own: { a: ['y'] } },
    {
      name: 'an item by two keys, which it keeps',
      status: {
        a: [
          { k: 1, l: 'x', v: 1 },
          { k: 1, l: 'y', v: 2 },
        ],
      },
      fields: { 'f:a': { 'k:{"k":1,"l":"y"}': { 'f:v': {} } } },
      own: { a: [{ k: 1, l: 'y', v: 2 }] },
    },
    { name: 'a field that is gone', status: { b: 1 }, fields: { 'f:a': {} }, own: {} },
    { name: 'a key that does not parse', status: { a: [{ k: 1 }] }, fields: { 'f:a': { 'k:{': {} } }, own: { a: [] } },
  ];
  for (const { name, status, fields, own } of cases) {
    it(`reads ${name}`, () => assert.deepEqual(ownedStatus(withStatus(status, owner(fields))), own));
  }

  const others: { name: string; entry: ManagedFields }[] = [
    { name: 'another manager', entry: owner({ 'f:a': {} }, { manager: 'kubectl' }) },
    { name: 'an Update under our name', entry: owner({ 'f:a': {} }, { operation: 'Update' }) },
    { name: 'our entry for the main resource', entry: owner({ 'f:a': {} }, { subresource: '' }) },
    { name: 'a wiped entry', entry: {} },
  ];
  for (const { name, entry } of others) {
    it(`does not count ${name}`, () => assert.equal(ownedStatus(withStatus({ a: 1 }, entry)), undefined));
  }
});

describe('hasAtomicConditions', () => {
  const conditions = [{ type: 'Ready', status: 'True' }];
  it('is false for conditions keyed by type', () => {
    assert.equal(hasAtomicConditions(sampleObject('status-conditions-of-two-managers')), false);
  });
  it('is true where some manager owns the list as one value', () => {
    const entry = owner({ 'f:conditions': {} }, { manager: 'other', operation: 'Update' });
    assert.equal(hasAtomicConditions(withStatus({ conditions }, entry)), true);
  });
  it('is false where somebody owns items of the list, although another wrote an empty one', () => {
    const empty = owner({ 'f:conditions': {} }, { manager: 'other', operation: 'Update' });
    const ours = owner({ 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:type': {}, 'f:status': {} } } });
    for (const entries of [
      [empty, ours],
      [ours, empty],
    ]) {
      assert.equal(hasAtomicConditions(withStatus({ conditions }, ...entries)), false);
    }
  });
  it('is false while there are no conditions to lose', () => {
    assert.equal(hasAtomicConditions(withStatus({ conditions: [] }, owner({ 'f:conditions': {} }))), false);
    assert.equal(hasAtomicConditions(ticketOf()), false);
  });
});
