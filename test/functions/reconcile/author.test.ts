/** What an author leaves behind does not end the process, which would fail every record of the batch. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { TransientError } from '../../../functions/core/errors.ts';
import { namespaces } from '../../../functions/core/kinds.ts';
import { ownedKind } from '../../../functions/core/owned-kind.ts';
import { Harness, planFor } from './harness.ts';

describe('an author that reads two things at once', () => {
  it('need not wait for the second where the first fails', async (t) => {
    const unhandled = t.mock.fn();
    process.on('unhandledRejection', unhandled);
    t.after(() => process.off('unhandledRejection', unhandled));
    const harness = new Harness();
    harness.createWidget();
    harness.east.fault({ verb: 'get', kind: 'Namespace' }, { throw: new TransientError('server-error', 'no') }, 2);
    harness.author = async ({ object, read }) => {
      const [first, second] = [read(namespaces, { name: 'one' }), read(namespaces, { name: 'two' })];
      await first;
      await second;
      return planFor(object);
    };
    assert.equal((await harness.deliver())['branch'], 'transient');
    await turn();
    assert.equal(unhandled.mock.callCount(), 0);
  });
});

describe('an author that reads a kind', () => {
  const secrets = ownedKind({ group: '', version: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced' });
  const at = { namespace: 'x', name: 'y' };

  it('is refused where it does not declare it, before the cluster is asked', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.author = async ({ read, object }) => {
      await read(secrets, at);
      return planFor(object);
    };
    const line = await harness.deliver();
    assert.deepEqual([line['branch'], line['code']], ['author-error', 'invalid-plan']);
    assert.match(String(line['error']), /reads Secret, which is not in its reads/);
    assert.ok(!harness.takeRequests().includes('get Secret'));
  });

  it('gets what it declares', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.reads = [secrets];
    harness.author = async ({ read, object }) => {
      assert.equal(await read(secrets, at), undefined);
      return planFor(object);
    };
    assert.equal((await harness.deliver())['branch'], 'reconciled');
    assert.ok(harness.takeRequests().includes('get Secret'));
  });
});
