/** Letters that are dropped, with a failure at every call of the queue and of the file. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ConfigError, TransientError } from '../../../functions/core/errors.ts';
import { type DropSummary, dropLetters } from '../../../functions/replay/drop.ts';
import type { DropFile, DropLine } from '../../../functions/replay/dropped-file.ts';
import type { PlanItem } from '../../../functions/replay/plan.ts';
import type { ReplayClass } from '../../../functions/replay/verdict.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeLetterQueue } from '../../fakes/letter-queue.ts';

/** A disk: what was appended to it is there, whoever appended it. */
class Disk {
  readonly lines: DropLine[] = [];
  calls = 0;
  /** Called before each append, by its number from 1, and after it is on disk. */
  before: (call: number) => void = () => {};
  after: (call: number) => void = () => {};

  get letters(): ReadonlySet<string> {
    return new Set(this.lines.flatMap((line) => (line.kind === 'letter' ? line.messageId : [])));
  }

  open(): DropFile {
    return {
      past: this.letters,
      append: async (lines) => {
        this.calls += 1;
        const call = this.calls;
        this.before(call);
        await Promise.resolve();
        this.lines.push(...lines);
        this.after(call);
      },
    };
  }
}

const item = (name: ReplayClass, letters: readonly string[]): PlanItem => ({
  class: name,
  reason: 'gone',
  letters: letters.map((messageId) => ({ messageId, code: 'invalid' })),
});

/** A queue of which each third letter is to be dropped, each third left by the plan, and each third of no plan. */
class Scene {
  readonly clock = new FakeClock();
  readonly queue = new FakeLetterQueue(this.clock);
  readonly disk = new Disk();
  /** Of everybody who drops. */
  readonly disks = [this.disk];
  /** What was deleted and should not have been. */
  readonly faults: string[] = [];
  readonly ids: string[] = [];
  /** Bodies by message id. */
  readonly bodies = new Map<string, string>();
  stop = new AbortController();

  constructor(count = 90) {
    for (let at = 0; at < count; at += 1) {
      const id = this.queue.add(`body ${at}`, { attributes: { code: 'invalid' } });
      this.ids.push(id);
      this.bodies.set(id, `body ${at}`);
    }
    this.queue.beforeRemove = (_, ids) => {
      for (const id of ids) {
        if (!this.disks.some(({ letters }) => letters.has(id))) this.faults.push(`${id} was deleted before it was on disk`);
        if (!this.wanted.includes(id)) this.faults.push(`${id} was deleted although nobody asked for it`);
      }
    };
  }

  third(which: number): string[] {
    return this.ids.filter((_, at) => at % 3 === which);
  }

  get wanted(): string[] {
    return this.third(0);
  }

  get items(): PlanItem[] {
    return [...this.wanted.map((id) => item('gone', [id])), item('to-replay', this.third(1))];
  }

  run(file = this.disk.open()): Promise<DropSummary> {
    const { items, queue, clock } = this;
    return dropLetters({
      ...{
        items,
        classes: new Set(['gone'] as const),
        accounted: new Set(this.third(0).slice(0, 3)),
        queue,
        file,
        clock,
        stop: this.stop.signal,
      },
      ...{ by: 'ada@laptop', command: 'dogwatch replay drop plan.json', sha256: 'hash', tell: () => {} },
    });
  }

  drop(): Promise<DropSummary> {
    return this.clock.finish(this.run());
  }

  /** Time passes, and the same command is given again. */
  async again(): Promise<DropSummary> {
    Object.assign(this.queue, { beforeReceive: () => {}, afterRemove: () => {}, isStuck: () => false });
    Object.assign(this.disk, { before: () => {}, after: () => {} });
    this.stop = new AbortController();
    await this.clock.advance(301_000);
    return this.drop();
  }

  /** Every letter is in the queue, or whole on disk. */
  assertNoneLost(): void {
    assert.deepEqual(this.faults, []);
    const there = new Set(this.queue.stored.map(({ messageId }) => messageId));
    const lines = this.disks.flatMap((disk) => disk.lines);
    const kept = new Map(lines.flatMap((line) => (line.kind === 'letter' ? [[line.messageId, line] as const] : [])));
    for (const [id, body] of this.bodies) {
      if (there.has(id)) continue;
      assert.equal(kept.get(id)?.body, body, `${id} is lost`);
      assert.deepEqual(kept.get(id)?.attributes, { code: 'invalid' });
    }
  }

  assertFinished(): void {
    this.assertNoneLost();
    assert.deepEqual(
      this.queue.stored.map(({ messageId }) => messageId),
      this.ids.filter((id) => !this.wanted.includes(id)),
    );
    assert.equal(this.queue.hiddenCount, 0);
  }
}

function assertAddsUp({ letters }: DropSummary, scene: Scene): void {
  const { received, dropped, notDeleted, leftOfPlan, notReached, notOfPlan, goneBefore, notSeen } = letters;
  assert.equal(received, dropped + notDeleted + leftOfPlan + notReached + notOfPlan);
  assert.equal(scene.wanted.length, dropped + notDeleted + notReached + goneBefore + notSeen);
}

const NOTHING = {
  received: 0,
  dropped: 0,
  notDeleted: 0,
  leftOfPlan: 0,
  notReached: 0,
  notOfPlan: 0,
  goneBefore: 0,
  notSeen: 0,
  missed: 0,
  notReleased: 0,
};

describe('dropLetters', () => {
  for (const count of [0, 1, 3, 90, 1000]) {
    it(`deletes what is meant of ${count} letters, keeps it on disk, and gives back the rest`, async () => {
      const scene = new Scene(count);
      const { end, letters } = await scene.drop();
      assert.equal(end, 'done');
      assert.deepEqual([letters.dropped, letters.notSeen, letters.notDeleted], [scene.wanted.length, 0, 0]);
      scene.assertFinished();
    });
  }

  it('says by whom and why, and what was deleted, and ends the file with its summary', async () => {
    const scene = new Scene(3);
    const summary = await scene.drop();
    const [begin, letter, deleted, end] = scene.disk.lines;
    assert.deepEqual(begin, {
      ...{ kind: 'begin', at: '2026-03-01T00:00:00.000Z', version: 1, by: 'ada@laptop', command: 'dogwatch replay drop plan.json' },
      ...{ plan: 'hash', classes: ['gone'] },
    });
    assert.deepEqual(
      [letter?.kind, letter?.kind === 'letter' && [letter.messageId, letter.class, letter.reason]],
      ['letter', ['message-1', 'gone', 'gone']],
    );
    assert.deepEqual([deleted?.kind, end], ['deleted', { kind: 'end', at: end?.at, summary }]);
  });

  it('receives no more once all that is meant is deleted', async () => {
    const scene = new Scene(1000);
    scene.ids.length = 3; // of the others the plan knows nothing
    const { letters } = await scene.drop();
    assert.equal(letters.dropped, 1);
    assert.ok(letters.received <= 160, String(letters.received)); // what eight receivers have under way
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('deletes a letter that was on disk already, and does not write it again', async () => {
    const scene = new Scene();
    const [id = ''] = scene.wanted;
    scene.disk.lines.push({
      kind: 'letter',
      at: '',
      messageId: id,
      attributes: { code: 'invalid' },
      body: 'body 0',
      class: 'gone',
      reason: '',
    });
    const { letters } = await scene.drop();
    assert.equal(letters.dropped, 30);
    assert.equal(scene.disk.lines.filter((line) => line.kind === 'letter' && line.messageId === id).length, 1);
    scene.assertFinished();
  });

  it('knows on a second run what the first one dropped', async () => {
    const scene = new Scene();
    await scene.drop();
    const { end, letters } = await scene.again();
    assert.deepEqual([end, letters], ['done', { ...NOTHING, received: 60, leftOfPlan: 30, notOfPlan: 30, goneBefore: 30 }]);
  });

  it('counts what somebody else holds as not seen, and as missed where nothing is on record of it', async () => {
    const scene = new Scene(30);
    scene.queue.takeElsewhere(30, 7200);
    const { letters } = await scene.drop();
    assert.deepEqual(letters, { ...NOTHING, notSeen: 10, missed: 7 });
  });

  it('tries again to delete what SQS did not delete', async () => {
    const scene = new Scene();
    scene.queue.afterRemove = (call) => {
      if (call < 4) throw new Error('the answer is lost');
    };
    assert.equal((await scene.drop()).letters.notDeleted, 0);
    scene.assertFinished();
  });

  it('says what it could not delete, gives that back, and goes on with it the next time', async () => {
    const scene = new Scene();
    const check = scene.queue.beforeRemove;
    scene.queue.beforeRemove = () => {
      throw new Error('refused');
    };
    const { end, letters } = await scene.drop();
    assert.deepEqual([end, letters.dropped, letters.notDeleted, letters.received], ['done', 0, 30, 90]);
    assert.equal(scene.queue.hiddenCount, 0);
    scene.queue.beforeRemove = check;
    assert.equal((await scene.again()).letters.dropped, 30);
    scene.assertFinished();
  });

  it('begins nothing where the file cannot be written', async () => {
    const scene = new Scene();
    scene.disk.before = () => {
      throw new ConfigError('out-unwritable', 'full');
    };
    await assert.rejects(scene.drop(), { code: 'out-unwritable' });
    assert.equal(scene.queue.receiveCalls, 0);
  });

  it('keeps what it deletes where the disk is full, gives the rest back, and says why', async () => {
    const scene = new Scene();
    scene.disk.before = (call) => {
      if (call >= 3) throw new ConfigError('out-unwritable', 'no space');
    };
    const summary = await scene.drop();
    assert.deepEqual([summary.end, summary.failure], ['failed', { code: 'out-unwritable', says: 'no space' }]);
    assertAddsUp(summary, scene);
    assert.equal(scene.queue.hiddenCount, 0);
    scene.assertNoneLost();
    await scene.again();
    scene.assertFinished();
  });

  for (const error of [new ConfigError('aws-refused', 'expired'), new TransientError('queue-unreachable', 'away')]) {
    it(`gives back what it holds after ${error.code}, and goes on the next time`, async () => {
      const scene = new Scene(300);
      scene.queue.beforeReceive = (call) => {
        if (call > 12) throw error;
      };
      const summary = await scene.drop();
      assert.deepEqual([summary.end, summary.failure?.code], ['failed', error.code]);
      assert.ok(summary.letters.dropped > 0);
      assertAddsUp(summary, scene);
      assert.equal(scene.queue.hiddenCount, 0);
      await scene.again();
      scene.assertFinished();
    });
  }

  it('waits while SQS throttles', async () => {
    const scene = new Scene();
    scene.queue.beforeReceive = (call) => {
      if (call <= 10) throw new TransientError('throttled', 'slow down');
    };
    assert.equal((await scene.drop()).end, 'done');
    scene.assertFinished();
  });

  it('ends where SQS hides no more', async () => {
    const scene = new Scene(300);
    scene.queue.beforeReceive = (call) => {
      if (call > 12) throw new TransientError('in-flight-limit', 'no more');
    };
    const summary = await scene.drop();
    assert.equal(summary.end, 'limit');
    assertAddsUp(summary, scene);
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('finishes what is under way after a signal, and gives back the rest', async () => {
    const scene = new Scene(300);
    scene.queue.beforeReceive = (call) => {
      if (call === 12) scene.stop.abort();
    };
    const summary = await scene.drop();
    assert.equal(summary.end, 'signal');
    assert.ok(summary.letters.dropped > 0 && summary.letters.notReached > 0);
    assertAddsUp(summary, scene);
    assert.equal(scene.queue.hiddenCount, 0);
    await scene.again();
    scene.assertFinished();
  });

  /** The process dies there: nothing that it wanted to do after that is done. */
  type Step = 'before receive' | 'before append' | 'after append' | 'before remove' | 'after remove';
  class Killed extends Error {}

  async function killed(step: Step, call: number): Promise<Scene | undefined> {
    const scene = new Scene();
    let isDead = false;
    const at = (mine: Step) => (number: number) => {
      if (mine === step && number === call) isDead = true;
      if (isDead) throw new Killed();
    };
    const { beforeRemove } = scene.queue;
    scene.queue.beforeReceive = at('before receive');
    scene.queue.beforeRemove = (number, ids) => {
      at('before remove')(number);
      beforeRemove(number, ids);
    };
    scene.queue.afterRemove = at('after remove');
    scene.queue.isStuck = () => isDead;
    scene.disk.before = at('before append');
    scene.disk.after = at('after append');
    await scene.drop().catch((error: unknown) => assert.ok(error instanceof Killed, String(error)));
    scene.queue.beforeRemove = beforeRemove;
    return isDead ? scene : undefined;
  }

  for (const step of ['before receive', 'before append', 'after append', 'before remove', 'after remove'] as const) {
    it(`loses no letter when it is killed ${step}, whichever it is, and ends it the next time`, async () => {
      let call = 1;
      for (let scene = await killed(step, call); scene !== undefined; scene = await killed(step, call)) {
        scene.assertNoneLost();
        assertAddsUp(await scene.again(), scene);
        scene.assertFinished();
        call += 1;
      }
      assert.ok(call > 5, `${call - 1} calls only`);
    });
  }

  it('loses nothing where two do it at once, and one of them is killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 3000 }), fc.nat(100), async (dies, laterMs, count) => {
        const scene = new Scene(count);
        const other = new Disk();
        scene.disks.push(other);
        other.before = (call) => {
          if (call >= dies) throw new Killed();
        };
        const second = scene.clock.sleep(laterMs).then(() => scene.run(other.open()));
        await scene.clock.finish(Promise.allSettled([scene.run(), second]));
        scene.assertNoneLost();
        await scene.again();
        scene.assertFinished();
      }),
      { numRuns: 40 },
    );
  });
});
