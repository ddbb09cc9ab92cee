import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConflictError, TransientError } from '../../../functions/core/errors.ts';
import { Harness, widgets } from './harness.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS } from './records.ts';

/** A Widget whose first run meets `first` right before its confirm. */
function meeting(first: (harness: Harness) => void | Promise<void>, times = 1): Harness {
  const harness = new Harness();
  harness.createWidget();
  harness.east.fault({ verb: 'applyStatus' }, { first: () => first(harness) }, times);
  return harness;
}

const sentAgain = (harness: Harness) => harness.queue.envelopes(QUEUE_URLS.live).at(-1)?.data;

function recreate(harness: Harness): void {
  harness.east.delete(widgets, { name: 'a' });
  harness.createWidget('a', ['other']);
}

function setStatus(harness: Harness, fields: Record<string, unknown>): void {
  harness.east.edit(widgets, { name: 'a' }, (draft) => {
    draft['status'] = { ...(draft['status'] as object | undefined), ...fields };
  });
}

describe('confirm', () => {
  it('carries the resourceVersion that was read, and nothing but identity and status', async () => {
    const harness = new Harness();
    const { resourceVersion } = harness.createWidget().metadata;
    await harness.deliver({ reason: 'created' });
    const body = harness.east.requestsOf('applyStatus')[0]?.detail;
    assert.deepEqual(body?.['metadata'], { name: 'a', resourceVersion });
    assert.deepEqual(Object.keys(body ?? {}).sort(), ['apiVersion', 'kind', 'metadata', 'status']);
  });

  it('is sent although nothing in it changed and nothing was written (model, hole 3)', async () => {
    const harness = new Harness();
    harness.author = () => ({ status: { count: 0 } });
    harness.createWidget();
    await harness.deliver({ reason: 'created' });
    harness.takeRequests();
    await harness.deliver({ mustRun: true, reason: 'resync' });
    assert.equal(harness.east.requestsOf('applyStatus').length, 1);
    assert.equal(harness.lastRun()['branch'], 'reconciled');
  });

  it('confirms again, after one read, when only foreign fields moved', async () => {
    const harness = meeting((at) => void at.label('x'));
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'reconciled');
    assert.equal(line['rereadCount'], 1);
    assert.equal(harness.status()['observedGeneration'], 1);
    assert.equal(harness.inputs.length, 1);
    assert.deepEqual(harness.queue.calls, []);
    const reads = harness.east.requestsOf('get');
    assert.equal(reads.length, 2);
    assert.equal(reads[1]?.detail['resourceVersion'], undefined);
  });

  it('takes a condition of another manager for a foreign field, and leaves it there (B47)', async () => {
    const synced = { type: 'Synced', status: 'True', reason: 'Done', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const harness = meeting((at) => setStatus(at, { conditions: [synced] }));
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'reconciled');
    assert.equal(harness.condition('Synced')?.['reason'], 'Done');
    assert.equal(harness.condition('Ready')?.['status'], 'True');
  });

  it('gives way after three more conflicts, without spending an attempt', async () => {
    const harness = meeting((at) => void at.label(`edit ${at.east.requests.length}`), 99);
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'overtaken-foreign-fields');
    assert.equal(line['rereadCount'], 3);
    assert.equal(harness.east.requestsOf('applyStatus').length, 4);
    assert.equal(sentAgain(harness)?.attempt, 1);
    assert.equal(sentAgain(harness)?.mustRun, true);
    assert.equal(
      Number(sentAgain(harness)?.resourceVersion),
      Number(harness.widget()?.metadata.resourceVersion) - 1,
      'the newest that it saw',
    );
  });

  it('pauses a few milliseconds, by chance, before it confirms again', async () => {
    const harness = meeting((at) => void at.label('x'));
    const line = await harness.deliver({ reason: 'created' });
    assert.ok(Number(line['durationMs']) > 0 && Number(line['durationMs']) <= 20);
  });

  const overtaken: { name: string; by: string; change: (harness: Harness) => void }[] = [
    { name: 'its spec moved', by: 'newer-spec', change: (at) => void at.setConfig(['two']) },
    {
      name: 'it is being deleted, also by a server that leaves the generation alone',
      by: 'newer-spec',
      change: ({ east }) => {
        east.edit(widgets, { name: 'a' }, (draft) => {
          const more = { finalizers: ['example.com/x'], deletionTimestamp: '2026-01-01T00:00:00Z' };
          draft['metadata'] = { ...(draft['metadata'] as object), ...more };
        });
      },
    },
    { name: 'another run confirmed', by: 'newer-run', change: (at) => setStatus(at, { observedGeneration: 1, childrenDigest: 'x' }) },
    { name: 'another object has the name', by: 'replacement', change: recreate },
  ];
  for (const { name, by, change } of overtaken) {
    it(`is overtaken when ${name}: sent again, mustRun, later, with what is there now`, async () => {
      const harness = meeting(change);
      const line = await harness.deliver({ reason: 'created' });
      assert.equal(line['branch'], `overtaken-${by}`);
      assert.ok(Number(line['delaySeconds']) >= 1);
      const { metadata } = harness.widget() ?? {};
      const data = sentAgain(harness);
      assert.equal(data?.reason, 'retry');
      assert.equal(data?.mustRun, true);
      assert.equal(data?.attempt, 2);
      assert.equal(data?.uid, metadata?.uid);
      assert.equal(data?.resourceVersion, metadata?.resourceVersion);
      assert.equal(data?.generation, metadata?.generation);
      assert.equal(harness.status()['count'], undefined);
    });
  }

  it('never lets an older generation’s status replace a newer one’s (B17, B45)', async () => {
    const harness = meeting(async (at) => {
      at.setConfig(['two']);
      await at.begin(at.recordFor());
      assert.equal(at.status()['observedGeneration'], 2);
    });
    await harness.deliver({ reason: 'created' });
    assert.equal(harness.status()['observedGeneration'], 2);
    await harness.redeliver();
    assert.equal(harness.status()['observedGeneration'], 2);
    assert.deepEqual(harness.configNames(), ['two']);
  });

  it('says the generation whose spec was used, not the newest (B45)', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.author = ({ object }) => {
      harness.setConfig(['two']);
      return { status: { count: object.spec.config.length } };
    };
    await harness.deliver({ reason: 'created' });
    assert.equal(harness.status()['observedGeneration'], undefined);
  });

  it('loses to the first of two runs of one message, without a flip-flop (B36)', async () => {
    const harness = meeting(async (at) => void (await at.begin(at.recordFor({ reason: 'created' }, { receiveCount: '2' }))));
    await harness.deliver({ reason: 'created' });
    assert.equal(harness.lastRun()['branch'], 'overtaken-newer-run');
    const before = harness.widget()?.metadata.resourceVersion;
    await harness.redeliver();
    assert.equal(harness.lastRun()['branch'], 'reconciled');
    assert.equal(harness.widget()?.metadata.resourceVersion, before);
    harness.takeRequests();
    await harness.deliver({ reason: 'created' });
    assert.deepEqual([harness.lastRun()['branch'], harness.takeRequests()], ['settled', ['get Widget']], 'the message once more');
    assert.deepEqual(harness.queue.envelopes(DEAD_LETTER_QUEUE_URL), []);
  });
});

describe('confirm: the object is not there', () => {
  it('is done when the object is gone before its status (B49, B53)', async () => {
    const harness = meeting(({ east }) => east.delete(widgets, { name: 'a' }));
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'gone');
    assert.equal(line['disposition'], 'done');
    assert.equal(harness.widget(), undefined);
    assert.deepEqual(harness.queue.calls, []);
  });

  it('is done when it goes between the conflict and the read', async () => {
    const harness = meeting((at) => void at.label('x'));
    harness.east.fault({ verb: 'get' }, { first: () => {} });
    harness.east.fault({ verb: 'get' }, { first: () => harness.east.delete(widgets, { name: 'a' }) });
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'gone');
  });

  it('takes an object made again after the 404 for another one, not for a CRD without status (model, hole 2)', async () => {
    const harness = meeting(({ east }) => east.delete(widgets, { name: 'a' }));
    harness.east.fault({ verb: 'get' }, { first: () => {} });
    harness.east.fault({ verb: 'get' }, { first: () => void harness.createWidget() });
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'replaced');
    assert.equal(line['disposition'], 'done');
    assert.deepEqual(harness.status(), {});
    assert.deepEqual(harness.queue.calls, []);
  });

  it('names the remedy once where the CRD has no status subresource, and writes no status elsewhere (B15)', async () => {
    const harness = new Harness();
    harness.east.serve(widgets, [], false);
    harness.createWidget();
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['code'], 'status-subresource-missing');
    assert.equal(line['disposition'], 'dead-letter');
    assert.match(String(line['error']), /subresources/);
    assert.deepEqual(harness.east.requestsOf('apply', 'Widget.platform.example'), []);
    assert.equal(harness.queue.envelopes(DEAD_LETTER_QUEUE_URL)[0]?.data.diagnosis?.code, 'status-subresource-missing');
  });
});

describe('confirm: what was not confirmed', () => {
  for (const { name, change } of [
    { name: 'was overtaken', change: (at: Harness) => void at.setConfig(['two']) },
    { name: 'found its object gone', change: ({ east }: Harness) => east.delete(widgets, { name: 'a' }) },
  ]) {
    it(`is not told of by an Event where the run ${name}`, async () => {
      const harness = meeting(change);
      await harness.deliver({ reason: 'created' });
      assert.notEqual(harness.lastRun()['branch'], 'reconciled');
      assert.deepEqual(harness.east.events, []);
    });
  }
});

describe('confirm: a run that died', () => {
  it('repairs what it overwrote in a newer object: its redelivery reads the newest (model, hole 6)', async () => {
    const harness = new Harness();
    harness.createWidget('a', ['one']);
    await harness.deliver({ reason: 'created' });
    const stale = harness.setConfig(['two']);
    harness.setConfig(['three']);
    await harness.deliver();
    assert.deepEqual(harness.configNames(), ['three']);
    // The run of generation 2 made its child and died. A cache may still be at the envelope's resourceVersion.
    harness.createConfig('two', { uid: stale.metadata.uid });
    const { get } = harness.east.client;
    Object.assign(harness.east.client, {
      get: async (...args: Parameters<typeof get>) => {
        const now = await get(...args);
        return args[2]?.resourceVersion === stale.metadata.resourceVersion ? stale : now;
      },
    });
    const { resourceVersion, generation } = stale.metadata;
    const line = await harness.deliver({ resourceVersion, generation }, { receiveCount: '2' });
    assert.equal(line['branch'], 'reconciled');
    assert.equal(line['generation'], 3);
    assert.deepEqual(harness.configNames(), ['three']);
  });

  it('completes the status on redelivery after a failure between the children and the status (B39)', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.east.fault({ verb: 'applyStatus' }, { throw: new TransientError('server-error', 'down') });
    await harness.deliver({ reason: 'created' });
    assert.equal(harness.status()['observedGeneration'], undefined);
    await harness.redeliver();
    assert.equal(harness.status()['observedGeneration'], 1);
    assert.deepEqual(harness.configNames(), ['one']);
    await harness.deliver({ reason: 'created' });
    assert.equal(harness.lastRun()['branch'], 'settled');
  });

  it('settles when the answer to the confirm is lost', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.east.fault({ verb: 'applyStatus' }, { lose: new TransientError('unreachable', 'reset') });
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'transient');
    await harness.redeliver();
    assert.equal(harness.lastRun()['branch'], 'reconciled');
  });

  it('passes other conflicts on', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.east.fault({ verb: 'applyStatus' }, { throw: new ConflictError('field-manager-conflict', 'x') });
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'field-conflict');
  });
});
