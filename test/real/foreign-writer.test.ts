/** Somebody else who writes into the status of our objects all the time. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from './api.ts';
import { type System, startSystem } from './system.ts';
import { allSettled, changeTenant, conditionOf, createTenant, settled, TENANTS } from './tenants.ts';

const OBJECTS = 20;
const WRITES_A_SECOND = 50;
const SECONDS = 20;

describe('a foreign writer of status', () => {
  let system: System;
  const name = (index: number): string => `shared-${index % OBJECTS}`;

  before(async () => {
    system = await startSystem();
    await Promise.all(Array.from({ length: OBJECTS }, (_, index) => createTenant(system.api, name(index))));
    await allSettled(system.api, OBJECTS);
    await system.drained();
  });
  after(async () => {
    await system?.stop();
  });

  /** Applies a condition of the writer's own, with a message that is new each time. */
  const write = async (index: number): Promise<void> => {
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const answer = await system.api.apply(`${TENANTS}/${name(index)}/status`, 'other-controller', {
      apiVersion: 'platform.example/v1',
      kind: 'Tenant',
      metadata: { name: name(index) },
      status: { conditions: [{ type: 'Synced', status: 'True', reason: 'Beat', message: `beat ${index}`, lastTransitionTime }] },
    });
    assert.equal(answer.status, 200, answer.body.message);
  };

  it(`costs no message with ${WRITES_A_SECOND} writes a second on ${OBJECTS} objects for ${SECONDS} s`, async (t) => {
    const sentBefore = await system.metric('dogwatch_sends_total', 'result="sent"');
    const beganMs = Date.now();
    for (let index = 0; index < WRITES_A_SECOND * SECONDS; index += 1) {
      await write(index);
      await until('the next write', () => Date.now() >= beganMs + (1000 / WRITES_A_SECOND) * (index + 1) || undefined, 5_000, 2);
    }
    const tookSeconds = (Date.now() - beganMs) / 1000;
    const sent = (await system.metric('dogwatch_sends_total', 'result="sent"')) - sentBefore;
    const depths = [await system.depth('live'), await system.depth('bulk')].map(({ total }) => total);
    t.diagnostic(`${WRITES_A_SECOND * SECONDS} foreign writes in ${tookSeconds.toFixed(1)} s: ${sent} messages`);
    assert.equal(sent, 0);
    assert.deepEqual(depths, [0, 0]);
  });

  it('does not keep a spec change from settling while it goes on, and neither loses its condition', async () => {
    let isOver = false;
    const writing = (async () => {
      for (let index = 0; !isOver; index += 1) await write(index);
    })();
    try {
      for (let index = 0; index < 5; index += 1) await changeTenant(system.api, name(index), { owner: 'new@acme.example' });
      for (let index = 0; index < 5; index += 1) {
        const object = await settled(system.api, name(index));
        assert.equal(conditionOf(object, 'Synced')?.reason, 'Beat');
      }
    } finally {
      isOver = true;
      await writing;
    }
  });
});
