/** The upkeep of a kind beside its stream, in virtual time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DirtyMarks } from '../../../events/dirty-marks.ts';
import { KnownObjects } from '../../../events/known-objects.ts';
import type { ObservedObject } from '../../../events/observed-object.ts';
import { createUpkeep, type UpkeepSettings } from '../../../functions/watcher/upkeep.ts';
import { object, status, UNTOUCHED } from '../../events/builders.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { Scene, tenants, UPKEEP } from './scene.ts';

/** Upkeep alone. */
class Lab {
  readonly clock = new FakeClock();
  readonly known = new KnownObjects({ revision: 1 });
  readonly marks = new DirtyMarks();
  isStreaming = true;
  readonly #stop = new AbortController();
  readonly #run: Promise<void>;

  constructor(settings: Partial<UpkeepSettings>) {
    const { known, marks, clock } = this;
    this.#run = createUpkeep({ known, marks, settings: { ...UPKEEP, ...settings }, clock }).run(this.#stop.signal, () => this.isStreaming);
  }

  /** Marks of a resync that leave, where only so many can. */
  takeReasons(count: number): string[] {
    const marks = this.marks.take(count, Infinity);
    for (const mark of marks) this.marks.accepted(mark);
    return marks.map(({ reason }) => reason);
  }

  see(overrides: Partial<ObservedObject>): void {
    this.known.observe(object(overrides), 'first-list', this.clock.now().getTime());
  }

  take(): number {
    const marks = this.marks.take(100, Infinity);
    for (const mark of marks) this.marks.accepted(mark);
    return marks.length;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#run;
  }
}

/** What may be sent now, as `reason name`; counted as sent. */
function sentNow(scene: Scene): string[] {
  const marks = scene.marks.take(100, scene.clock.now().getTime());
  for (const mark of marks) scene.marks.accepted(mark);
  return marks.map(({ reason, name, lane, mustRun }) => `${reason} ${name} ${lane}${mustRun ? ' must-run' : ''}`).sort();
}

describe('upkeep', () => {
  it('heals after a queue was purged, without a restart', async () => {
    const scene = new Scene({ healAfterSeconds: 2 });
    scene.create('settled', 1);
    await scene.start();
    scene.create('a');
    scene.create('b');
    await scene.clock.settle();
    assert.deepEqual(sentNow(scene), ['created a live', 'created b live']);
    await scene.clock.advance(4_000);
    assert.deepEqual(sentNow(scene), ['sweep a bulk', 'sweep b bulk']);
    scene.cluster.edit(tenants, { name: 'a' }, (draft) => {
      draft['status'] = { observedGeneration: 1 };
    });
    await scene.clock.advance(6_000);
    assert.deepEqual(sentNow(scene), ['sweep b bulk']);
    await scene.stop();
  });

  it('runs every object once in the time of a resync', async () => {
    const scene = new Scene({ resyncSeconds: 60 });
    for (const name of ['a', 'b', 'c']) scene.create(name, 1);
    await scene.start();
    await scene.clock.advance(60_000);
    const all = ['a', 'b', 'c'].map((name) => `resync ${name} bulk must-run`);
    assert.deepEqual(sentNow(scene), all);
    await scene.clock.advance(60_000);
    assert.deepEqual(sentNow(scene), all);
    await scene.stop();
  });

  it('heals an object whose resync has waited since before, and counts the time from when a resync leaves', async () => {
    const lab = new Lab({ resyncSeconds: 60, healAfterSeconds: 100 });
    lab.known.beginList();
    lab.see({ status: UNTOUCHED });
    lab.known.endList();
    await lab.clock.advance(95_000);
    assert.equal(lab.marks.has('uid1'), false); // a resync that waits
    await lab.clock.advance(10_000);
    assert.equal(lab.marks.has('uid1'), true);
    assert.deepEqual(lab.takeReasons(1), ['resync']); // with the healing in it
    await lab.clock.advance(90_000);
    assert.deepEqual([lab.marks.size, lab.marks.has('uid1')], [1, false]);
    assert.deepEqual(lab.takeReasons(1), ['resync']);
    await lab.clock.advance(95_000);
    assert.deepEqual([lab.marks.size, lab.marks.has('uid1')], [1, false]);
    await lab.clock.advance(10_000);
    assert.deepEqual([lab.marks.size, lab.marks.has('uid1')], [1, true]);
    await lab.stop();
  });

  it('does nothing while the kind has not been listed, and makes up for the time once it was', async () => {
    const lab = new Lab({ resyncSeconds: 60 });
    lab.known.beginList();
    lab.see({ status: UNTOUCHED });
    await lab.clock.advance(120_000);
    assert.equal(lab.marks.size, 0);
    lab.known.endList();
    await lab.clock.advance(5_000);
    assert.equal(lab.marks.take(1, 0)[0]?.reason, 'resync');
    await lab.stop();
  });

  it('holds what changes all the time, and lets go of it in the end', async () => {
    const scene = new Scene();
    scene.create('a', 1);
    await scene.start();
    const sent: string[] = [];
    for (let change = 0; change < 100; change += 1) {
      scene.change('a');
      await scene.clock.advance(100);
      sent.push(...sentNow(scene));
    }
    await scene.clock.advance(60_000);
    sent.push(...sentNow(scene));
    assert.ok(sent.length >= 2 && sent.length <= 8, `${sent.length} messages`);
    assert.equal(scene.marks.size, 0);
    await scene.stop();
  });

  it('holds the time at which an object wants to run again against the clock that says when that is', async () => {
    const lab = new Lab({ resyncSeconds: 1e9 });
    const nextReconcileTime = new Date(lab.clock.now().getTime() + 3_600_000).toISOString();
    lab.known.beginList();
    lab.see({ status: status({ nextReconcileTime }) });
    lab.known.endList();
    await lab.clock.advance(60_000);
    assert.equal(lab.take(), 0);
    lab.clock.setForward(2 * 3_600_000);
    await lab.clock.advance(5_000);
    assert.equal(lab.take(), 1);
    await lab.clock.advance(590_000);
    assert.equal(lab.take(), 0, 'the time until it is healed again is an interval');
    await lab.stop();
  });

  it('takes no time for past while nobody tells of changes, nor at the moment when a stream is open again', async () => {
    const lab = new Lab({ resyncSeconds: 1e9 });
    const see = (inSeconds: number): void => {
      const nextReconcileTime = new Date(lab.clock.now().getTime() + inSeconds * 1000).toISOString();
      lab.see({ resourceVersion: String(lab.clock.now().getTime()), status: status({ nextReconcileTime }) });
    };
    lab.known.beginList();
    see(60);
    lab.known.endList();
    lab.isStreaming = false;
    await lab.clock.advance(3_600_000);
    lab.isStreaming = true;
    await lab.clock.advance(5_000);
    see(60); // what the stream had to catch up with
    assert.equal(lab.known.unsettled(lab.clock.now().getTime()).count, 0);
    await lab.clock.advance(355_000);
    assert.equal(lab.take(), 0);
    await lab.clock.advance(10_000);
    assert.equal(lab.take(), 1);
    await lab.stop();
  });

  it('goes on when the clock is set back', async () => {
    const lab = new Lab({ resyncSeconds: 60 });
    lab.known.beginList();
    lab.see({});
    lab.known.endList();
    await lab.clock.advance(60_000);
    assert.equal(lab.take(), 1);
    lab.clock.setForward(-3_600_000);
    await lab.clock.advance(65_000);
    assert.equal(lab.take(), 1);
    await lab.stop();
  });

  it('ends with its signal, however long its pause is', async () => {
    const scene = new Scene();
    await scene.start();
    await scene.stop();
    assert.equal(scene.clock.sleeperCount, 0);
  });
});
