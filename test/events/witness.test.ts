import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectMetadata } from '../../events/observed-object.ts';
import { type History, historyOf, laterWitness, type Witness } from '../../events/witness.ts';

const CONFIG_MAP: ObjectMetadata = { name: 'a', uid: 'uid1', resourceVersion: '101' };
const metadata = (fields: Partial<ObjectMetadata> = {}): ObjectMetadata => ({
  name: 'a',
  uid: 'uid1',
  resourceVersion: '100',
  generation: 3,
  ...fields,
});
const seen = laterWitness(undefined, metadata(), false);
const gone = laterWitness(undefined, metadata(), true);

describe('a witness of the history', () => {
  const rows: readonly (readonly [string, Witness, ObjectMetadata | undefined, History])[] = [
    ['as it was seen', seen, metadata(), 'same'],
    ['at a newer version', seen, metadata({ resourceVersion: '1000', generation: 4 }), 'same'],
    ['at a version that does not compare', seen, metadata({ resourceVersion: 'abc-7' }), 'same'],
    ['at an older version', seen, metadata({ resourceVersion: '99' }), 'other'],
    ['at a newer version of an older generation', seen, metadata({ resourceVersion: '101', generation: 2 }), 'other'],
    ['of a kind without generation', seen, CONFIG_MAP, 'same'],
    ['not there', seen, undefined, 'unsure'],
    ['replaced by a newer object of its name', seen, metadata({ uid: 'uid2', resourceVersion: '101' }), 'unsure'],
    ['replaced by an object that is older than it', seen, metadata({ uid: 'uid2', resourceVersion: '99' }), 'other'],
    ['that was seen to go, not there', gone, undefined, 'same'],
    ['that was seen to go, there', gone, metadata({ resourceVersion: '101' }), 'other'],
    ['that was seen to go, replaced since', gone, metadata({ uid: 'uid2', resourceVersion: '101' }), 'same'],
    ['that was seen to go, replaced before', gone, metadata({ uid: 'uid2', resourceVersion: '99' }), 'other'],
  ];
  for (const [name, witness, found, history] of rows) {
    it(`${name}: ${history}`, () => assert.equal(historyOf(witness, found, false), history));
  }

  const ofSelection: typeof rows = [
    ['that was seen to go, there at its version', gone, metadata(), 'unsure'],
    ['that was seen to go, there', gone, metadata({ resourceVersion: '101' }), 'unsure'],
    ['that was seen to go, there at an older version', gone, metadata({ resourceVersion: '99' }), 'other'],
    ['that was seen to go, not there', gone, undefined, 'same'],
    ['that was seen to go, replaced since', gone, metadata({ uid: 'uid2', resourceVersion: '101' }), 'same'],
    ['as it was seen', seen, metadata(), 'same'],
    ['at a newer version of an older generation', seen, metadata({ resourceVersion: '101', generation: 2 }), 'other'],
    ['not there', seen, undefined, 'unsure'],
  ];
  for (const [name, witness, found, history] of ofSelection) {
    it(`of a selection, ${name}: ${history}`, () => assert.equal(historyOf(witness, found, true), history));
  }

  it('is the object that changed last, whatever the order in which a list shows them', () => {
    const listed = ['100', '999', '1000', '20'].map((resourceVersion) => metadata({ uid: resourceVersion, resourceVersion }));
    const last = listed.reduce<Witness | undefined>((witness, one) => laterWitness(witness, one, false), undefined);
    assert.equal(last?.uid, '1000');
  });
});
