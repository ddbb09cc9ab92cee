import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EnvelopeData, REASONS } from '../../../events/envelope.ts';
import { PAUSED_ANNOTATION } from '../../../events/labels.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import { Harness, planFor, widgets } from './harness.ts';
import { QUEUE_URLS, type RecordOverrides } from './records.ts';

const DIRECT_RUN = ['get Widget', 'apply Namespace', 'apply ConfigMap', 'applyStatus Widget'];

async function settled(): Promise<Harness> {
  const harness = new Harness();
  harness.createWidget();
  await harness.deliver({ reason: 'created' });
  harness.takeRequests();
  return harness;
}

describe('a run', () => {
  it('makes the children, confirms, and acknowledges', async () => {
    const harness = new Harness();
    harness.createWidget();
    const failed = await harness.invoke(harness.recordFor({ reason: 'created' }));
    assert.deepEqual(failed, []);
    assert.deepEqual(harness.configNames(), ['one']);
    assert.equal(harness.status()['observedGeneration'], 1);
    assert.equal(harness.status()['observedRevision'], 1);
    assert.equal(harness.status()['count'], 1);
    assert.equal(harness.condition('Ready')?.['status'], 'True');
    assert.equal(harness.lastRun()['branch'], 'reconciled');
    assert.deepEqual(harness.queue.calls, []);
    assert.equal(harness.queueLoads, 0);
    assert.equal(harness.clock.sleeperCount, 0);
  });

  it('costs one GET, one PATCH a child and one of status where the set of children stays', async () => {
    const harness = await settled();
    harness.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['other'] = 'moved';
    });
    const line = await harness.deliver({ reason: 'generation-changed' });
    assert.deepEqual(harness.takeRequests(), DIRECT_RUN);
    assert.equal(line['apiRequestCount'], 4);
    assert.equal(harness.status()['observedGeneration'], 2);
  });

  it('logs one line that says what became of which object', async () => {
    const harness = new Harness();
    const { uid } = harness.createWidget().metadata;
    await harness.invoke(harness.recordFor({ reason: 'created' }, { messageId: 'm1' }));
    const runs = harness.lines.filter(({ message }) => message === 'record processed');
    assert.equal(runs.length, 1);
    assert.deepEqual(runs[0]?.fields, {
      branch: 'reconciled',
      disposition: 'done',
      key: 'east/platform.example/Widget//a',
      uid,
      generation: 1,
      reason: 'created',
      attempt: 1,
      lane: 'live',
      messageIds: ['m1'],
      acknowledged: true,
      durationMs: 0,
      apiRequestCount: 9,
    });
  });

  it('has the lines of its author say of which object they speak, whatever fields they have', async () => {
    const harness = new Harness();
    const { uid } = harness.createWidget().metadata;
    const hiding = { key: 'another', uid: 'another', attempt: 0 };
    harness.author = ({ object, log }) => {
      log.info('looked', { ...hiding, found: 2 });
      log.warn('slow', hiding);
      return planFor(object);
    };
    await harness.deliver({ reason: 'retry', attempt: 3 });
    const facts = { key: 'east/platform.example/Widget//a', uid, attempt: 3 };
    assert.deepEqual(harness.lines.slice(0, 2), [
      { level: 'info', message: 'looked', fields: { ...facts, found: 2 } },
      { level: 'warn', message: 'slow', fields: facts },
    ]);
  });

  it('changes nothing when the same message comes five times (B46)', async () => {
    const harness = await settled();
    const before = harness.widget()?.metadata.resourceVersion;
    for (let pass = 0; pass < 4; pass += 1) {
      await harness.clock.advance(1200);
      await harness.deliver({ reason: 'created' }, { receiveCount: String(pass + 2) });
      assert.equal(harness.lastRun()['branch'], 'reconciled');
    }
    assert.equal(harness.widget()?.metadata.resourceVersion, before);
  });

  it('ignores the version of the envelope and uses the one that the reconciler declares', async () => {
    const harness = new Harness();
    harness.createWidget();
    assert.equal((await harness.deliver({ version: 'v1alpha1', plural: 'oldwidgets' }))['branch'], 'reconciled');
  });

  it('works on the cluster of the envelope only (B23)', async () => {
    const harness = new Harness();
    harness.createWidget('a', ['one'], harness.east);
    harness.createWidget('a', ['one'], harness.west);
    await harness.deliver({ cluster: 'east' });
    assert.equal(harness.status('a', harness.east)['observedGeneration'], 1);
    assert.deepEqual(harness.west.requests, []);
  });
});

describe('a run that ends before the author is asked', () => {
  const rows: {
    name: string;
    branch: string;
    prepare?: (harness: Harness) => void;
    envelope?: Partial<EnvelopeData>;
    record?: RecordOverrides;
  }[] = [
    { name: 'settled', branch: 'settled' },
    { name: 'settled, for a sweep', branch: 'settled', envelope: { reason: 'sweep' } },
    { name: 'gone', branch: 'gone', prepare: (harness) => harness.east.delete(widgets, { name: 'a' }) },
    {
      name: 'gone, although mustRun',
      branch: 'gone',
      prepare: ({ east }) => east.delete(widgets, { name: 'a' }),
      envelope: { mustRun: true },
    },
    { name: 'paused', branch: 'paused', prepare: pause, envelope: { reason: 'paused', mustRun: true } },
    {
      name: 'deleting',
      branch: 'deleting',
      prepare: ({ east }) => {
        east.edit(widgets, { name: 'a' }, (draft) => {
          draft['metadata'] = { ...(draft['metadata'] as object), finalizers: ['example.com/other'] };
        });
        east.delete(widgets, { name: 'a' });
      },
      envelope: { mustRun: true },
    },
    {
      name: 'a retry of an older generation',
      branch: 'retry-superseded',
      prepare: (harness) => void harness.setConfig(['two']),
      envelope: { reason: 'retry', generation: 1, attempt: 3 },
    },
  ];
  for (const { name, branch, prepare, envelope, record } of rows) {
    it(`is done, with one read and nothing written: ${name}`, async () => {
      const harness = await settled();
      const asked = harness.inputs.length;
      const over = harness.recordFor(envelope, record);
      prepare?.(harness);
      assert.deepEqual(await harness.invoke(over), []);
      assert.equal(harness.lastRun()['branch'], branch);
      assert.deepEqual(harness.takeRequests(), ['get Widget']);
      assert.equal(harness.inputs.length, asked);
      assert.deepEqual(harness.queue.calls, []);
    });
  }

  it('is not where the object is settled but mustRun, redelivered, or of another revision', async () => {
    for (const row of [{ mustRun: true }, { receiveCount: '2' }, { revision: 2 }]) {
      const harness = await settled();
      harness.revision = row.revision ?? 1;
      const line = await harness.deliver({ mustRun: row.mustRun ?? false }, { receiveCount: row.receiveCount ?? '1' });
      assert.equal(line['branch'], 'reconciled', JSON.stringify(row));
    }
  });

  it('is not after a pause that ate a message which had to run: the resume does its work', async () => {
    const harness = await settled();
    const { uid } = harness.widget()?.metadata ?? {};
    harness.createConfig('stray', { uid: uid ?? '' });
    pause(harness);
    assert.equal((await harness.deliver({ reason: 'retry', mustRun: true }))['branch'], 'paused');
    unpause(harness);
    await harness.deliver({ reason: 'resumed', mustRun: REASONS.resumed.mustRun });
    assert.equal(harness.lastRun()['branch'], 'reconciled');
    assert.deepEqual(harness.configNames(), ['one']);
  });

  it('is not where observedGeneration is ahead, as on an object made again from a backup (B09)', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['status'] = { observedGeneration: 7 };
    });
    assert.equal((await harness.deliver())['branch'], 'reconciled');
    assert.equal(harness.status()['observedGeneration'], 1);
  });

  it('is not for a superseded retry that is mustRun, nor for one that another reason joined', async () => {
    for (const extra of [{ mustRun: true }, undefined]) {
      const harness = await settled();
      const retry = harness.recordFor({ reason: 'retry', ...extra });
      const changed = harness.recordFor({ reason: 'generation-changed' });
      harness.setConfig(['two']);
      await harness.invoke(retry, ...(extra === undefined ? [changed] : []));
      assert.equal(harness.lastRun()['branch'], 'reconciled');
    }
  });

  it('waits for its time without a request', async () => {
    const harness = await settled();
    const notBefore = new Date(harness.clock.now().getTime() + 3_600_000).toISOString();
    const line = await harness.deliver({ reason: 'requeue', notBefore, mustRun: true });
    assert.equal(line['branch'], 'not-due');
    assert.equal(line['delaySeconds'], 900);
    assert.deepEqual(harness.takeRequests(), []);
    assert.equal(harness.queue.envelopes(QUEUE_URLS.live)[0]?.data.notBefore, notBefore);
  });

  for (const { name, envelope, code } of [
    { name: 'cluster', envelope: { cluster: 'nowhere' }, code: 'unknown-cluster' },
    { name: 'kind', envelope: { kind: 'Gadget' }, code: 'unknown-kind' },
    { name: 'group', envelope: { group: 'elsewhere.example' }, code: 'unknown-kind' },
  ]) {
    it(`waits for a function that knows the ${name}`, async () => {
      const harness = await settled();
      const line = await harness.deliver(envelope);
      assert.equal(line['branch'], 'unknown-target');
      assert.equal(line['code'], code);
      assert.equal(line['delaySeconds'], 300);
      assert.deepEqual(harness.takeRequests(), []);
    });
  }
});

describe('reading', () => {
  it('reads not older than the envelope, and the newest where a record was received more than once', async () => {
    const harness = await settled();
    await harness.deliver({ resourceVersion: '1001' });
    assert.equal(harness.east.requests[0]?.detail['resourceVersion'], '1001');
    harness.takeRequests();
    await harness.deliver({ resourceVersion: '1001' }, { receiveCount: '2' });
    assert.equal(harness.east.requests[0]?.detail['resourceVersion'], undefined);
  });

  it('waits once as a server that is behind says, then asks for its newest', async () => {
    const harness = await settled();
    harness.east.fault({ verb: 'get' }, { throw: new TransientError('resource-version-too-large', 'behind', { retryAfterSeconds: 3 }) }, 2);
    const line = await harness.deliver();
    assert.equal(line['branch'], 'settled');
    assert.equal(line['durationMs'], 3000);
    const asked = harness.east.requestsOf('get').map(({ detail }) => detail['resourceVersion'] !== undefined);
    assert.deepEqual(asked, [true, true, false]);
  });

  it('takes a deletion for true where the kind is not served any more: the CRD went and took the object with it', async () => {
    const harness = await settled();
    harness.east.unserve(widgets);
    assert.equal((await harness.deliver({ reason: 'deleted' }))['branch'], 'gone');
    assert.equal((await harness.deliver({ reason: 'generation-changed' }))['branch'], 'unknown-target');
  });

  it('reads on where the position was lost with a restore of etcd', async () => {
    const harness = await settled();
    assert.equal((await harness.deliver({ resourceVersion: '999999999999999999' }))['branch'], 'settled');
  });

  it('carries the version that is there on, once the one of the message was lost with a restore of etcd', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.author = () => {
      throw new Error('boom');
    };
    const { resourceVersion } = harness.widget()?.metadata ?? {};
    await harness.deliver({ reason: 'created', resourceVersion: '999999999' });
    assert.equal(harness.queue.envelopes(QUEUE_URLS.live)[0]?.data.resourceVersion, resourceVersion);
    harness.takeRequests();
    assert.equal((await harness.redeliver())['durationMs'], 0);
  });

  it('sends a failed read again, with the wait that the server asked for', async () => {
    const harness = await settled();
    harness.east.fault({ verb: 'get' }, { throw: new TransientError('throttled', 'too many', { retryAfterSeconds: 77 }) });
    const line = await harness.deliver();
    assert.equal(line['branch'], 'transient');
    assert.equal(line['delaySeconds'], 77);
    const data = harness.queue.envelopes(QUEUE_URLS.live)[0]?.data;
    assert.equal(data?.reason, 'retry');
    assert.equal(data?.attempt, 2);
    assert.equal(data?.mustRun, false);
  });
});

function unpause({ east }: Harness): void {
  east.edit(widgets, { name: 'a' }, (draft) => {
    const { annotations: _gone, ...metadata } = draft['metadata'] as Record<string, unknown>;
    draft['metadata'] = metadata;
  });
}

function pause({ east }: Harness): void {
  east.edit(widgets, { name: 'a' }, (draft) => {
    draft['metadata'] = { ...(draft['metadata'] as object), annotations: { [PAUSED_ANNOTATION]: '' } };
  });
}
