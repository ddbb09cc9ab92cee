import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Mark } from '../../../events/dirty-marks.ts';
import { clusterName, type ResourceType } from '../../../events/resource.ts';
import { envelopeDataOf, messageOf } from '../../../functions/watcher/message.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { envelopeOf } from '../../fakes/queue.ts';

const east = clusterName('east');
const claims: ResourceType = { group: 'platform.example', version: 'v1', kind: 'QueueClaim', plural: 'queueclaims', scope: 'Namespaced' };
const now = new Date('2026-03-01T10:00:00.000Z');
const clock = new FakeClock({ start: now });
const mark: Mark = {
  uid: 'u1',
  namespace: 'payments',
  name: 'orders',
  resourceVersion: '9007199254740993',
  generation: 4,
  reason: 'deleting',
  mustRun: true,
  lane: 'live',
  firstSeenAtMs: now.getTime() - 20,
};

describe('envelopeDataOf', () => {
  it('is a first attempt for what the mark says, and nothing else', () => {
    assert.deepEqual(envelopeDataOf(east, claims, mark, clock), {
      cluster: 'east',
      group: 'platform.example',
      version: 'v1',
      plural: 'queueclaims',
      kind: 'QueueClaim',
      namespace: 'payments',
      name: 'orders',
      uid: 'u1',
      resourceVersion: '9007199254740993',
      generation: 4,
      reason: 'deleting',
      mustRun: true,
      attempt: 1,
      firstSeenAt: '2026-03-01T09:59:59.980Z',
    });
  });

  it('leaves out what is not there: namespace, generation, a version that is no position', () => {
    const { namespace: _namespace, generation: _generation, ...bare } = mark;
    for (const resourceVersion of ['0', '', 'abc-7', '007']) {
      const data = envelopeDataOf(east, claims, { ...bare, resourceVersion }, clock);
      for (const field of ['namespace', 'generation', 'resourceVersion', 'heldSeconds', 'lane']) assert.equal(field in data, false, field);
    }
  });

  it('does not count the time that a mark waited for the queue as the object’s age', () => {
    const waited = (ms: number): number | undefined =>
      envelopeDataOf(east, claims, { ...mark, firstSeenAtMs: now.getTime() - ms }, clock).heldSeconds;
    assert.deepEqual([waited(0), waited(999), waited(1000), waited(7_200_900), waited(-5000)], [undefined, undefined, 1, 7200, undefined]);
  });
});

describe('messageOf', () => {
  it('has a new id and a new trace for every send, the time of the send, and the cluster as its group', () => {
    const clock = new FakeClock({ start: now });
    const [first, second] = [messageOf(east, claims, mark, clock), messageOf(east, claims, mark, clock)];
    const [a, b] = [envelopeOf(first), envelopeOf(second)];
    assert.notEqual(a.id, b.id);
    assert.notEqual(a.traceparent, b.traceparent);
    assert.equal(a.time, now.toISOString());
    assert.deepEqual({ groupId: first.groupId, delaySeconds: first.delaySeconds }, { groupId: 'east', delaySeconds: 0 });
    assert.equal(first.attributes, undefined);
  });

  it('is kept back by the queue as long as the mark says', () => {
    assert.equal(messageOf(east, claims, { ...mark, reason: 'deleted', delaySeconds: 35 }, new FakeClock()).delaySeconds, 35);
  });
});
