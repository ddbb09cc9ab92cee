import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { OutgoingMessage } from '../../../functions/adapters/queue-port.ts';
import { BATCH_MAX_BYTES, BATCH_MAX_COUNT, messageBytes, splitIntoBatches } from '../../../functions/adapters/sqs-batches.ts';

const message = (body: string, attributes?: Record<string, string>): OutgoingMessage => ({
  body,
  delaySeconds: 900,
  groupId: 'a-cluster-whose-name-does-not-count',
  ...(attributes === undefined ? {} : { attributes }),
});

describe('messageBytes', () => {
  for (const [name, made, bytes] of [
    ['counts plain text by letters', message('abc'), 3],
    ['counts in UTF-8', message('é€😀'), 2 + 3 + 4],
    ['counts name, type and value of attributes', message('x', { kind: 'Tenant', ö: '€' }), 1 + (4 + 6 + 6) + (2 + 6 + 3)],
  ] as const) {
    it(name, () => assert.equal(messageBytes(made), bytes));
  }
});

describe('splitIntoBatches', () => {
  const large = 'x'.repeat(BATCH_MAX_BYTES / 2);

  for (const [name, messages, batches] of [
    ['makes nothing of nothing', [], []],
    ['fills a batch to the last byte', [message(large), message(large)], [[0, 1]]],
    ['begins a new batch one byte later', [message(large), message(large), message('y')], [[0, 1], [2]]],
    ['lets attributes count', [message(large), message(large, { a: 'b' })], [[0], [1]]],
    ['leaves a message over the limit alone', [message('a'), message(`${large}${large}y`), message('b')], [[0], [1], [2]]],
  ] as const) {
    it(name, () => assert.deepEqual(splitIntoBatches(messages), batches));
  }

  it('keeps the order, loses nothing and holds both limits', () => {
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 4096 }), fc.integer({ min: 1, max: BATCH_MAX_BYTES })), { maxLength: 40 });
    const filler = 'x'.repeat(BATCH_MAX_BYTES);
    fc.assert(
      fc.property(sizes, (all) => {
        const messages = all.map((size) => message(filler.slice(0, size)));
        const batches = splitIntoBatches(messages);
        assert.deepEqual(batches.flat(), [...messages.keys()]);
        for (const batch of batches) {
          const bytes = batch.reduce((sum, index) => sum + messageBytes(messages[index] as OutgoingMessage), 0);
          assert.ok(batch.length >= 1 && batch.length <= BATCH_MAX_COUNT && bytes <= BATCH_MAX_BYTES);
        }
      }),
      { numRuns: 50 },
    );
  });
});
