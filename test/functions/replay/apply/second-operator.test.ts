/**
 * Apply among others: a second one with a copy of the plan, people who receive, delete and redrive letters, and services that fail. Whatever
 * happens when, no letter is lost, every account adds up, and an apply that is let through in the end finishes what is left.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ConfigError, TransientError } from '../../../../functions/core/errors.ts';
import { readLetter } from '../../../../functions/core/letter.ts';
import type { PlanToApply } from '../../../../functions/replay/apply/contract.ts';
import { VISIBILITY_SECONDS } from '../../../../functions/replay/look-through.ts';
import { Random } from '../../../simulation/random.ts';
import { assertNothingLost } from './invariants.ts';
import { AuditText, assertSums, type Fault, Operator, type PortCall } from './operator.ts';
import { type Behaviour, World } from './world.ts';

const BEHAVIOURS: readonly Behaviour[] = ['heals', 'heals', 'heals', 'fails', 'fails-alike', 'hangs'];
const MISCHIEF = ['take', 'take', 'delete', 'redrive', 'heal', 'replace'] as const;
/** Both operators and everybody else are at it for so long. */
const STORM_SECONDS = 90;

async function scene(random: Random): Promise<{ readonly world: World; readonly plan: PlanToApply }> {
  const world = new World();
  for (let at = 0; at < random.int(3, 14); at += 1) {
    const name = `t${at}`;
    const cluster = random.chance(0.3) ? 'west' : 'east';
    if (random.chance(0.85)) world.tenant(name, { cluster, isSettled: random.chance(0.3), behaviour: random.pick(BEHAVIOURS) });
    const uid = random.chance(0.15) ? { uid: `old-${at}` } : {};
    for (let copies = random.int(1, 3); copies > 0; copies -= 1) world.letter(name, { cluster, mustRun: random.chance(0.3), ...uid });
  }
  if (random.chance(0.3)) world.letters.add('nobody knows this text');
  return { world, plan: await world.plan() };
}

/** Services fail for a while, and each call now and then: a message that is never accepted, however often it is tried, must be among them. */
class Weather {
  readonly #random: Random;
  readonly #spells: readonly { readonly call: PortCall; readonly fromMs: number; readonly toMs: number; readonly severity: number }[];
  readonly #nowMs: () => number;

  constructor(random: Random, nowMs: () => number) {
    this.#random = random;
    this.#nowMs = nowMs;
    this.#spells = Array.from({ length: random.int(0, 5) }, () => {
      const fromMs = nowMs() + random.int(-20, STORM_SECONDS / 2) * 1000;
      const call = random.pick(['receive', 'get', 'send', 'send', 'send', 'remove', 'extend', 'append'] as const);
      return { call, fromMs, toMs: fromMs + random.int(5, 60) * 1000, severity: random.pick([0.5, 0.9, 1]) };
    });
  }

  faultOf(call: PortCall): Fault | undefined {
    const nowMs = this.#nowMs();
    const spell = this.#spells.find((one) => one.call === call && one.fromMs <= nowMs && nowMs < one.toMs);
    return this.#random.chance(spell?.severity ?? 0.03) ? faultOf(this.#random, call) : undefined;
  }
}

function faultOf(random: Random, call: PortCall): Fault | undefined {
  switch (call) {
    case 'receive':
      if (random.chance(0.1)) return { throws: new ConfigError('aws-refused', 'the credentials have expired') };
      return { throws: new TransientError(random.pick(['throttled', 'queue-unreachable', 'in-flight-limit']), 'not now') };
    case 'get':
      return { throws: new TransientError(random.pick(['unreachable', 'timeout', 'throttled', 'forbidden', 'server-error']), 'not now') };
    case 'append':
      return random.chance(0.2) ? { throws: new ConfigError('audit-unwritable', 'the disk is full') } : undefined;
    case 'send':
    case 'extend':
    case 'remove':
    case 'release': {
      const code = random.chance(0.03) ? 'ExpiredToken' : 'ThrottlingException';
      return { part: random.pick([0.3, 0.6, 1]), isDone: random.chance(0.2), code };
    }
  }
}

/** One who applies the plan again and again, killed now and then, until the storm is over. */
async function applyStubbornly(world: World, plan: PlanToApply, audit: AuditText, random: Random, endMs: number): Promise<void> {
  const weather = new Weather(random.fork(), () => world.clock.steadyMs());
  while (world.clock.steadyMs() < endMs) {
    const kill = random.chance(0.4) ? { call: random.int(1, 60), when: random.pick(['before', 'middle', 'after'] as const) } : undefined;
    const wait = (): Promise<void> => world.clock.sleep(random.int(0, 700));
    const operator = new Operator(world, {
      ...{ plan, audit, settings: { canary: random.int(1, 6), ratePerSecond: random.pick([0.2, 1, 5]) }, before: wait, after: wait },
      ...(kill === undefined ? {} : { kill }),
      fault: (call) => weather.faultOf(call),
    });
    const stopAt = random.chance(0.3) ? world.clock.sleep(random.int(1, 60) * 1000).then(() => operator.stop.abort()) : undefined;
    const summary = await operator.outcome().catch((error: unknown) => {
      assert.ok(error instanceof ConfigError && error.code === 'audit-unwritable', String(error));
      return undefined;
    });
    if (summary !== undefined) assertSums(summary, plan);
    void stopAt;
    await world.clock.sleep(random.int(1, 60) * 1000);
  }
}

/** Somebody with the console open. @returns message ids that are nobody's business any more */
async function meddle(world: World, plan: PlanToApply, random: Random, endMs: number, taken: Set<string>): Promise<void> {
  while (world.clock.steadyMs() < endMs) {
    await world.clock.sleep(random.int(1, 20) * 1000);
    const mischief = random.pick(MISCHIEF);
    const { object } = random.pick(plan.items);
    switch (mischief) {
      case 'take':
        world.letters.takeElsewhere(random.int(1, 10), random.int(1, 90));
        break;
      case 'delete':
      case 'redrive':
        for (const letter of await world.letters.receive({ visibilitySeconds: 30, waitSeconds: 0 })) {
          const read = readLetter(letter);
          if (mischief === 'redrive' && 'envelope' in read) world.run(read.envelope);
          taken.add(letter.messageId);
          await world.letters.remove([letter.receiptHandle]);
        }
        break;
      case 'heal':
        if (object !== undefined && world.object(object.name, object.cluster) !== undefined)
          world.show(object.name, object.cluster, 'settled');
        break;
      case 'replace':
        if (object === undefined) break;
        world.delete(object.name, object.cluster);
        if (random.chance(0.5)) world.tenant(object.name, { cluster: object.cluster });
        break;
    }
  }
}

describe('applyPlan, among others', () => {
  it('loses nothing, whatever happens when', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = new Random(seed);
        const { world, plan } = await scene(random);
        const endMs = world.clock.steadyMs() + STORM_SECONDS * 1000;
        const audits = [new AuditText(), new AuditText()] as const;
        const taken = new Set<string>();
        const storm = Promise.all([
          ...audits.map((audit) => applyStubbornly(world, plan, audit, random.fork(), endMs)),
          meddle(world, plan, random.fork(), endMs, taken),
        ]);
        await world.clock.finish(storm);
        await world.clock.advance(VISIBILITY_SECONDS * 1000);
        const last = await new Operator(world, { plan, audit: audits[0], settings: { again: true } }).run();
        assert.ok(last !== undefined);
        assertSums(last, plan);
        assert.equal(last.end, 'done');
        await world.clock.advance(10_000);
        assertNothingLost({ world, items: plan.items, audits: audits.map(({ text }) => text), takenByOthers: taken });
        assertThrough(world, plan);
      }),
      { numRuns: 40 },
    );
  });
});

/** Letters of the plan that are left are those which it leaves. */
function assertThrough(world: World, plan: PlanToApply): void {
  const present = new Set(world.letters.stored.map(({ messageId }) => messageId));
  for (const item of plan.items) {
    if (item.class === 'unreadable' || item.class === 'unknown') continue;
    const left = item.letters.filter(({ messageId }) => present.has(messageId));
    if (item.class === 'to-replay') assert.deepEqual(left, [], `${item.object?.name} is left`);
  }
}
