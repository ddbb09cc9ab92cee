/** Bodies that are no envelopes of ours, beside good ones. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Harness } from './harness.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS, rawRecord, recordOf, START } from './records.ts';

describe('a batch with bodies that cannot be read', () => {
  for (const receiveCount of ['1', '2']) {
    it(`reconciles the good ones around them and loses none, at receive ${receiveCount} (B34)`, async () => {
      const harness = new Harness();
      harness.createWidget('a');
      harness.createWidget('b');
      const bad = ['{oops', '', 'null', '[]', '{"type":"com.example.thing"}'];
      const newer = JSON.stringify({ type: 'dev.dogwatch.reconcile.v99', time: START.toISOString(), data: { fresh: [1] } });
      const failed = await harness.invoke(
        harness.recordFor({ name: 'a', reason: 'created' }, { receiveCount }),
        ...[...bad, newer].map((body) => rawRecord(body, { receiveCount })),
        harness.recordFor({ name: 'b', reason: 'created' }, { receiveCount }),
      );
      assert.deepEqual(failed, []);
      assert.equal(harness.inputs.length, 2, 'each once');
      for (const name of ['a', 'b']) assert.equal(harness.status(name)['observedGeneration'], 1);
      const sent = (queueUrl: string) => harness.queue.accepted.filter((one) => one.queueUrl === queueUrl).map(({ message }) => message);
      const letters = sent(DEAD_LETTER_QUEUE_URL);
      assert.deepEqual(letters.map(({ body }) => body).sort(), bad.toSorted());
      assert.ok(letters.every(({ attributes }) => attributes?.['code'] === 'bad-envelope' && attributes['reason'] !== undefined));
      // A version of the schema that is still to come waits for the function that knows it.
      assert.deepEqual(
        sent(QUEUE_URLS.live).map(({ body, delaySeconds }) => [body, delaySeconds]),
        [[newer, 300]],
      );
    });
  }

  it('answers for every record and throws for none, whatever the bodies', async () => {
    const ours = recordOf({ cluster: 'nowhere' }).body;
    const body = fc.oneof(fc.string(), fc.json(), fc.constant(ours));
    await fc.assert(
      fc.asyncProperty(fc.array(body, { maxLength: 10 }), async (bodies) => {
        const harness = new Harness();
        const records = bodies.map((text) => rawRecord(text));
        const failed = await harness.invoke(...records);
        // Records of one object are one run with one re-send.
        const folded = Math.max(0, bodies.filter((text) => text === ours).length - 1);
        assert.equal(harness.queue.accepted.length, records.length - folded);
        assert.deepEqual(failed, []);
      }),
      { numRuns: 50 },
    );
  });
});
