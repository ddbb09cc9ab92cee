import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestFailure, resultOfFailure } from '../../../functions/adapters/sqs-errors.ts';

describe('resultOfFailure', () => {
  for (const [name, failure, kind] of [
    ['retries throttling although it is called our fault', { Code: 'RequestThrottled', SenderFault: true }, 'retry'],
    ['retries throttling of the key', { Code: 'KmsThrottled', SenderFault: true }, 'retry'],
    ['retries a key that is switched off', { Code: 'KMS.DisabledException', SenderFault: true }, 'retry'],
    ['retries what a permission forbids', { Code: 'AccessDenied', SenderFault: true }, 'retry'],
    ['retries what a region forbids that is not opted into', { Code: 'OptInRequired', SenderFault: true }, 'retry'],
    ['retries a queue that is missing, by its older name', { Code: 'AWS.SimpleQueueService.NonExistentQueue', SenderFault: true }, 'retry'],
    ['retries a fault of SQS with an unknown code', { Code: 'Surprise', SenderFault: false }, 'retry'],
    ['retries a failure that does not say whose fault it is', { Code: 'InvalidMessageContents' }, 'retry'],
    ['retries a failure without a code', {}, 'retry'],
    ['gives up on bad contents', { Code: 'InvalidMessageContents', SenderFault: true }, 'refused'],
    ['gives up on an unknown code that is our fault', { Code: 'Surprise', SenderFault: true }, 'refused'],
  ] as const) {
    it(name, () => assert.equal(resultOfFailure(failure).kind, kind));
  }

  it('cuts the text of the refusal', () => {
    const result = resultOfFailure({ Code: 'InvalidMessageContents', SenderFault: true, Message: 'x'.repeat(1000) });
    assert.ok(result.kind === 'refused' && result.message.length === 256);
  });
});

describe('requestFailure', () => {
  const named = (name: string, code?: string) => Object.assign(new Error('text'), { name }, code === undefined ? {} : { code });

  for (const [name, error, kind, code] of [
    ['sees the content', named('InvalidParameterValue'), 'content', 'InvalidParameterValue'],
    ['sees a batch that is too long', named('BatchRequestTooLong'), 'content', 'BatchRequestTooLong'],
    ['prefers the code of the network', named('TimeoutError', 'ETIMEDOUT'), 'passing', 'ETIMEDOUT'],
    ['waits for credentials', named('CredentialsProviderError'), 'passing', 'CredentialsProviderError'],
    ['waits for a queue', named('QueueDoesNotExist'), 'passing', 'QueueDoesNotExist'],
    ['waits after anything else', 'a string', 'passing', 'unknown'],
  ] as const) {
    it(name, () => {
      const failure = requestFailure(error);
      assert.equal(failure.kind, kind);
      assert.equal(failure.code, code);
    });
  }
});
