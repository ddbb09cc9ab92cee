import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EnvelopeData } from '../../../events/envelope.ts';
import { OWNER_LABEL } from '../../../events/labels.ts';
import { ConflictError, TerminalError, TransientError } from '../../../functions/core/errors.ts';
import { configMaps, namespaces } from '../../../functions/core/kinds.ts';
import { Harness, planFor, widgets } from './harness.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS, type RecordOverrides } from './records.ts';

/** A Widget that is settled with these children. */
async function settled(config: string[] = ['one', 'two']): Promise<Harness> {
  const harness = new Harness();
  harness.createWidget('a', config);
  await harness.deliver({ reason: 'created' });
  harness.takeRequests();
  return harness;
}

const LISTED = ['list Namespace', 'list ConfigMap'];

describe('act', () => {
  it('deletes, with its uid, a child that the Plan no longer has, and leaves the rest', async () => {
    const harness = await settled();
    const { uid } = harness.east.object(configMaps, { namespace: 'widget-a', name: 'two' })?.metadata ?? {};
    harness.setConfig(['one']);
    await harness.deliver();
    assert.deepEqual(harness.configNames(), ['one']);
    const [removal] = harness.east.requestsOf('delete');
    assert.equal(removal?.name, 'two');
    assert.equal(removal?.detail['uid'], uid);
    const expected = ['get Widget', ...LISTED, 'apply Namespace', 'apply ConfigMap', 'delete ConfigMap', 'applyStatus Widget'];
    assert.deepEqual(harness.takeRequests(), expected);
  });

  it('looks at each new child before it writes, and at no other', async () => {
    const harness = await settled();
    harness.setConfig(['one', 'two', 'three']);
    await harness.deliver();
    assert.deepEqual(
      harness.east.requestsOf('getMetadata').map(({ name }) => name),
      ['three'],
    );
  });

  it('applies cluster-scoped children before namespaced ones', async () => {
    const harness = await settled();
    assert.deepEqual(harness.east.objects(namespaces).length, 1);
    harness.setConfig(['three']);
    await harness.deliver();
    assert.deepEqual(
      harness.east.requestsOf('apply').map(({ kind }) => kind),
      ['Namespace', 'ConfigMap'],
    );
  });

  it('reads every page of a list', async () => {
    const names = Array.from({ length: 501 }, (_, index) => `c${index}`);
    const harness = await settled(names);
    harness.setConfig(['c0']);
    await harness.deliver();
    assert.deepEqual(harness.configNames(), ['c0']);
    assert.equal(harness.east.requestsOf('list', 'ConfigMap').length, 2);
  });

  it('leaves alone what is in the way of nothing: other owners’ children and unmarked objects', async () => {
    const harness = await settled();
    harness.createConfig('foreign');
    harness.createConfig('others', { uid: 'somebody-else' });
    harness.setConfig(['one']);
    await harness.deliver();
    assert.deepEqual(harness.configNames(), ['foreign', 'one', 'others']);
  });

  it('leaves an object of an owned kind to which somebody copied our label, and nothing but the label', async () => {
    const harness = await settled();
    const labels = { [OWNER_LABEL]: harness.widget()?.metadata.uid ?? '' };
    harness.east.create(configMaps, { namespace: 'widget-a', name: 'copy' }, { metadata: { labels } });
    harness.setConfig(['one']);
    await harness.deliver();
    assert.deepEqual(harness.configNames(), ['copy', 'one']);
  });

  it('goes on when a child to be pruned is gone, or another object has its name', async () => {
    for (const change of ['absent', 'other'] as const) {
      const harness = await settled();
      harness.setConfig(['one']);
      const first = (): void => {
        harness.east.delete(configMaps, { namespace: 'widget-a', name: 'two' });
        if (change === 'other') harness.createConfig('two');
      };
      harness.east.fault({ verb: 'delete' }, { first });
      assert.equal((await harness.deliver())['branch'], 'reconciled');
      assert.deepEqual(harness.configNames(), change === 'other' ? ['one', 'two'] : ['one']);
    }
  });
});

describe('act: when it may apply without looking', () => {
  const rows: {
    name: string;
    looks: boolean;
    fresh?: boolean;
    over?: Partial<EnvelopeData>;
    record?: RecordOverrides;
    revision?: number;
  }[] = [
    { name: 'a generation change', looks: false },
    { name: 'a resume', looks: true, fresh: true, over: { reason: 'resumed', mustRun: true } },
    { name: 'a record that is mustRun', looks: true, fresh: true, over: { mustRun: true } },
    { name: 'a child’s change', looks: true, fresh: true, over: { reason: 'child-changed', mustRun: true } },
    { name: 'a sweep', looks: true, fresh: true, over: { reason: 'sweep' } },
    { name: 'a retry', looks: true, fresh: true, over: { reason: 'retry' } },
    { name: 'a redelivered record', looks: true, fresh: true, record: { receiveCount: '2' } },
    { name: 'a new revision of the code', looks: true, fresh: true, revision: 2 },
  ];
  for (const { name, looks, fresh, over, record, revision } of rows) {
    it(`${looks ? 'lists the newest children' : 'does not list'} for ${name} with the same set of children`, async () => {
      const harness = await settled();
      harness.revision = revision ?? 1;
      harness.east.edit(widgets, { name: 'a' }, (draft) => {
        draft['other'] = 'moved';
      });
      assert.equal((await harness.deliver(over, record))['branch'], 'reconciled');
      const lists = harness.east.requestsOf('list');
      assert.equal(lists.length > 0, looks);
      if (fresh) assert.ok(lists.every(({ detail }) => detail['resourceVersion'] === undefined));
    });
  }

  it('lists the newest children where a run of a generation in between was never confirmed', async () => {
    const harness = await settled(['one']);
    harness.setConfig(['one', 'eve', 'bad']);
    harness.east.fault({ verb: 'apply', name: 'bad' }, { throw: new TerminalError('invalid', 'data.x must be set') });
    assert.equal((await harness.deliver())['disposition'], 'dead-letter');
    assert.deepEqual(harness.configNames(), ['eve', 'one']);
    harness.setConfig(['one']);
    harness.takeRequests();
    assert.equal((await harness.deliver())['branch'], 'reconciled');
    assert.deepEqual(harness.configNames(), ['one']);
    assert.ok(harness.east.requestsOf('list').every(({ detail }) => detail['resourceVersion'] === undefined));
  });

  it('lists at the resourceVersion read where only the generation is new but the set differs', async () => {
    const harness = await settled();
    const { resourceVersion } = harness.setConfig(['one']).metadata;
    await harness.deliver();
    assert.deepEqual(
      harness.east.requestsOf('list').map(({ detail }) => detail['resourceVersion']),
      [resourceVersion, resourceVersion],
    );
  });

  it('looks when one of several folded records has another reason', async () => {
    const harness = await settled();
    harness.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['other'] = 'moved';
    });
    await harness.invoke(harness.recordFor(), harness.recordFor({ reason: 'sweep' }));
    assert.equal(harness.east.requestsOf('list').length, 2);
  });

  it('looks on a first run, where nothing was confirmed', async () => {
    const harness = new Harness();
    harness.createWidget();
    await harness.deliver({ reason: 'created' });
    assert.equal(harness.east.requestsOf('list').length, 2);
  });
});

describe('act: children that are not ours', () => {
  it('refuses a child that exists and is foreign, before anything is written', async () => {
    const harness = new Harness();
    harness.createWidget('a', ['one', 'taken']);
    harness.createConfig('taken');
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'refused');
    assert.equal(line['code'], 'child-not-owned');
    assert.equal(line['disposition'], 'dead-letter');
    assert.match(String(line['error']), /taken/);
    assert.deepEqual(harness.east.requestsOf('apply'), []);
    assert.equal(harness.condition('Ready')?.['reason'], 'ChildNotOwned');
  });

  for (const { name, owner } of [
    { name: 'of a predecessor of the same name', owner: () => ({ uid: 'old-uid' }) },
    { name: 'of ours that is being deleted', owner: (uid: string) => ({ uid, finalizers: ['example.com/x'] }) },
  ]) {
    it(`waits, quietly, for a child ${name} to go`, async () => {
      const harness = new Harness();
      const { uid } = harness.createWidget().metadata;
      const marks = owner(uid);
      harness.createConfig('one', marks);
      if ('finalizers' in marks) harness.east.delete(configMaps, { namespace: 'widget-a', name: 'one' });
      const line = await harness.deliver({ reason: 'created' });
      assert.equal(line['branch'], 'waiting');
      assert.equal(line['disposition'], 'requeue');
      assert.equal(harness.condition('Ready'), undefined);
      assert.deepEqual(harness.east.requestsOf('apply'), []);
    });
  }

  it('waits when a child turns out to be on its way out only while it is applied', async () => {
    const harness = await settled();
    harness.east.edit(configMaps, { namespace: 'widget-a', name: 'one' }, (draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), finalizers: ['example.com/x'] };
    });
    harness.east.delete(configMaps, { namespace: 'widget-a', name: 'one' });
    harness.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['other'] = 'moved';
    });
    assert.equal((await harness.deliver())['branch'], 'waiting');
    assert.equal(harness.status()['observedGeneration'], 1);
  });
});

describe('act: failures', () => {
  it('waits for nothing in flight and starts nothing new after a failed write, and the retry is mustRun', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `c${index}`);
    const harness = new Harness();
    harness.createWidget('a', names);
    harness.east.fault({ verb: 'apply', name: 'c3' }, { throw: new TransientError('server-error', 'down') });
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'transient');
    assert.ok(harness.configNames().length < 20);
    assert.deepEqual(harness.east.requestsOf('applyStatus'), []);
    const data = harness.queue.envelopes(QUEUE_URLS.live)[0]?.data;
    assert.equal(data?.reason, 'retry');
    assert.equal(data?.mustRun, true);
  });

  for (const code of ['namespace-terminating', 'namespace-missing']) {
    it(`waits without noise for ${code} (B54)`, async () => {
      const harness = new Harness();
      harness.createWidget();
      harness.east.fault({ verb: 'apply', kind: 'ConfigMap' }, { throw: new TransientError(code, 'no namespace') });
      const line = await harness.deliver({ reason: 'created' });
      assert.equal(line['branch'], 'waiting');
      assert.equal(harness.condition('Ready'), undefined);
    });
  }

  it('throws no conflict of a delete away but that of the uid', async () => {
    const harness = await settled();
    harness.setConfig(['one']);
    harness.east.fault({ verb: 'delete' }, { throw: new ConflictError('resource-version-conflict', 'x') });
    assert.equal((await harness.deliver())['disposition'], 'requeue');
  });

  it('prunes what a late run of an older generation left, once it runs again (model, hole 1)', async () => {
    const harness = await settled(['one', 'two']);
    harness.setConfig(['one', 'two', 'old']);
    const older = harness.recordFor();
    // The run of generation 2 is about to apply when generation 3 is written, run and confirmed beside it.
    const first = async (): Promise<void> => {
      harness.setConfig(['one']);
      await harness.begin(harness.recordFor());
      assert.deepEqual(harness.configNames(), ['one']);
      assert.equal(harness.status()['observedGeneration'], 3);
    };
    harness.east.fault({ verb: 'apply', name: 'old' }, { first });
    await harness.invoke(older);
    assert.equal(harness.lastRun()['branch'], 'overtaken-newer-spec');
    assert.ok(harness.configNames().includes('old'));
    await harness.redeliver();
    assert.equal(harness.lastRun()['branch'], 'reconciled');
    assert.deepEqual(harness.configNames(), ['one']);
    assert.equal(harness.status()['observedGeneration'], 3);
  });

  it('is overtaken, not a letter, when it is refused for good only after a newer generation settled', async () => {
    const harness = await settled(['one']);
    harness.setConfig(['one', 'late', 'bad']);
    const older = harness.recordFor();
    let isFirst = true;
    harness.author = async ({ object }) => {
      if (isFirst) {
        isFirst = false;
        harness.setConfig(['one']);
        await harness.begin(harness.recordFor());
        assert.equal(harness.status()['observedGeneration'], 3);
      }
      return planFor(object);
    };
    harness.east.fault({ verb: 'apply', name: 'bad' }, { throw: new TerminalError('invalid', 'data.x must be set') });
    await harness.invoke(older);
    assert.equal(harness.lastRun()['branch'], 'overtaken-newer-spec');
    assert.deepEqual(harness.configNames(), ['late', 'one']);
    assert.deepEqual(harness.queue.envelopes(DEAD_LETTER_QUEUE_URL), []);
    assert.equal(harness.queue.envelopes(QUEUE_URLS.live).at(-1)?.data.mustRun, true);
    await harness.redeliver();
    assert.deepEqual(harness.configNames(), ['one']);
    assert.equal(harness.condition('Stalled'), undefined);
  });

  for (const { name, fault, disposition } of [
    { name: 'is a letter that must run when nothing moved', fault: undefined, disposition: 'dead-letter' },
    {
      name: 'is sent again when it cannot be known what moved',
      fault: { throw: new TransientError('server-error', 'down') },
      disposition: 'requeue',
    },
  ]) {
    it(`${name}, for a run that wrote and was refused for good`, async () => {
      const harness = new Harness();
      harness.createWidget('a', ['one', 'bad']);
      harness.east.fault({ verb: 'get', name: 'a' }, { first: () => {} });
      if (fault !== undefined) harness.east.fault({ verb: 'get', name: 'a' }, fault);
      harness.east.fault({ verb: 'apply', name: 'bad' }, { throw: new TerminalError('invalid', 'data.x must be set') });
      const line = await harness.deliver({ reason: 'created' });
      assert.equal(line['disposition'], disposition);
      assert.equal(harness.queue.envelopes()[0]?.data.mustRun, true);
    });
  }

  it('is done, without a letter, when its object is gone', async () => {
    const harness = new Harness();
    harness.createWidget('a', ['one', 'bad']);
    const first = (): void => {
      harness.east.delete(widgets, { name: 'a' });
      throw new TerminalError('invalid', 'data.x must be set');
    };
    harness.east.fault({ verb: 'apply', name: 'bad' }, { first });
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'gone');
    assert.deepEqual(harness.queue.calls, []);
  });

  it('asks for the newest children where a late run may have made one after R (model, hole 7)', async () => {
    const harness = await settled(['one', 'two']);
    const { resourceVersion } = harness.widget()?.metadata ?? {};
    harness.createConfig('late', { uid: harness.widget()?.metadata.uid ?? '' });
    const list = harness.east.client.list;
    // A watch cache that is at R but has not seen the child yet, as NotOlderThan allows.
    Object.assign(harness.east.client, {
      list: async (...args: Parameters<typeof list>) => {
        const page = await list(...args);
        if (args[1].resourceVersion === undefined) return page;
        return { ...page, rows: page.rows.filter(({ metadata }) => Number(metadata.resourceVersion) <= Number(resourceVersion)) };
      },
    });
    await harness.deliver({ reason: 'retry', mustRun: true });
    assert.deepEqual(harness.configNames(), ['one', 'two']);
  });
});
