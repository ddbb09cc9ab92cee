import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import fc from 'fast-check';
import { TerminalError, TransientError } from '../../../functions/core/errors.ts';
import { outcomeOf } from '../../../functions/core/outcome.ts';
import { parseObject } from '../../../functions/core/resource-definition.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { type Fate, FINE, QUEUE, SqsScene, sdkError, UID } from './sqs-scene.ts';

const DEFAULTS = { MessageRetentionPeriod: '345600', VisibilityTimeout: '30' };
const SPEC = { retentionSeconds: 600, visibilityTimeoutSeconds: 5 };
const ASKED = { MessageRetentionPeriod: '600', VisibilityTimeout: '5' };
const LOST = sdkError('TimeoutError');

describe('the QueueClaim reconciler', () => {
  let sqs: SqsScene;
  before(async () => {
    sqs = await SqsScene.start();
  });
  afterEach(() => sqs.clear());
  after(() => sqs.stop());

  it('makes one queue, named after the uid, with the attributes that the spec asks for, and says where it is', async () => {
    const { queueUrl } = await sqs.reconcile(SPEC);
    assert.ok(queueUrl.endsWith(`/${QUEUE}`), queueUrl);
    assert.deepEqual(await sqs.queues(), [QUEUE]);
    assert.deepEqual(await sqs.attributes(), ASKED);
    assert.deepEqual(sqs.calls, ['GetQueueUrl', 'CreateQueue']);
  });

  it('marks the queue with the key of its claim, and with nothing else', async () => {
    await sqs.reconcile();
    assert.deepEqual(await sqs.tags(), { 'dogwatch.dev/owner': 'east/platform.example/QueueClaim/team/jobs' });
  });

  it('has defaults for both attributes', async () => {
    await sqs.reconcile();
    assert.deepEqual(await sqs.attributes(), DEFAULTS);
  });

  it('only looks when nothing is to be done, and answers the same', async () => {
    const first = await sqs.reconcile(SPEC);
    sqs.calls.length = 0;
    assert.deepEqual(await sqs.reconcile(SPEC), first);
    assert.deepEqual(sqs.calls, ['GetQueueUrl', 'GetQueueAttributes']);
  });

  it('follows the spec when it changes, and sets what differs only', async () => {
    await sqs.reconcile();
    sqs.calls.length = 0;
    await sqs.reconcile({ visibilityTimeoutSeconds: 9 });
    assert.deepEqual(await sqs.attributes(), { ...DEFAULTS, VisibilityTimeout: '9' });
    assert.deepEqual(sqs.calls, ['GetQueueUrl', 'GetQueueAttributes', 'SetQueueAttributes']);
  });

  it('corrects attributes that were changed by hand', async () => {
    await sqs.reconcile(SPEC);
    await sqs.change({ MessageRetentionPeriod: '60', VisibilityTimeout: '7' });
    await sqs.reconcile(SPEC);
    assert.deepEqual(await sqs.attributes(), ASKED);
  });

  it('takes the queue that another run makes after it looked', async () => {
    const [first, second] = await Promise.all([sqs.reconcile(SPEC), sqs.reconcile(SPEC)]);
    assert.deepEqual(first, second);
    assert.deepEqual(await sqs.queues(), [QUEUE]);
  });

  it('comes back to correct one that another run made with other attributes after it looked', async () => {
    await sqs.create({ VisibilityTimeout: '11' });
    sqs.fates = [{ kind: 'fails', error: sdkError('QueueDoesNotExist', 400) }];
    await assert.rejects(sqs.reconcile(SPEC), isTransient('queue-made-meanwhile'));
    await sqs.reconcile(SPEC);
    assert.deepEqual(await sqs.attributes(), ASKED);
    assert.deepEqual(await sqs.queues(), [QUEUE]);
  });

  for (const [when, fates] of [
    ['its name is not free yet', [FINE, failing('QueueDeletedRecently', 400)]],
    ['it is still found, but has no attributes', [FINE, failing('QueueDoesNotExist', 400)]],
    ['it is still found, but takes no attributes', [FINE, FINE, failing('AWS.SimpleQueueService.NonExistentQueue', 400)]],
  ] as const) {
    it(`waits a minute for a queue that was just deleted by hand, when ${when}`, async () => {
      if (fates[1].kind === 'fine' || when.includes('attributes')) await sqs.create({ VisibilityTimeout: '11' });
      sqs.fates = [...fates];
      await assert.rejects(sqs.reconcile(SPEC), (error) => isTransient('queue-deleted-recently')(error) && error.retryAfterSeconds === 60);
    });
  }

  it('deletes the queue from key and uid alone', async () => {
    await sqs.reconcile();
    assert.deepEqual(await sqs.finalize(), { done: true });
    assert.deepEqual(await sqs.queues(), []);
  });

  it('is done with a queue that never was, or is gone already', async () => {
    assert.deepEqual(await sqs.finalize(), { done: true });
    await sqs.reconcile();
    assert.deepEqual(await Promise.all([sqs.finalize(), sqs.finalize()]), [{ done: true }, { done: true }]);
    assert.deepEqual(await sqs.finalize(), { done: true });
    await sqs.create({});
    sqs.fates = [FINE, { kind: 'lost', error: sdkError('QueueDoesNotExist', 400) }];
    assert.deepEqual(await sqs.finalize(), { done: true });
  });

  it('takes no answer without a URL for the absence of the queue, which would be left behind', async () => {
    await sqs.reconcile();
    sqs.fates = [{ kind: 'answers', answer: {} }];
    await assert.rejects(sqs.finalize(), isTransient('aws-unavailable'));
    assert.deepEqual(await sqs.queues(), [QUEUE]);
  });

  const operations = ['GetQueueUrl', 'CreateQueue', 'GetQueueAttributes', 'SetQueueAttributes', 'DeleteQueue'] as const;
  /** A run that reaches this call, over a claim whose queue is made and drifted where it must be. */
  const reaching = async (operation: (typeof operations)[number], signal?: AbortSignal): Promise<unknown> => {
    if (operation !== 'GetQueueUrl' && operation !== 'CreateQueue') await sqs.create({ VisibilityTimeout: '11' });
    return operation === 'DeleteQueue' ? sqs.finalize(signal) : sqs.reconcile(SPEC, signal);
  };
  const only = (operation: string, fate: Fate) => (called: string) => (called === operation ? fate : FINE);

  for (const operation of operations) {
    it(`leaves it to the next run when ${operation} fails, before or after it took effect`, async () => {
      for (const kind of ['fails', 'lost'] as const) {
        sqs.fateOf = only(operation, { kind, error: sdkError('InternalFailure', 500) });
        await assert.rejects(reaching(operation), isTransient('aws-unavailable'));
        sqs.fateOf = undefined;
        await sqs.reconcile(SPEC);
        assert.deepEqual([await sqs.queues(), await sqs.attributes()], [[QUEUE], ASKED]);
        await sqs.finalize();
        assert.deepEqual(await sqs.queues(), []);
      }
    });

    it(`gives ${operation} up when it hangs, and at the deadline at the latest`, async () => {
      sqs.fateOf = only(operation, { kind: 'hangs' });
      const timeout = mock.method(AbortSignal, 'timeout', () => AbortSignal.any([aborting(20)]));
      await assert.rejects(reaching(operation), isTransient('aws-timeout'));
      timeout.mock.restore();
      await sqs.clear();
      sqs.fateOf = only(operation, { kind: 'hangs' });
      await assert.rejects(reaching(operation, aborting(20)), { message: 'the deadline' });
    });

    it(`says what to allow when ${operation} is denied, and waits for it`, async () => {
      sqs.fateOf = only(operation, failing('AccessDenied', 403));
      await assert.rejects(reaching(operation), (error) => {
        const outcome = outcomeOf(error, 'author');
        assert.equal(outcome.kind, 'denied');
        assert.match(JSON.stringify(outcome), new RegExp(`allow the operation .*sqs:${operation}`));
        assert.doesNotMatch(JSON.stringify(outcome), /secret/);
        return true;
      });
    });
  }

  it('calls an attribute that AWS refuses a fault of the spec', async () => {
    sqs.fates = [FINE, failing('InvalidAttributeValue', 400)];
    await assert.rejects(sqs.reconcile(), (error) => error instanceof TerminalError && error.code === 'invalid-plan');
  });

  it('begins no call after the deadline', async () => {
    await assert.rejects(sqs.reconcile({}, AbortSignal.abort(new Error('the deadline'))), { message: 'the deadline' });
    assert.deepEqual(sqs.calls, []);
  });

  it('never has two queues, and none is left, whatever fails in whatever order (B50)', async () => {
    const fate = fc.constantFrom<Fate>(FINE, FINE, { kind: 'lost', error: LOST }, { kind: 'fails', error: LOST });
    const step = fc.record({
      what: fc.constantFrom('reconcile', 'reconcile', 'finalize', 'delete'),
      spec: fc.record({ visibilityTimeoutSeconds: fc.integer({ min: 0, max: 2 }) }),
      fates: fc.array(fate, { maxLength: 3 }),
    });
    const attempt = async ({ what, spec, fates }: { what: string; spec: object; fates: Fate[] }): Promise<void> => {
      sqs.fates = [...fates];
      if (what === 'delete') await sqs.delete().catch(() => undefined);
      else await (what === 'finalize' ? sqs.finalize() : sqs.reconcile(spec)).catch((error) => assert.ok(error instanceof TransientError));
      assert.ok((await sqs.queues()).every((name) => name === QUEUE));
      sqs.fates = [];
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        for (const one of steps) await attempt(one);
        await sqs.reconcile(SPEC);
        assert.deepEqual([await sqs.queues(), await sqs.attributes()], [[QUEUE], ASKED]);
        await sqs.finalize();
        assert.deepEqual(await sqs.queues(), []);
      }),
      { numRuns: 60 },
    );
  });

  for (const [field, least, most] of [
    ['retentionSeconds', 60, 1_209_600],
    ['visibilityTimeoutSeconds', 0, 43_200],
  ] as const) {
    it(`takes ${field} from ${least} to ${most}, as SQS does`, () => {
      const parse = (value: unknown) =>
        parseObject(queueClaim.resource, {
          apiVersion: 'platform.example/v1',
          kind: 'QueueClaim',
          metadata: { name: 'jobs', uid: UID, resourceVersion: '1' },
          spec: { [field]: value },
        });
      for (const value of [least, most]) assert.equal(parse(value).spec[field], value);
      for (const value of [least - 1, most + 1, least + 0.5, String(most)]) assert.throws(() => parse(value), TerminalError);
    });
  }
});

function failing(name: string, status: number): Fate {
  return { kind: 'fails', error: sdkError(name, status) };
}

function isTransient(code: string): (error: unknown) => error is TransientError {
  return (error): error is TransientError => error instanceof TransientError && error.code === code;
}

/** Aborts after so many milliseconds, in which the calls before the one that hangs are over. */
function aborting(afterMs: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('the deadline')), afterMs);
  return controller.signal;
}
