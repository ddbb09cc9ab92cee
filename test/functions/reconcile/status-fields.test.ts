/** CRDs that do not keep what the framework writes into status. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { TerminalError } from '../../../functions/core/errors.ts';
import { isJsonObject } from '../../../functions/core/plain-json.ts';
import { Harness, widgets } from './harness.ts';
import { DEAD_LETTER_QUEUE_URL } from './records.ts';

let h: Harness;
/** What the API server does about `status.observedGeneration`. */
let keeping: 'kept' | 'pruned' | 'refused';

beforeEach(() => {
  h = new Harness();
  keeping = 'pruned';
  const { client } = h.east;
  const { applyStatus } = client;
  client.applyStatus = async (type, body, options) => {
    const { observedGeneration, ...rest } = isJsonObject(body['status']) ? body['status'] : {};
    if (keeping === 'kept' || observedGeneration === undefined) return applyStatus(type, body, options);
    if (keeping === 'pruned') return applyStatus(type, { ...body, status: rest }, options);
    throw new TerminalError('final-server-error', 'the API server cannot take this object in any attempt', {
      facts: { serverMessage: 'failed to create typed patch object (/a): .status.observedGeneration: field not declared in schema' },
    });
  };
  h.createWidget();
});

const letters = () => h.queue.envelopes(DEAD_LETTER_QUEUE_URL).map(({ data }) => data.diagnosis);

describe('a CRD without status.observedGeneration', () => {
  it('is reported once, and its object is not run again at each pass (B46)', async () => {
    const record = h.recordFor({ reason: 'created' });
    const branches: unknown[] = [];
    for (let pass = 1; pass <= 5; pass += 1) {
      await h.clock.advance(1200);
      await h.invoke(record);
      branches.push(h.lastRun()['branch']);
    }
    assert.deepEqual(branches, ['reconciled', 'refused', 'settled', 'settled', 'settled']);
    assert.equal(h.inputs.length, 1, 'what the author does outside is done once');
    assert.deepEqual(
      letters().map((diagnosis) => diagnosis?.code),
      ['status-field-missing'],
    );
    assert.match(String(letters()[0]?.message), /dogwatch crds/);
    assert.deepEqual([h.condition('Ready')?.['reason'], h.condition('Stalled')?.['status']], ['StatusFieldMissing', 'True']);
  });

  it('is reported where the API server refuses the field, with the remedy and no second run', async () => {
    keeping = 'refused';
    await h.deliver({ reason: 'created' });
    assert.deepEqual([h.lastRun()['code'], letters().length], ['status-field-missing', 1]);
    assert.equal((await h.deliver({ reason: 'sweep' }))['branch'], 'settled');
    assert.deepEqual([h.inputs.length, letters().length], [1, 1]);
  });

  it('holds up no new generation: each is run, and reported, once', async () => {
    for (const config of [['one'], ['two'], ['three']]) {
      h.setConfig(config);
      for (let pass = 1; pass <= 3; pass += 1) await h.deliver();
      assert.deepEqual(h.configNames(), config);
    }
    assert.deepEqual([h.inputs.length, letters().length], [3, 3]);
  });

  for (const [remedy, config, over] of [
    ['annotation that pauses it was set and removed', ['one'], { reason: 'resumed', mustRun: true }],
    ['spec changed', ['two'], {}],
    ['resync came', ['one'], { reason: 'resync', mustRun: true }],
  ] as const)
    it(`is forgotten once it is mended and the ${remedy}`, async () => {
      await h.deliver({ reason: 'created' });
      await h.deliver({ reason: 'sweep' });
      keeping = 'kept';
      h.setConfig([...config]);
      assert.equal((await h.deliver(over))['branch'], 'reconciled');
      assert.deepEqual([h.status()['observedGeneration'], h.condition('Stalled')], [h.widget()?.metadata.generation, undefined]);
      assert.equal((await h.deliver({ reason: 'sweep' }))['branch'], 'settled');
    });

  it('is not seen in a condition Ready of somebody else', async () => {
    keeping = 'kept';
    h.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['status'] = { conditions: [{ type: 'Ready', status: 'True', reason: 'X', observedGeneration: 1 }] };
    });
    const entry = { manager: 'other', operation: 'Update', subresource: 'status' };
    const fieldsV1 = { 'f:status': { 'f:conditions': { '.': {}, 'k:{"type":"Ready"}': { '.': {}, 'f:type': {}, 'f:status': {} } } } };
    h.east.edit(widgets, { name: 'a' }, (draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), managedFields: [{ ...entry, fieldsV1 }] };
    });
    assert.equal((await h.deliver({ reason: 'created' }))['branch'], 'reconciled');
  });
});
