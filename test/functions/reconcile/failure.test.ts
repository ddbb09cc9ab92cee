import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { ConflictError, TerminalError, TransientError } from '../../../functions/core/errors.ts';
import { configMaps } from '../../../functions/core/kinds.ts';
import { Harness, planFor, widgets } from './harness.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS } from './records.ts';

function failing(author: Harness['author']): Harness {
  const harness = new Harness();
  harness.createWidget();
  harness.author = author;
  return harness;
}

const throws = (error: unknown) => (): never => {
  throw error;
};

const plans: Harness['author'] = ({ object }) => planFor(object);

describe('a failure on the object', () => {
  it('is shown after the author’s first error, for its generation, and the top-level generation stays', async () => {
    const harness = failing(throws(new Error('no quota service')));
    await harness.deliver({ reason: 'created' });
    const ready = harness.condition('Ready');
    assert.equal(ready?.['status'], 'False');
    assert.equal(ready?.['reason'], 'AuthorError');
    assert.match(String(ready?.['message']), /no quota service/);
    assert.equal(ready?.['observedGeneration'], 1);
    assert.equal(harness.status()['observedGeneration'], undefined);
    assert.equal(harness.condition('Stalled'), undefined);
  });

  it('does not make the retry mustRun, so that a newer generation supersedes it (B41)', async () => {
    const harness = failing(throws(new Error('boom')));
    await harness.deliver({ reason: 'created' });
    assert.equal(harness.queue.envelopes(QUEUE_URLS.live)[0]?.data.mustRun, false);
    harness.setConfig(['two']);
    assert.equal((await harness.redeliver())['branch'], 'retry-superseded');
  });

  it('tells where an author’s exception came from in the log line, and nowhere else', async () => {
    const harness = failing(function quota(): never {
      throw new RangeError('no quota');
    });
    const line = await harness.deliver({ reason: 'retry', attempt: 10, mustRun: true });
    assert.match(String(line['stack']), /^at .*\bquota .*failure\.test\.ts:\d+:\d+/);
    assert.doesNotMatch(String(line['stack']), /no quota/);
    assert.equal(harness.queue.envelopes(DEAD_LETTER_QUEUE_URL).length, 1);
    assert.doesNotMatch(JSON.stringify([harness.widget(), harness.east.events, harness.queue.accepted]), /failure\.test/);
  });

  it('tells where a fault of our own came from as well', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.east.fault({ verb: 'applyStatus' }, { throw: new TypeError('cannot read properties of undefined') });
    const line = await harness.deliver({ reason: 'created' });
    assert.deepEqual([line['branch'], line['code']], ['unknown', 'unclassified']);
    assert.match(String(line['stack']), /^at .*failure\.test\.ts:\d+:\d+/);
  });

  it('has no stack where it is classified, or a Plan that is invalid', async () => {
    for (const author of [() => 42, throws(new TerminalError('no-such-plan', 'choose another plan'))]) {
      assert.equal('stack' in (await failing(author).deliver({ reason: 'created' })), false);
    }
  });

  it('keeps what the last success wrote', async () => {
    const harness = new Harness();
    harness.createWidget();
    await harness.deliver({ reason: 'created' });
    harness.setConfig(['two']);
    harness.author = throws(new Error('boom'));
    await harness.deliver();
    assert.equal(harness.status()['count'], 1);
    assert.equal(harness.status()['observedGeneration'], 1);
    assert.equal(harness.condition('Ready')?.['observedGeneration'], 2);
  });

  it('goes with the next success', async () => {
    const harness = failing(throws(new TerminalError('no-such-plan', 'choose another plan')));
    await harness.deliver({ reason: 'created' });
    assert.equal(harness.condition('Stalled')?.['status'], 'True');
    harness.author = ({ object }) => planFor(object);
    harness.setConfig(['two']);
    await harness.deliver();
    assert.equal(harness.condition('Ready')?.['status'], 'True');
    assert.equal(harness.condition('Stalled'), undefined);
  });

  it('is shown with Stalled when the message is a dead letter', async () => {
    const harness = failing(throws(new TerminalError('no-such-plan', 'choose another plan')));
    const line = await harness.deliver({ reason: 'created' });
    assert.deepEqual([line['disposition'], line['because']], ['dead-letter', 'refused']);
    assert.equal(harness.condition('Ready')?.['reason'], 'NoSuchPlan');
    assert.deepEqual([harness.condition('Stalled')?.['status'], harness.condition('Stalled')?.['reason']], ['True', 'DeadLettered']);
  });

  it('says on the object what runs it again once its cause is mended, and that does', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.createConfig('one');
    assert.equal((await harness.deliver({ reason: 'created' }))['code'], 'child-not-owned');
    for (const type of ['Ready', 'Stalled'])
      assert.match(String(harness.condition(type)?.['message']), /change the spec, or set and remove the annotation dogwatch\.dev\/paused/);
    harness.east.delete(configMaps, { namespace: 'widget-a', name: 'one' });
    const line = await harness.deliver({ reason: 'resumed', mustRun: true });
    assert.equal(line['branch'], 'reconciled');
    assert.equal(harness.condition('Stalled'), undefined);
  });

  const passing: { name: string; row: string; author?: Harness['author']; verb?: 'apply' | 'list'; fault?: Error }[] = [
    { name: 'the author’s own transient error', row: 'transient', author: throws(new TransientError('busy', 'wait')) },
    { name: 'a child kind that is not served', row: 'unknown-target', verb: 'list', fault: new TransientError('not-served', 'no CRD') },
    { name: 'a namespace that is missing', row: 'waiting', verb: 'apply', fault: new TransientError('namespace-missing', 'none') },
    { name: 'another field manager', row: 'field-conflict', verb: 'apply', fault: new ConflictError('field-manager-conflict', 'x') },
  ];
  for (const { name, row, author = plans, verb = 'apply', fault } of passing) {
    for (const before of [0, 1, 2]) {
      it(`of ${name} is ${before < 2 ? 'not ' : ''}shown at failure ${before + 1} of its row, whatever the attempt`, async () => {
        const harness = failing(author);
        if (fault !== undefined) harness.east.fault({ verb, kind: 'ConfigMap' }, { throw: fault });
        const failures = { [row]: before, 'author-error': 7 };
        const line = await harness.deliver({ reason: 'retry', attempt: before + 8, failures });
        assert.deepEqual([line['branch'], line['disposition']], [row, 'requeue']);
        assert.equal(harness.condition('Ready')?.['status'], before < 2 ? undefined : 'False');
      });
    }
  }

  it('is never shown for the API server’s own troubles, also where the author’s read met them', async () => {
    const harness = failing(({ read }) => read(configMaps, { namespace: 'x', name: 'y' }));
    harness.east.fault({ verb: 'get', name: 'y' }, { throw: new TransientError('server-error', 'down') }, 9);
    const line = await harness.deliver({ reason: 'retry', attempt: 9, failures: { transient: 8 } });
    assert.equal(line['branch'], 'transient');
    assert.equal(harness.condition('Ready'), undefined);
  });

  it('is shown at once when a write is denied (B54)', async () => {
    const harness = failing(({ object }) => planFor(object));
    harness.east.fault({ verb: 'apply' }, { throw: new TransientError('forbidden', 'may not') });
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'denied');
    assert.equal(harness.condition('Ready')?.['reason'], 'Forbidden');
    assert.equal(harness.lines.at(-1)?.level, 'error');
  });

  it('is shown when the API server refuses the status (422), and the message is a letter', async () => {
    const harness = failing(({ object }) => planFor(object));
    harness.east.fault({ verb: 'applyStatus' }, { throw: new TerminalError('invalid', 'status.count in body must be less than 3') });
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['disposition'], 'dead-letter');
    assert.equal(harness.condition('Ready')?.['reason'], 'Invalid');
    const letter = harness.queue.envelopes(DEAD_LETTER_QUEUE_URL)[0]?.data;
    assert.equal(letter?.diagnosis?.code, 'invalid');
    assert.equal(letter?.diagnosis?.generationSeen, 1);
    assert.equal(letter?.diagnosis?.functionVersion, '7');
  });

  it('of an object that does not fit its schema is shown, and the author is not asked', async () => {
    const harness = failing(({ object }) => planFor(object));
    harness.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['spec'] = { config: 'no list' };
    });
    const line = await harness.deliver();
    assert.equal(line['code'], 'invalid-object');
    assert.equal(harness.condition('Ready')?.['reason'], 'InvalidObject');
    assert.deepEqual(harness.inputs, []);
  });

  for (const { name, refine } of [
    {
      name: 'throws',
      refine: (): boolean => {
        throw new Error('schema');
      },
    },
    { name: 'is async', refine: async (): Promise<boolean> => true },
  ]) {
    it(`is the author’s where a check of the schema ${name}`, async () => {
      const harness = failing(({ object }) => planFor(object));
      harness.resource = { ...widgets, spec: z.object({ config: z.array(z.string()) }).refine(refine) };
      const line = await harness.deliver({ reason: 'created' });
      assert.deepEqual([line['branch'], line['disposition'], line['stage']], ['author-error', 'requeue', 'author']);
      assert.equal(harness.condition('Ready')?.['reason'], 'AuthorError');
    });
  }

  it('is not written over what moved the object in between, and is tried once', async () => {
    const harness = failing(throws(new Error('boom')));
    harness.east.fault({ verb: 'applyStatus' }, { first: () => void harness.label('x') });
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['disposition'], 'requeue');
    assert.equal(harness.condition('Ready'), undefined);
    assert.equal(harness.east.requestsOf('applyStatus').length, 1);
    assert.equal(harness.queue.envelopes(QUEUE_URLS.live).length, 1);
  });

  it('of a letter is shown although foreign fields moved, after one more read', async () => {
    const harness = failing(throws(new TerminalError('no-such-plan', 'choose another plan')));
    harness.east.fault({ verb: 'applyStatus' }, { first: () => void harness.label('x') });
    assert.equal((await harness.deliver({ reason: 'created' }))['disposition'], 'dead-letter');
    assert.deepEqual([harness.condition('Ready')?.['status'], harness.condition('Stalled')?.['status']], ['False', 'True']);
    assert.equal(harness.east.requestsOf('applyStatus').length, 2);
  });

  it('of a letter is not shown for a newer generation or another object', async () => {
    for (const first of [
      (at: Harness) => void at.setConfig(['two']),
      (at: Harness) => {
        at.east.delete(widgets, { name: 'a' });
        at.createWidget();
      },
    ]) {
      const harness = failing(throws(new TerminalError('no-such-plan', 'choose another plan')));
      harness.east.fault({ verb: 'applyStatus' }, { first: () => first(harness) });
      assert.equal((await harness.deliver({ reason: 'created' }))['disposition'], 'dead-letter');
      assert.deepEqual(harness.status(), {});
    }
  });

  it('of a letter for a run that was overtaken is shown for the generation that is there', async () => {
    const harness = failing(({ object }) => planFor(object));
    harness.east.fault({ verb: 'applyStatus' }, { first: () => void harness.setConfig(['two']) });
    const line = await harness.deliver({ reason: 'retry', mustRun: true, attempt: 20 });
    assert.deepEqual([line['branch'], line['disposition'], line['because']], ['overtaken-newer-spec', 'dead-letter', 'attempts']);
    assert.equal(harness.condition('Ready')?.['reason'], 'Overtaken');
    assert.equal(harness.condition('Stalled')?.['observedGeneration'], 2);
  });

  it('of a run that was overtaken by another object once too often is neither shown on that one nor held against it', async () => {
    const harness = failing(({ object }) => planFor(object));
    const first = (): void => {
      harness.east.delete(widgets, { name: 'a' });
      harness.createWidget();
    };
    harness.east.fault({ verb: 'applyStatus' }, { first });
    const line = await harness.deliver({ reason: 'retry', mustRun: true, attempt: 20 });
    assert.deepEqual([line['branch'], line['disposition']], ['overtaken-replacement', 'requeue']);
    assert.deepEqual(harness.status(), {});
  });

  it('writes nothing new when the same failure comes again', async () => {
    const harness = failing(throws(new Error('boom')));
    await harness.deliver({ reason: 'created' });
    const before = harness.widget()?.metadata.resourceVersion;
    await harness.redeliver();
    assert.equal(harness.widget()?.metadata.resourceVersion, before);
    assert.equal(harness.lastRun()['attempt'], 2);
  });
});

describe('Kubernetes Events', () => {
  const nameOf = (event: Record<string, unknown>): string => (event['metadata'] as { name: string }).name;
  const told = (harness: Harness) => harness.east.events.map(({ type, reason }) => `${type} ${reason}`);

  it('tell once that Ready changed, in a form that the API server takes', async () => {
    const harness = new Harness();
    const { uid, resourceVersion } = harness.createWidget().metadata;
    await harness.deliver({ reason: 'created' });
    harness.setConfig(['two']);
    await harness.deliver();
    assert.equal(harness.east.events.length, 1);
    const [event = {}] = harness.east.events;
    assert.deepEqual(event, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: nameOf(event), namespace: 'default' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'dogwatch',
      reportingInstance: 'dogwatch-reconcile',
      action: 'Reconcile',
      type: 'Normal',
      reason: 'Reconciled',
      note: 'Everything that the spec asks for has been applied',
      regarding: { apiVersion: 'platform.example/v1', kind: 'Widget', name: 'a', uid, resourceVersion },
    });
    assert.match(nameOf(event), /^a\.[0-9a-f]{16}$/);
    assert.equal(harness.east.requestsOf('createEvent')[0]?.namespace, 'default');
  });

  it('tell of a failure, of a dead letter, and of the recovery', async () => {
    const harness = failing(throws(new TerminalError('no-such-plan', 'choose another plan')));
    await harness.deliver({ reason: 'created' });
    assert.deepEqual(told(harness), ['Warning NoSuchPlan', 'Warning DeadLettered']);
    await harness.deliver({ reason: 'replay', mustRun: true });
    assert.deepEqual(told(harness).slice(2), ['Warning DeadLettered']);
    harness.author = ({ object }) => planFor(object);
    await harness.deliver({ reason: 'replay', mustRun: true });
    assert.deepEqual(told(harness).slice(3), ['Normal Reconciled']);
  });

  it('have a name and a note that fit, whatever the object and the failure are called', async () => {
    const harness = new Harness();
    const name = `${'x'.repeat(199)}-${'y'.repeat(53)}`;
    harness.createWidget(name);
    harness.author = throws(new Error('€'.repeat(5000)));
    await harness.deliver({ name, reason: 'created' });
    const [event = {}] = harness.east.events;
    assert.match(nameOf(event), /^x{199}\.[0-9a-f]{16}$/);
    assert.ok(Buffer.byteLength(String(event['note'])) <= 1024);
  });

  it('change nothing when they cannot be written', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.east.fault({ verb: 'createEvent' }, { throw: new TransientError('forbidden', 'may not') });
    const line = await harness.deliver({ reason: 'created' });
    assert.equal(line['branch'], 'reconciled');
    assert.equal(line['disposition'], 'done');
  });
});

describe('an object whose conditions are one value in its CRD (B47)', () => {
  it('is refused before anything is written, so that conditions of others are not erased', async () => {
    const harness = new Harness();
    harness.createWidget();
    const foreign = [{ type: 'Synced', status: 'True', reason: 'Ok', message: '', lastTransitionTime: '2026-11-01T00:00:00Z' }];
    harness.east.edit(widgets, { name: 'a' }, (draft) => {
      const fieldsV1 = { 'f:status': { 'f:conditions': {} } };
      const managedFields = [{ manager: 'other', operation: 'Update', subresource: 'status', fieldsV1 }];
      draft['metadata'] = { ...(draft['metadata'] as object), managedFields };
      draft['status'] = { conditions: foreign };
    });
    harness.takeRequests();
    await harness.deliver({ reason: 'created' });
    assert.deepEqual(harness.takeRequests(), ['get Widget']);
    assert.deepEqual(harness.status()['conditions'], foreign);
    assert.equal(harness.queue.accepted[0]?.queueUrl, DEAD_LETTER_QUEUE_URL);
    assert.equal(harness.queue.accepted[0]?.message.attributes?.['code'], 'conditions-not-mergeable');
  });
});
