/** A raised revision: the new code runs once over what is settled, and trusts nothing that the old one left. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Harness, planFor, widgets } from './harness.ts';

let h: Harness;
const sweep = (name = 'a') => h.deliver({ reason: 'sweep', name });

beforeEach(async () => {
  h = new Harness();
  for (const name of ['a', 'b', 'c']) {
    h.createWidget(name, ['one', 'two']);
    await h.deliver({ reason: 'created', name });
  }
  h.revision = 2;
  h.inputs.length = 0;
  h.takeRequests();
});

describe('a raised revision', () => {
  it('runs every object once, and says so in its status', async () => {
    for (const name of ['a', 'b', 'c', 'a', 'b', 'c']) await sweep(name);
    assert.deepEqual(
      h.inputs.map(({ key }) => key.name),
      ['a', 'b', 'c'],
    );
    for (const name of ['a', 'b', 'c']) assert.equal(h.status(name)['observedRevision'], 2);
    assert.equal((await sweep())['branch'], 'settled');
  });

  it('prunes what the new code no longer plans, although the generation is the same', async () => {
    h.author = ({ object }) => planFor({ ...object, spec: { config: ['one'] } });
    await sweep();
    assert.deepEqual(h.configNames(), ['one']);
    assert.ok(h.takeRequests().includes('list ConfigMap'));
  });

  it('looks at the children although their set and the generation say that it need not', async () => {
    h.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['spec'] = { config: ['one', 'two'], ['touched']: true };
    });
    await h.deliver();
    assert.equal(h.widget()?.metadata.generation, 2);
    assert.ok(h.takeRequests().includes('list ConfigMap'));
  });

  it('is not settled by a run that failed', async () => {
    const { author } = h;
    h.author = () => {
      throw new Error('not yet');
    };
    assert.equal((await sweep())['branch'], 'author-error');
    assert.equal(h.status()['observedRevision'], 1);
    h.author = author;
    assert.equal((await h.redeliver())['branch'], 'reconciled');
    assert.equal(h.status()['observedRevision'], 2);
  });

  it('is behind where the code was taken back: objects run once more, then rest', async () => {
    await sweep();
    h.revision = 1;
    assert.equal((await sweep())['branch'], 'reconciled');
    assert.equal((await sweep())['branch'], 'settled');
  });
});
