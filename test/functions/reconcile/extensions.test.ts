/** Attributes of a newer release beside `data`: whoever knows them gets them back, whatever this release does with the message. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SQSRecord } from 'aws-lambda';
import type { EnvelopeData } from '../../../events/envelope.ts';
import { Harness } from './harness.ts';
import { recordOf } from './records.ts';

/** The record with these attributes in its envelope. */
function extended(over: Partial<EnvelopeData>, attributes: object): SQSRecord {
  const record = recordOf(over);
  return { ...record, body: JSON.stringify({ ...JSON.parse(record.body), ...attributes }) };
}

describe('attributes that this release does not know', () => {
  for (const [name, over, sent] of [
    ['a retry', { cluster: 'nowhere' }, 'retry'],
    ['a dead letter', { cluster: 'nowhere', firstSeenAt: '2020-01-01T00:00:00Z' }, 'generation-changed'],
    ['a message that is not due', { notBefore: '2026-02-01T00:00:00Z' }, 'generation-changed'],
  ] as const) {
    it(`are in ${name}, the newest of each where several records are one run`, async () => {
      const harness = new Harness();
      const records = [
        extended(over, { tracestate: 'a=1', id: 'x' }),
        extended({ ...over, resourceVersion: '200' }, { tracestate: 'a=2' }),
      ];
      await harness.invoke(...records);
      const envelopes = harness.queue.envelopes();
      assert.equal(envelopes.at(-1)?.['tracestate'], 'a=2');
      assert.deepEqual([envelopes.at(-1)?.data.reason, envelopes.some(({ id }) => id === 'x')], [sent, false]);
    });
  }

  it('are left out where there is no room for them, and the message is sent', async () => {
    const harness = new Harness();
    assert.deepEqual(await harness.invoke(extended({ cluster: 'nowhere' }, { later: 'x'.repeat(4000) })), []);
    assert.deepEqual(
      harness.queue.envelopes().map((envelope) => [envelope.data.reason, 'later' in envelope]),
      [['retry', false]],
    );
  });
});
