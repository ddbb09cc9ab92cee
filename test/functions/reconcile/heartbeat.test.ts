import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildHeartbeat, encodeHeartbeat } from '../../../events/heartbeat.ts';
import { Harness } from './harness.ts';
import { DEAD_LETTER_QUEUE_URL, rawRecord, START } from './records.ts';

const before = (seconds: number): Date => new Date(START.getTime() - seconds * 1000);
const tenants = {
  kind: 'Tenant.platform.example',
  phase: 'failing',
  objectCount: 9,
  unsettledCount: 2,
  oldestUnsettledSeconds: 70,
  lastEventAt: before(65).toISOString(),
};

describe('a heartbeat', () => {
  it('is written down as one line and acknowledged; nothing is asked of a cluster or sent', async () => {
    const harness = new Harness();
    const body = encodeHeartbeat(buildHeartbeat('east', [tenants], { id: '1', now: before(2.5) }));
    assert.deepEqual(await harness.invoke(rawRecord(body, { messageId: 'm' })), []);
    assert.deepEqual(harness.lines, [
      {
        level: 'info',
        message: 'heartbeat',
        fields: {
          branch: 'heartbeat',
          cluster: 'east',
          cellCount: 1,
          streamingCount: 0,
          unsettledCount: 2,
          oldestUnsettledSeconds: 70,
          cells: [tenants],
          ageSeconds: 2.5,
          lastEventAgeSeconds: 65,
          lane: 'live',
          messageIds: ['m'],
          acknowledged: true,
        },
      },
    ]);
    assert.deepEqual([harness.queue.calls.length, harness.east.requests.length], [0, 0]);
  });

  it('of a cluster that this function does not know is written down too', async () => {
    const harness = new Harness();
    const body = encodeHeartbeat(buildHeartbeat('elsewhere', [], { id: '1', now: START }));
    assert.deepEqual(await harness.invoke(rawRecord(body)), []);
    assert.equal(harness.lines[0]?.fields['cluster'], 'elsewhere');
  });

  it('that cannot be read is a dead letter with the reason', async () => {
    const harness = new Harness();
    const body = JSON.stringify({ ...buildHeartbeat('east', [], { id: '1', now: START }), data: 'fine' });
    assert.deepEqual(await harness.invoke(rawRecord(body)), []);
    const [letter] = harness.queue.accepted;
    assert.equal(letter?.queueUrl, DEAD_LETTER_QUEUE_URL);
    assert.match(letter?.message.attributes?.['reason'] ?? '', /^heartbeat, field data: /);
  });

  it('brings no field into the log that it does not have', async () => {
    const harness = new Harness();
    const heartbeat = buildHeartbeat('east', [], { id: '1', now: START });
    const body = JSON.stringify({ ...heartbeat, data: { ...heartbeat.data, branch: 'settled', secret: 'x' } });
    await harness.invoke(rawRecord(body));
    assert.equal(harness.lines[0]?.fields['branch'], 'heartbeat');
    assert.equal('secret' in (harness.lines[0]?.fields ?? {}), false);
  });
});
