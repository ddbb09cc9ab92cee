import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PAUSED_ANNOTATION } from '../../../events/labels.ts';
import { TerminalError, TransientError } from '../../../functions/core/errors.ts';
import { hasLabel } from '../../../functions/core/predicates.ts';
import { REFUSED, RETRY } from '../../fakes/queue.ts';
import { widgets } from './harness.ts';
import { FINALIZER, FOREIGN, OutsideHarness } from './outside-world.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS } from './records.ts';

/** A Widget that was reconciled, has these finalizers and is being deleted. */
async function deleting(finalizers: readonly string[] = [FINALIZER]): Promise<OutsideHarness> {
  const harness = new OutsideHarness();
  harness.createWith(finalizers);
  await harness.deliver({ reason: 'created' });
  harness.deleteWidget();
  harness.takeRequests();
  return harness;
}

const patches = (harness: OutsideHarness) => harness.east.requestsOf('patchFinalizers');

describe('a run for an object that is being deleted', () => {
  it('finalizes, sends `deleted`, and only then takes the finalizer off', async () => {
    const harness = await deleting();
    const { uid, resourceVersion, generation } = harness.widget()?.metadata ?? {};
    const order: string[] = [];
    harness.finalize = () => {
      order.push(`finalize ${harness.finalizers()}`);
      return { done: true };
    };
    harness.queue.answer = () => {
      order.push(`send ${harness.finalizers()}`);
      return { kind: 'sent' };
    };
    const line = await harness.deliver({ reason: 'deleting' });
    assert.deepEqual([line['branch'], line['disposition']], ['finalized', 'done']);
    assert.deepEqual(order, [`finalize ${FINALIZER}`, `send ${FINALIZER}`]);
    assert.deepEqual(harness.takeRequests(), ['get Widget', 'patchFinalizers Widget']);
    assert.equal(harness.widget(), undefined);
    const { data } = harness.queue.envelopes(QUEUE_URLS.live)[0] ?? {};
    assert.deepEqual(data, {
      ...{ cluster: 'east', group: 'platform.example', version: 'v1', kind: 'Widget', plural: 'widgets', name: 'a' },
      ...{ uid, resourceVersion, generation, reason: 'deleted', mustRun: false, attempt: 1 },
      firstSeenAt: harness.clock.now().toISOString(),
    });
    assert.equal(harness.queue.accepted[0]?.message.delaySeconds, 35);
  });

  it('hands the author the object, frozen, with its uid; then asks again for the uid alone', async () => {
    const harness = await deleting();
    const { uid } = harness.widget()?.metadata ?? {};
    await harness.deliver({ reason: 'deleting' });
    assert.equal((await harness.redeliver())['branch'], 'finalized');
    const [first, second] = harness.finalized;
    assert.deepEqual([first?.uid, first?.object?.spec, first?.key.name], [uid, { config: ['one'] }, 'a']);
    assert.ok(Object.isFrozen(first?.object?.spec) && Object.isFrozen(first?.key));
    assert.equal(first?.object?.metadata.managedFields, undefined);
    assert.deepEqual([second?.uid, second?.object], [uid, undefined]);
    assert.deepEqual(harness.queue.accepted.length, 1);
  });

  it('is finalized without its spec where that does not fit the schema, and does not need one', async () => {
    const harness = await deleting();
    harness.east.edit(widgets, { name: 'a' }, (draft) => (draft['spec'] = { config: 7 }));
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'finalized');
    assert.equal(harness.finalized[0]?.object, undefined);
    assert.equal(harness.widget(), undefined);
  });

  it('is finalized although it is settled, held back by a predicate, or its retry is an old one', async () => {
    for (const over of [{ reason: 'sweep' }, { reason: 'deleting' }, { reason: 'retry', generation: 1, attempt: 3 }] as const) {
      const harness = await deleting();
      harness.watch = { predicate: hasLabel('wanted') };
      harness.east.edit(widgets, { name: 'a' }, (draft) => (draft['status'] = { observedGeneration: 2 }));
      assert.equal((await harness.deliver(over))['branch'], 'finalized', over.reason);
      assert.deepEqual([harness.widget(), [...harness.outside.things]], [undefined, []]);
    }
  });

  it('is left alone while it is paused, and finalized when the pause ends', async () => {
    const harness = await deleting();
    harness.setMetadata((metadata) => ({ ...metadata, annotations: { [PAUSED_ANNOTATION]: '' } }));
    assert.equal((await harness.deliver({ reason: 'deleting', mustRun: true }))['branch'], 'paused');
    assert.deepEqual([harness.finalized.length, harness.queue.calls.length, harness.outside.things.size], [0, 0, 1]);
    harness.setMetadata(({ annotations: _, ...metadata }) => metadata);
    assert.equal((await harness.deliver({ reason: 'resumed', mustRun: true }))['branch'], 'finalized');
    assert.equal(harness.outside.things.size, 0);
  });

  it('is found by a message without a uid', async () => {
    const harness = await deleting();
    const { uid } = harness.widget()?.metadata ?? {};
    assert.equal((await harness.deliver({ reason: 'deleting', uid: undefined }))['branch'], 'finalized');
    assert.deepEqual([harness.finalized[0]?.uid, harness.sent()[0]?.uid], [uid, uid]);
  });

  it('is let go although what was outside is gone already (B53)', async () => {
    const harness = await deleting();
    harness.outside.things.clear();
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'finalized');
    assert.equal(harness.widget(), undefined);
  });

  it('is not asked about where our finalizer is off and others hold it', async () => {
    const harness = await deleting([FOREIGN, FINALIZER]);
    harness.setFinalizers([FOREIGN]);
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'deleting');
    assert.deepEqual([harness.finalized.length, harness.takeRequests()], [0, ['get Widget']]);
  });

  it('is finalized again while others hold it, where a run may have acted after the finalizer came off', async () => {
    for (const over of [{ reason: 'deleted' }, { reason: 'retry', mustRun: true }] as const) {
      const harness = await deleting([FOREIGN, FINALIZER]);
      await harness.deliver({ reason: 'deleting' });
      harness.outside.ensure(harness.uid(), 'late');
      harness.finalize = () => Promise.reject(new TransientError('busy', 'wait'));
      assert.equal((await harness.deliver(over))['branch'], 'transient', over.reason);
      harness.finalize = () => ({ done: true });
      assert.equal((await harness.redeliver())['branch'], 'deleting', over.reason);
      assert.deepEqual([harness.outside.things.size, harness.finalizers()], [0, [FOREIGN]]);
      assert.equal(patches(harness).length, 1);
    }
  });
});

describe('a finalizer that is not done', () => {
  it('stays on: the object is woken when finalize says, and says so in its status', async () => {
    const harness = await deleting();
    harness.finalize = () => ({ done: false, requeueAfterSeconds: 60 });
    const line = await harness.deliver({ reason: 'deleting' });
    assert.deepEqual([line['branch'], line['delaySeconds']], ['requeue-after', 60]);
    const [data] = harness.sent();
    const { uid, resourceVersion } = harness.widget()?.metadata ?? {};
    assert.deepEqual([data?.reason, data?.mustRun, data?.uid, data?.resourceVersion], ['requeue', true, uid, resourceVersion]);
    assert.equal(harness.status()['nextReconcileTime'], data?.notBefore);
    assert.deepEqual([harness.status()['count'], harness.condition('Ready')?.['status']], [1, 'True']);
    assert.deepEqual([harness.finalizers(), patches(harness).length], [[FINALIZER], 0]);
    harness.finalize = () => ({ done: true });
    assert.equal((await harness.redeliver())['branch'], 'finalized');
    assert.equal(harness.widget(), undefined);
  });

  it('keeps one chain of wake-ups, however many messages come in between', async () => {
    const harness = await deleting();
    harness.finalize = () => ({ done: false, requeueAfterSeconds: 60 });
    await harness.deliver({ reason: 'deleting' });
    for (let pass = 0; pass < 5; pass += 1) {
      await harness.clock.advance(1000);
      assert.equal((await harness.deliver({ reason: 'child-changed', mustRun: true }))['branch'], 'deleting');
    }
    assert.equal(harness.sent().length, 1);
  });

  it('is woken also where its status can not be written', async () => {
    for (const fault of [
      (harness: OutsideHarness) => ({ first: () => void harness.label('x') }),
      () => ({ throw: new TerminalError('final-server-error', 'field not declared in schema') }),
    ]) {
      const harness = await deleting();
      harness.finalize = () => ({ done: false, requeueAfterSeconds: 60 });
      harness.east.fault({ verb: 'applyStatus' }, fault(harness));
      assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'requeue-after');
      assert.equal(harness.status()['nextReconcileTime'], undefined);
      assert.equal(harness.sent()[0]?.uid, harness.uid());
    }
  });

  it('neither waits nor fails in the status of an object whose conditions are one value in its CRD', async () => {
    const harness = new OutsideHarness();
    harness.createWith([FINALIZER]);
    harness.deleteWidget();
    const conditions = [{ type: 'Synced', status: 'True', reason: 'Ok', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const theirs = { manager: 'other', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': { 'f:conditions': {} } } };
    harness.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['status'] = { conditions };
      draft['metadata'] = { ...(draft['metadata'] as object), managedFields: [theirs] };
    });
    harness.takeRequests();
    harness.finalize = () => ({ done: false, requeueAfterSeconds: 60 });
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'requeue-after');
    harness.finalize = () => {
      throw new Error('boom');
    };
    assert.equal((await harness.redeliver())['branch'], 'author-error');
    assert.deepEqual([harness.status()['conditions'], harness.takeRequests()], [conditions, ['get Widget', 'get Widget']]);
    harness.finalize = () => ({ done: true });
    assert.equal((await harness.redeliver())['branch'], 'finalized');
  });

  const forgetful: readonly (readonly [string, (harness: OutsideHarness) => void])[] = [
    [
      'whose conditions are one value',
      (harness) => {
        const conditions = [{ type: 'Synced', status: 'True', reason: 'Ok', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
        const theirs = { manager: 'other', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': { 'f:conditions': {} } } };
        harness.east.edit(widgets, { name: 'a' }, (draft) => {
          draft['status'] = { conditions };
          draft['metadata'] = { ...(draft['metadata'] as object), managedFields: [theirs] };
        });
      },
    ],
    [
      'whose CRD drops the time',
      (harness) => {
        const { applyStatus } = harness.east.client;
        const dropping: typeof applyStatus = (type, { status, ...body }, options) => {
          const { nextReconcileTime: _, ...kept } = status as Record<string, unknown>;
          return applyStatus(type, { ...body, status: kept }, options);
        };
        Object.assign(harness.east.client, { applyStatus: dropping });
      },
    ],
    [
      'whose CRD refuses the time',
      (harness) =>
        harness.east.fault({ verb: 'applyStatus' }, { throw: new TerminalError('final-server-error', 'field not declared in schema') }, 9),
    ],
  ];
  for (const [name, forget] of forgetful) {
    it(`keeps one chain of wake-ups for an object ${name}, whatever the watcher sends meanwhile`, async () => {
      const harness = await deleting();
      forget(harness);
      harness.finalize = () => ({ done: false, requeueAfterSeconds: 60 });
      assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'requeue-after');
      for (const reason of ['sweep', 'resync', 'child-changed'] as const) {
        await harness.clock.advance(1000);
        assert.equal((await harness.deliver({ reason, mustRun: reason !== 'sweep' }))['branch'], 'deleting', reason);
      }
      assert.deepEqual([harness.sent().length, harness.status()['nextReconcileTime']], [1, undefined]);
      assert.equal((await harness.redeliver())['branch'], 'requeue-after');
    });
  }

  it('is woken again and again for an object that is gone, until it is done', async () => {
    const harness = await deleting();
    const uid = harness.uid();
    harness.finalize = () => ({ done: false, requeueAfterSeconds: 2000 });
    harness.setFinalizers([]);
    await harness.deliver({ reason: 'deleted', uid });
    const [data] = harness.sent();
    assert.deepEqual([data?.reason, data?.uid, harness.queue.accepted[0]?.message.delaySeconds], ['requeue', uid, 900]);
    assert.equal((await harness.redeliver())['branch'], 'not-due');
    assert.equal((await harness.redeliver())['branch'], 'not-due');
    harness.finalize = () => ({ done: true });
    assert.equal((await harness.redeliver())['branch'], 'finalized');
    assert.deepEqual([...harness.outside.things], []);
  });

  it('is told of where the object is gone and it is older than a message may become; each of its errors still has a budget', async () => {
    const harness = await deleting();
    const uid = harness.uid();
    harness.finalize = () => ({ done: false, requeueAfterSeconds: 900 });
    harness.setFinalizers([]);
    const firstSeenAt = harness.clock.now().toISOString();
    await harness.deliver({ reason: 'deleted', uid, firstSeenAt });
    const told = () => harness.lines.filter(({ level, fields }) => level === 'warn' && fields['uid'] === uid);
    for (let wake = 0; wake < 23; wake += 1) assert.equal((await harness.redeliver())['branch'], 'requeue-after');
    assert.deepEqual([told(), harness.sent().at(-1)?.firstSeenAt], [[], firstSeenAt]);
    await harness.redeliver();
    const fields = { key: 'east/platform.example/Widget//a', uid, ageSeconds: 21_600 };
    assert.deepEqual(told(), [{ level: 'warn', message: 'finalize is not done for an object that is gone; it is asked again', fields }]);
    harness.finalize = () => Promise.reject(new TransientError('busy', 'wait'));
    assert.deepEqual([(await harness.redeliver())['branch'], harness.lastRun()['disposition']], ['transient', 'requeue']);
    harness.finalize = () => ({ done: true });
    assert.equal((await harness.redeliver())['branch'], 'finalized');
  });
});

describe('a finalizer that fails', () => {
  it('stays on, shows its error at once, ends as a letter, and runs again when somebody changes the object', async () => {
    const harness = await deleting();
    harness.finalize = () => {
      throw new RangeError('no such queue');
    };
    assert.equal((await harness.deliver({ reason: 'deleting' }))['branch'], 'author-error');
    assert.equal(harness.condition('Ready')?.['reason'], 'AuthorError');
    for (let attempt = 2; attempt <= 10; attempt += 1) await harness.redeliver();
    const [letter] = harness.queue.envelopes(DEAD_LETTER_QUEUE_URL);
    assert.deepEqual([letter?.data.uid, letter?.data.diagnosis?.code], [harness.uid(), 'author-error']);
    assert.equal(harness.condition('Stalled')?.['status'], 'True');
    assert.deepEqual([harness.finalizers(), patches(harness).length, harness.outside.things.size], [[FINALIZER], 0, 1]);
    harness.finalize = () => ({ done: true });
    harness.setConfig(['two']);
    assert.equal((await harness.deliver({ reason: 'generation-changed' }))['branch'], 'finalized');
    assert.equal(harness.widget(), undefined);
  });

  const nonsense: readonly (readonly [string, (harness: OutsideHarness) => unknown, string])[] = [
    ['throws no Error', () => Promise.reject('plain text'), 'author-error'],
    ['returns nothing', () => undefined, 'author-error'],
    ['says done with a text', () => ({ done: 'yes' }), 'author-error'],
    ['is not done and says not when', () => ({ done: false }), 'author-error'],
    ['wants to wait no time', () => ({ done: false, requeueAfterSeconds: 0 }), 'author-error'],
    ['throws a transient error', () => Promise.reject(new TransientError('busy', 'wait')), 'transient'],
    ['changes what it was given', ({ finalized }) => ((finalized[0]?.object?.spec as { config?: unknown }).config = []), 'author-error'],
    ['never ends', () => new Promise(() => {}), 'unknown'],
  ];
  for (const [name, finalize, branch] of nonsense) {
    it(`keeps the object where it ${name}`, async () => {
      const harness = await deleting();
      harness.finalize = () => finalize(harness);
      const line = await harness.deliver({ reason: 'deleting' });
      assert.equal(line['branch'], branch);
      assert.deepEqual([harness.finalizers(), patches(harness).length, harness.outside.things.size], [[FINALIZER], 0, 1]);
      assert.equal(harness.sent().filter(({ reason }) => reason === 'deleted').length, 0);
      if (branch !== 'transient') assert.equal(harness.condition('Ready')?.['status'], 'False');
    });
  }

  it('of an object that is gone shows nothing on its successor, and ends as a letter with its own uid', async () => {
    const harness = await deleting();
    const uid = harness.uid();
    harness.setFinalizers([]);
    const other = harness.createWidget('a', ['other']).metadata.uid;
    harness.finalize = () => {
      throw new Error('boom');
    };
    await harness.deliver({ reason: 'deleted', uid });
    for (let attempt = 2; attempt <= 10; attempt += 1) await harness.redeliver();
    const [letter] = harness.queue.envelopes(DEAD_LETTER_QUEUE_URL);
    assert.deepEqual([letter?.data.uid, letter?.data.diagnosis?.attempts.length], [uid, 10]);
    assert.deepEqual([harness.uid(), harness.widget()?.['status']], [other, undefined]);
    assert.ok(harness.finalized.every((input) => input.uid === uid && input.object === undefined));
  });

  it('does not hold another object of the batch back', async () => {
    const harness = await deleting();
    harness.createWidget('b');
    harness.finalize = () => new Promise(() => {});
    const failed = await harness.invoke(harness.recordFor({ reason: 'deleting' }, { messageId: 'm1' }), harness.recordFor({ name: 'b' }));
    assert.deepEqual([failed, harness.status('b')['observedGeneration']], [['m1'], 1]);
  });
});

describe('a `deleted` that SQS does not take', () => {
  for (const [name, answer] of [
    ['refuses', () => REFUSED],
    ['throttles', () => RETRY],
    ['says nothing of', () => undefined],
    [
      'can not be reached for',
      () => {
        throw new Error('socket hang up');
      },
    ],
  ] as const) {
    it(`keeps the finalizer on: a message that SQS ${name}`, async () => {
      const harness = await deleting();
      harness.queue.answer = (message) => (message.delaySeconds === 35 ? answer() : { kind: 'sent' });
      const line = await harness.deliver({ reason: 'deleting' });
      assert.deepEqual([line['branch'], line['code'], line['acknowledged']], ['transient', 'send-failed', true]);
      assert.deepEqual([harness.finalizers(), patches(harness).length], [[FINALIZER], 0]);
      harness.queue.answer = () => ({ kind: 'sent' });
      assert.equal((await harness.redeliver())['branch'], 'finalized');
    });
  }

  it('keeps it on also where nothing at all can be sent: the message stays in its queue', async () => {
    const harness = await deleting();
    harness.queue.answer = () => RETRY;
    assert.equal((await harness.invoke(harness.recordFor({ reason: 'deleting' }))).length, 1);
    assert.deepEqual(harness.finalizers(), [FINALIZER]);
  });
});
