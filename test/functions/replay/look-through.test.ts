import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ConfigError, TransientError } from '../../../functions/core/errors.ts';
import { HeldLetters } from '../../../functions/replay/held-letters.ts';
import { heldBackWarning, type LookReport, lookThrough, VISIBILITY_SECONDS, warningsOf } from '../../../functions/replay/look-through.ts';
import { checkLetterQueue } from '../../../functions/replay/queue-check.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeLetterQueue, LETTERS_URL } from '../../fakes/letter-queue.ts';

class Scene {
  readonly clock = new FakeClock();
  readonly queue = new FakeLetterQueue(this.clock);
  readonly stop = new AbortController();
  readonly seen: string[] = [];

  constructor(count: number) {
    for (let at = 0; at < count; at += 1) this.queue.add(`letter ${at}`);
  }

  async look(
    onLetter: () => boolean = () => true,
  ): Promise<{ report: Omit<LookReport, 'givenBack'> & { heldBackCount: number }; warnings: string[] }> {
    const description = await this.queue.describe();
    const { clock, queue, stop } = this;
    const report = await clock.finish(
      lookThrough({
        ...{ queue, description, clock, stop: stop.signal },
        onLetter: ({ messageId }) => {
          this.seen.push(messageId);
          return onLetter();
        },
      }),
    );
    const { givenBack, ...rest } = report;
    const heldBackCount = await clock.finish(givenBack);
    const warning = heldBackWarning(heldBackCount);
    return {
      report: { ...rest, heldBackCount },
      warnings: [...warningsOf(report, description), ...(warning === undefined ? [] : [warning])],
    };
  }
}

const throttled = new TransientError('throttled', 'SQS throttles us');

describe('lookThrough', () => {
  for (const count of [0, 1, 10, 57, 1000]) {
    it(`sees each of ${count} letters once, and gives all back at once`, async () => {
      const scene = new Scene(count);
      const { report, warnings } = await scene.look();
      assert.equal(new Set(scene.seen).size, count);
      assert.equal(scene.seen.length, count);
      assert.deepEqual(report, { seenCount: count, end: 'through', heldBackCount: 0, elsewhereCount: 0 });
      assert.deepEqual(warnings, []);
      assert.equal(scene.queue.hiddenCount, 0);
    });
  }

  it('receives side by side, and never hides a letter for longer than it says', async () => {
    const scene = new Scene(500);
    await scene.look();
    assert.equal(scene.queue.maxConcurrency, 8);
    assert.deepEqual(new Set(scene.queue.hiddenFor), new Set([VISIBILITY_SECONDS]));
  });

  it('gives back what it holds when it is stopped in the middle, also what a receive under way brings', async () => {
    const scene = new Scene(1000);
    scene.queue.beforeReceive = (call) => {
      if (call === 20) scene.stop.abort();
    };
    const { report } = await scene.look();
    assert.equal(report.end, 'stopped');
    assert.ok(report.seenCount >= 190 && report.seenCount < 500, String(report.seenCount));
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('ends early where the caller has what it wanted', async () => {
    const scene = new Scene(1000);
    const { report } = await scene.look(() => scene.seen.length < 5);
    assert.equal(report.end, 'enough');
    assert.ok(scene.seen.length <= 80, String(scene.seen.length));
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('waits while SQS throttles, and goes on', async () => {
    const scene = new Scene(100);
    scene.queue.beforeReceive = (call) => {
      if (call >= 5 && call < 25) throw throttled;
    };
    const { report } = await scene.look();
    assert.equal(report.seenCount, 100);
  });

  for (const [name, error] of [
    ['SQS throttles for ever', throttled],
    ['the credentials expire', new ConfigError('aws-refused', 'SQS refuses letters (ExpiredToken)')],
    ['the network is away', new TransientError('queue-unreachable', 'SQS does not give letters')],
  ] as const) {
    it(`gives back what it holds, and says why, when ${name} in the middle`, async () => {
      const scene = new Scene(1000);
      scene.queue.beforeReceive = (call) => {
        if (call > 30) throw error;
      };
      await assert.rejects(scene.look(), error);
      assert.ok(scene.seen.length > 0 && scene.seen.length < 1000);
      assert.equal(scene.queue.hiddenCount, 0);
    });
  }

  it('gives back what it holds when the caller fails', async () => {
    const scene = new Scene(100);
    const fault = new RangeError('no');
    await assert.rejects(
      scene.look(() => {
        throw fault;
      }),
      fault,
    );
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('ends with what SQS lets it hide, and says so', async () => {
    const scene = new Scene(1000);
    scene.queue.beforeReceive = (call) => {
      if (call > 30) throw new TransientError('in-flight-limit', 'no more');
    };
    const { report, warnings } = await scene.look();
    assert.equal(report.end, 'limit');
    assert.match(warnings.join('\n'), /SQS hides no more than it did: only \d+ letters could be seen/);
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('tries again to give back what SQS did not take', async () => {
    const scene = new Scene(250);
    scene.queue.isStuck = (call, messageId) => call < 4 && messageId.endsWith('7');
    const { report } = await scene.look();
    assert.equal(report.heldBackCount, 0);
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('says how many could not be given back, and when they come by themselves', async () => {
    const scene = new Scene(25);
    scene.queue.isStuck = (_, messageId) => messageId === 'message-3';
    const { warnings } = await scene.look();
    assert.deepEqual(warnings, [`1 letter could not be given back now, and will be by SQS within ${VISIBILITY_SECONDS} s`]);
    await scene.clock.advance(VISIBILITY_SECONDS * 1000);
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('warns of letters that somebody holds before it begins', async () => {
    const scene = new Scene(30);
    scene.queue.takeElsewhere(10, 600);
    const { report, warnings } = await scene.look();
    assert.equal(report.seenCount, 20);
    assert.match(warnings.join('\n'), /^10 letters hidden before we began: somebody else receives from this queue/);
  });

  it('warns where fewer came than SQS had counted', async () => {
    const scene = new Scene(300);
    scene.queue.beforeReceive = (call) => {
      if (call === 12) scene.queue.takeElsewhere(15, 600);
    };
    const { warnings } = await scene.look();
    assert.deepEqual(warnings, ['SQS counted about 300 letters, but 285 came: somebody else receives from this queue, or it counts late']);
  });

  it('sees a letter once that comes again, and ends although letters keep coming again', async () => {
    const scene = new Scene(40);
    // A queue whose visibility is not kept: at least once, as SQS has it.
    scene.queue.beforeReceive = () => {
      for (const letter of scene.queue.stored.slice(0, 3)) letter.visibleAtMs = 0;
    };
    const { report } = await scene.look();
    assert.deepEqual([report.seenCount, scene.seen.length], [40, 40]);
  });

  it('notices that somebody received a letter which it held', async () => {
    const scene = new Scene(5);
    let isTaken = false;
    scene.queue.beforeReceive = () => {
      const [first] = scene.queue.stored;
      if (isTaken || first?.receiveCount !== 1) return;
      isTaken = true;
      first.visibleAtMs = 0;
      first.receiveCount += 1;
    };
    const { warnings } = await scene.look();
    assert.deepEqual(warnings, ['1 letter came to somebody else while we looked']);
  });
});

describe('HeldLetters', () => {
  it('gives back the newest handle of each, whatever it looks like', () => {
    const handle = fc.oneof(fc.base64String(), fc.string({ unit: 'grapheme' }), fc.uuid(), fc.constant('x'.repeat(1_200_000)));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), handle), { maxLength: 40 }),
        fc.integer({ min: 1, max: 12 }),
        (holds, count) => {
          const held = new HeldLetters();
          for (const [id, text] of holds) held.hold(`m${id}`, text, 1);
          const newest = new Map(holds.map(([id, text]) => [id, text]));
          assert.equal(held.count, newest.size);
          const taken = [...held.take(count)];
          assert.ok(taken.every(({ length }) => length > 0 && length <= count));
          assert.deepEqual(taken.flat().sort(), [...newest.values()].sort());
          assert.equal(held.count, 0);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('checkLetterQueue', () => {
  const arn = 'arn:aws:sqs:us-east-1:000000000000:dogwatch-dead-letters';
  const queue = { url: LETTERS_URL, arn, retentionSeconds: 1, depth: { visible: 0, hidden: 0, delayed: 0 }, redriveTargetArn: undefined };
  const live = LETTERS_URL.replace('dead-letters', 'live');
  const rows = [
    ['the configured one with sources', { ...queue, sourceUrls: [live] }, { live, deadLetters: LETTERS_URL }, undefined],
    ['the configured one to which only the function sends', { ...queue, sourceUrls: [] }, { live, deadLetters: LETTERS_URL }, undefined],
    ['the configured one whose sources we may not ask for', { ...queue, sourceUrls: undefined }, { deadLetters: LETTERS_URL }, undefined],
    ["another one that is somebody's dead-letter queue", { ...queue, sourceUrls: [live] }, {}, undefined],
    [
      'one that nobody has for dead letters',
      { ...queue, sourceUrls: [] },
      {},
      /no queue has it as its dead-letter queue, and DOGWATCH_DEAD_LETTER_QUEUE_URL does not name it/,
    ],
    [
      'one of which we may not ask, and which is not configured',
      { ...queue, sourceUrls: undefined },
      {},
      /does not name it, and we may not ask whose dead letters come there/,
    ],
    ['the live queue', { ...queue, url: live, sourceUrls: [] }, { live, deadLetters: LETTERS_URL }, /it is the live queue/],
    [
      'the bulk queue, named as that for dead letters',
      { ...queue, url: live, sourceUrls: [live] },
      { bulk: live, deadLetters: live },
      /it is the bulk queue/,
    ],
    [
      'one whose messages a look may move away',
      { ...queue, sourceUrls: [live], redriveTargetArn: arn },
      { deadLetters: LETTERS_URL },
      /it has a RedrivePolicy/,
    ],
  ] as const;
  for (const [name, description, configured, says] of rows) {
    it(`${says === undefined ? 'takes' : 'refuses'} ${name}`, () => {
      const check = (): void => checkLetterQueue(description, configured);
      if (says === undefined) check();
      else
        assert.throws(
          check,
          (error) => error instanceof ConfigError && says.test(error.message) && /nothing was received/.test(error.message),
        );
    });
  }
});
