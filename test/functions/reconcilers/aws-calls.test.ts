import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outcomeOf } from '../../../functions/core/outcome.ts';
import { callAws } from '../../../functions/reconcilers/aws-calls.ts';
import { sdkError } from './sqs-scene.ts';

const signal = new AbortController().signal;

/** What the framework makes of a call that throws `error`. */
async function outcomeOfCall(error: unknown): Promise<{ kind: string; failure: { code: string; message: string } }> {
  const thrown = await callAws('sqs:CreateQueue', signal, () => Promise.reject(error)).then(
    () => assert.fail('was answered'),
    (reason: unknown) => reason,
  );
  return outcomeOf(thrown, 'author') as { kind: string; failure: { code: string; message: string } };
}

describe('a call of AWS', () => {
  const network = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' });
  const rows: readonly (readonly [name: string, error: unknown, kind: string, code: string])[] = [
    ['an internal error', sdkError('InternalFailure', 500), 'transient', 'aws-unavailable'],
    ['a proxy that answers no JSON', sdkError('SyntaxError', 502), 'transient', 'aws-unavailable'],
    ['a proxy that finds nothing, and says so in HTML', sdkError('SyntaxError', 404), 'transient', 'aws-unavailable'],
    ['a refused connection', network, 'transient', 'aws-unavailable'],
    ['a reset that the SDK has retried', sdkError('Error'), 'transient', 'aws-unavailable'],
    ['the SDK’s own time-out', sdkError('TimeoutError'), 'transient', 'aws-timeout'],
    ['throttling by 400', sdkError('ThrottlingException', 400), 'transient', 'aws-throttled'],
    ['throttling by 403, as SQS does it', sdkError('RequestThrottled', 403), 'transient', 'aws-throttled'],
    ['throttling by 429', sdkError('Whatever', 429), 'transient', 'aws-throttled'],
    ['a throttled key', sdkError('KmsThrottled', 400), 'transient', 'aws-throttled'],
    ['a missing right', sdkError('AccessDeniedException', 400), 'denied', 'forbidden'],
    ['an expired token', sdkError('ExpiredToken', 400), 'denied', 'forbidden'],
    ['a bad signature', sdkError('SignatureDoesNotMatch', 403), 'denied', 'forbidden'],
    ['no credentials', Object.assign(new Error('Could not load'), { name: 'CredentialsProviderError' }), 'denied', 'forbidden'],
    ['any other 403', sdkError('Whatever', 403), 'denied', 'forbidden'],
    ['an attribute that is refused', sdkError('InvalidAttributeValue', 400), 'author-error', 'invalid-plan'],
    ['any other 4xx', sdkError('Whatever', 404), 'author-error', 'invalid-plan'],
    ['a fault of the code', new TypeError('x is not a function'), 'author-error', 'author-error'],
    ['something that is no error', 'oh', 'author-error', 'author-error'],
  ];
  for (const [name, error, kind, code] of rows) {
    it(`takes ${name} for ${code}`, async () => {
      const outcome = await outcomeOfCall(error);
      assert.deepEqual([outcome.kind, outcome.failure.code], [kind, code]);
      if (code === 'author-error') return;
      assert.match(outcome.failure.message, /operation: sqs:CreateQueue, awsCode: \w+/);
      assert.doesNotMatch(outcome.failure.message, /secret|10\.0\.0\.1|Could not/);
    });
  }

  it('names what was refused without the prefix of some endpoints', async () => {
    const { failure } = await outcomeOfCall(sdkError('AWS.SimpleQueueService.InvalidThing', 400));
    assert.match(failure.message, /awsCode: InvalidThing/);
  });

  it('answers with what is expected of a refusal', async () => {
    const refused = () => Promise.reject(sdkError('AWS.SimpleQueueService.NotThere', 400));
    assert.equal(await callAws('sqs:X', signal, refused, { NotThere: () => 'absent' }), 'absent');
    const inherited = () => Promise.reject(sdkError('toString', 500));
    await assert.rejects(callAws<unknown>('sqs:X', signal, inherited, {}), { code: 'aws-unavailable' });
  });
});
