import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OWNER_LABEL, PAUSED_ANNOTATION } from '../../../events/labels.ts';
import { ConflictError, TransientError } from '../../../functions/core/errors.ts';
import { hasLabel } from '../../../functions/core/predicates.ts';
import { widgets } from './harness.ts';
import { FINALIZER, FOREIGN, OutsideHarness } from './outside-world.ts';
import { QUEUE_URLS } from './records.ts';

const FINALIZER_APPLY = { verb: 'apply', kind: 'Widget.platform.example' } as const;

function created(finalizers: readonly string[] = []): OutsideHarness {
  const harness = new OutsideHarness();
  harness.createWith(finalizers);
  return harness;
}

/** A Widget whose finalizer is about to be applied when `first` happens. */
function meeting(first: (harness: OutsideHarness) => void | Promise<void>, times = 1): OutsideHarness {
  const harness = created();
  harness.east.fault(FINALIZER_APPLY, { first: () => first(harness) }, times);
  return harness;
}

describe('the finalizer of a living object', () => {
  it('is on it before the author is asked, by uid and resourceVersion, and nothing else is said', async () => {
    const harness = created();
    const { uid, resourceVersion } = harness.widget()?.metadata ?? {};
    let seen: readonly string[] = [];
    harness.beforeOutside = () => {
      seen = harness.finalizers();
    };
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'reconciled');
    assert.deepEqual(seen, [FINALIZER]);
    const [first] = harness.east.requestsOf('apply', 'Widget.platform.example');
    assert.deepEqual(first?.detail, {
      apiVersion: 'platform.example/v1',
      kind: 'Widget',
      metadata: { name: 'a', uid, resourceVersion, finalizers: [FINALIZER] },
    });
    assert.deepEqual(harness.takeRequests().slice(0, 2), ['get Widget', 'apply Widget']);
  });

  it('gives the run a new resourceVersion, which the author sees and the confirm names', async () => {
    const harness = created();
    await harness.deliver({ reason: 'created' });
    const given = harness.inputs[0]?.object.metadata;
    const confirmed = harness.east.requestsOf('applyStatus')[0]?.detail['metadata'] as { resourceVersion?: string } | undefined;
    assert.equal(confirmed?.resourceVersion, given?.resourceVersion);
    assert.deepEqual(given?.finalizers, [FINALIZER]);
    assert.equal(harness.lastRun()['rereadCount'], undefined);
  });

  it('is not written again where it is on the object already, and those of others stay', async () => {
    const harness = created([FOREIGN, FINALIZER]);
    await harness.deliver({ reason: 'created' });
    assert.deepEqual(harness.east.requestsOf('apply', 'Widget.platform.example'), []);
    assert.deepEqual(harness.finalizers(), [FOREIGN, FINALIZER]);
    const other = created([FOREIGN]);
    await other.deliver({ reason: 'created' });
    assert.deepEqual([...other.finalizers()].sort(), [FOREIGN, FINALIZER].sort());
  });

  it('is not put on an object that is paused, settled or held back by a predicate', async () => {
    for (const [branch, prepare] of [
      ['paused', (at: OutsideHarness) => at.setMetadata((metadata) => ({ ...metadata, annotations: { [PAUSED_ANNOTATION]: '' } }))],
      ['settled', (at: OutsideHarness) => at.east.edit(widgets, { name: 'a' }, (draft) => (draft['status'] = { observedGeneration: 1 }))],
      ['not-selected', (at: OutsideHarness) => (at.watch = { predicate: hasLabel('wanted') })],
    ] as const) {
      const harness = created();
      prepare(harness);
      assert.equal((await harness.deliver({ reason: 'sweep' }))['branch'], branch);
      assert.deepEqual(new Set(harness.takeRequests()), new Set(['get Widget']));
    }
  });

  it('leaves the status that another run wrote as it is, also when the run then fails', async () => {
    const harness = created();
    await harness.deliver({ reason: 'created' });
    harness.setFinalizers([]);
    harness.author = () => {
      throw new Error('boom');
    };
    await harness.deliver({ mustRun: true });
    assert.equal(harness.status()['count'], 1);
    assert.equal(harness.condition('Ready')?.['reason'], 'AuthorError');
    assert.deepEqual(harness.finalizers(), [FINALIZER]);
  });

  it('takes nothing out of an object that is a child of another reconciler, nor does that one take it off', async () => {
    const harness = new OutsideHarness();
    const child = {
      apiVersion: 'platform.example/v1',
      kind: 'Widget',
      metadata: { name: 'a', labels: { [OWNER_LABEL]: 'somebody' } },
      spec: { config: ['one'] },
    };
    await harness.east.client.apply(widgets, child);
    await harness.deliver({ reason: 'created' });
    assert.deepEqual(harness.widget()?.['spec'], { config: ['one'] });
    await harness.east.client.apply(widgets, { ...child, spec: { config: ['two'] } });
    assert.deepEqual(harness.finalizers(), [FINALIZER]);
  });

  it('counts as a write of the run: its retry is mustRun', async () => {
    const harness = created([FINALIZER]);
    harness.author = () => {
      throw new Error('boom');
    };
    await harness.deliver({ reason: 'created' });
    assert.deepEqual([harness.sent()[0]?.mustRun, harness.sent()[0]?.uid], [true, harness.uid()]);
  });
});

describe('the finalizer of an object that moves meanwhile', () => {
  it('costs one read for a foreign write, and the run goes on', async () => {
    const harness = meeting((at) => void at.label('x'));
    const line = await harness.deliver({ reason: 'created' });
    assert.deepEqual([line['branch'], line['rereadCount']], ['reconciled', 1]);
    assert.deepEqual(harness.finalizers(), [FINALIZER]);
    assert.deepEqual(harness.inputs[0]?.object.metadata.labels, { touched: 'x' });
  });

  it('goes on after three conflicts, and gives way after four without spending an attempt', async () => {
    const thrice = meeting((at) => void at.label(`edit ${at.east.requests.length}`), 3);
    assert.equal((await thrice.deliver({ reason: 'created' }))['branch'], 'reconciled');
    const always = meeting((at) => void at.label(`edit ${at.east.requests.length}`), 99);
    const line = await always.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'overtaken-foreign-fields');
    assert.deepEqual([always.sent()[0]?.attempt, always.sent()[0]?.uid, always.sent()[0]?.mustRun], [1, always.uid(), true]);
    assert.equal(always.inputs.length, 0);
    assert.equal(always.outside.made.length, 0);
  });

  it('goes on with the object of another run that added it first', async () => {
    const harness = meeting((at) => at.setFinalizers([FINALIZER]));
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'reconciled');
    assert.equal(harness.east.requestsOf('apply', 'Widget.platform.example').length, 1);
  });

  it('is overtaken by another generation, before anything was done', async () => {
    const harness = meeting((at) => void at.setConfig(['two']));
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'overtaken-newer-spec');
    const [data] = harness.sent();
    assert.deepEqual([data?.uid, data?.generation, data?.mustRun], [harness.uid(), 2, true]);
    assert.deepEqual([harness.inputs.length, harness.finalizers()], [0, []]);
  });

  it('is never put on an object that is being deleted by then', async () => {
    const harness = created([FOREIGN]);
    harness.east.fault(FINALIZER_APPLY, { first: () => harness.deleteWidget() });
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'overtaken-newer-spec');
    assert.deepEqual([harness.finalizers(), harness.inputs.length], [[FOREIGN], 0]);
  });

  it('is not put on one either where the server leaves the generation of a deletion alone', async () => {
    const harness = meeting((at) => at.setMetadata((metadata) => ({ ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' })));
    harness.setFinalizers([FOREIGN]);
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'overtaken-newer-spec');
    assert.deepEqual([harness.finalizers(), harness.inputs.length], [[FOREIGN], 0]);
  });

  it('is not put on an object that is paused by then', async () => {
    const harness = meeting((at) => at.setMetadata((metadata) => ({ ...metadata, annotations: { [PAUSED_ANNOTATION]: '' } })));
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'paused');
    assert.deepEqual([harness.finalizers(), harness.inputs.length], [[], 0]);
  });

  it('brings no object back that was deleted meanwhile, and a late duplicate does not either (B49)', async () => {
    const harness = meeting((at) => at.deleteWidget());
    const record = harness.recordFor({ reason: 'created' });
    const uid = harness.uid();
    assert.deepEqual(await harness.invoke(record), []);
    assert.equal(harness.lastRun()['branch'], 'finalized');
    assert.deepEqual(await harness.invoke(record), []);
    assert.deepEqual(harness.east.objects(widgets), []);
    assert.deepEqual(
      harness.finalized.map((input) => [input.uid, input.object]),
      [
        [uid, undefined],
        [uid, undefined],
      ],
    );
    assert.deepEqual([harness.inputs.length, harness.queue.calls.length], [0, 0]);
  });

  it('is not put on an object that has its name by then, which gets a message of its own', async () => {
    const harness = meeting((at) => {
      at.deleteWidget();
      at.createWidget('a', ['other']);
    });
    const before = harness.uid();
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'overtaken-replacement');
    const [data] = harness.sent();
    assert.deepEqual([data?.uid, data?.resourceVersion, data?.mustRun], [harness.uid(), harness.widget()?.metadata.resourceVersion, true]);
    assert.deepEqual([harness.finalizers(), harness.inputs.length, harness.finalized[0]?.uid], [[], 0, before]);
    await harness.redeliver();
    assert.deepEqual([harness.finalizers(), [...harness.outside.things.keys()]], [[FINALIZER], [harness.uid()]]);
  });

  it('is tried again after a failure of the API server, whatever became of it there', async () => {
    for (const fault of [{ throw: new TransientError('server-error', 'no') }, { lose: new TransientError('unreachable', 'reset') }]) {
      const harness = created();
      harness.east.fault(FINALIZER_APPLY, fault);
      assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'transient');
      assert.equal(harness.outside.made.length, 0);
      assert.equal((await harness.redeliver())['branch'], 'reconciled');
      assert.deepEqual(harness.finalizers(), [FINALIZER]);
    }
  });
});

describe('the failure of a finalizer after one more read', () => {
  it('shows on the object as it is then', async () => {
    let tries = 0;
    const harness = meeting((at) => {
      tries += 1;
      if (tries === 2) throw new TransientError('forbidden', 'no');
      at.label('theirs');
    }, 2);
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'denied');
    assert.equal(harness.condition('Ready')?.['reason'], 'Forbidden');
  });
});

describe('the confirm of a kind with a finalizer', () => {
  it('reads again no more often than what the finalizer has left of three times', async () => {
    const harness = meeting((at) => void at.label(`edit ${at.east.requests.length}`), 2);
    harness.east.fault({ verb: 'applyStatus' }, { first: () => void harness.label(`edit ${harness.east.requests.length}`) }, 99);
    const line = await harness.deliver({ reason: 'created' });
    assert.deepEqual([line['branch'], line['rereadCount']], ['overtaken-foreign-fields', 3]);
    assert.equal(harness.sent()[0]?.attempt, 1);
  });

  it('meets 409 on the status three times without a second effect (B50)', async () => {
    const harness = created();
    harness.east.fault({ verb: 'applyStatus' }, { throw: new ConflictError('resource-version-conflict', 'moved') }, 3);
    assert.equal((await harness.deliver({ reason: 'created' }))['branch'], 'reconciled');
    assert.deepEqual([harness.inputs.length, harness.outside.made], [1, [harness.uid()]]);
    assert.equal(harness.status()['observedGeneration'], 1);
  });

  for (const name of ['gone', 'replaced']) {
    it(`finalizes the uid that it acted on where its object is ${name} by then (B53)`, async () => {
      const harness = created();
      harness.east.fault(
        { verb: 'applyStatus' },
        {
          first: () => {
            harness.setFinalizers([]);
            harness.deleteWidget();
            if (name === 'replaced') harness.createWidget('a', ['other']);
          },
        },
      );
      const before = harness.uid();
      const line = await harness.deliver({ reason: 'created' });
      assert.equal(line['branch'], name === 'gone' ? 'finalized' : 'overtaken-replacement');
      assert.deepEqual([...harness.outside.things.keys()], []);
      assert.deepEqual(
        harness.finalized.map(({ uid, object }) => [uid, object]),
        [[before, undefined]],
      );
      assert.equal(harness.queue.envelopes(QUEUE_URLS.live)[0]?.data.uid, name === 'gone' ? undefined : harness.uid());
    });
  }

  it('is woken for the uid that it acted on where that is not finalized at once', async () => {
    const harness = created();
    harness.finalize = () => ({ done: false, requeueAfterSeconds: 30 });
    harness.east.fault(
      { verb: 'applyStatus' },
      {
        first: () => {
          harness.setFinalizers([]);
          harness.deleteWidget();
          harness.createWidget('a', ['other']);
        },
      },
    );
    const before = harness.uid();
    // Without a uid the message is about whatever has the name; what it acted on stays known all the same.
    const line = await harness.deliver({ reason: 'created', uid: undefined });
    assert.equal(line['branch'], 'requeue-after');
    const [data] = harness.sent();
    assert.deepEqual([data?.reason, data?.uid, data?.mustRun], ['requeue', before, true]);
    harness.finalize = () => ({ done: true });
    assert.equal((await harness.redeliver())['branch'], 'overtaken-replacement');
    assert.deepEqual([...harness.outside.things.keys()], []);
    assert.equal(harness.sent()[1]?.uid, harness.uid());
  });
});
