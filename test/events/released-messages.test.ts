/**
 * Messages as earlier releases sent them. They lie in queues while a release is rolled out or back, so every later one understands
 * them: what stands here is added to with each release, and never changed.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeEnvelope, encodeEnvelope } from '../../events/envelope.ts';
import { decodeHeartbeat } from '../../events/heartbeat.ts';

const REASONS_OF_0_1_0 = [
  'created',
  'generation-changed',
  'metadata-changed',
  'selected',
  'deleting',
  'deleted',
  'paused',
  'resumed',
  'child-changed',
  'requeue',
  'sweep',
  'resync',
  'manual',
  'replay',
  'retry',
];

const FRAME = `"specversion":"1.0","id":"1","source":"/clusters/east","subject":"platform.example/v1/tenants//acme","time":"2026-11-30T00:00:00.000Z"`;
const ADDRESS = `"cluster":"east","group":"platform.example","version":"v1","plural":"tenants","kind":"Tenant","name":"acme"`;
const COUNTED = `"mustRun":true,"attempt":1,"firstSeenAt":"2026-11-30T00:00:00.000Z"`;
const FAILED = `{"attempt":1,"at":"2026-11-30T00:00:02.000Z","code":"throttled"}`;
const DIAGNOSIS = `{"code":"invalid","errorClass":"TerminalError","httpStatus":422,"httpReason":"Invalid","message":"no","attempts":[${FAILED}],"generationSeen":3,"functionVersion":"local","firstSeenAt":"2026-11-30T00:00:00.000Z","deadLetteredAt":"2026-11-30T00:01:00.000Z"}`;

const envelope = (fields: string, reason = 'retry'): string =>
  `{${FRAME},"type":"dev.dogwatch.reconcile.v1","data":{${ADDRESS},"reason":"${reason}",${COUNTED}${fields}}}`;

const RELEASED: readonly [name: string, body: string][] = [
  ['with no more than it must have', envelope('')],
  ...REASONS_OF_0_1_0.map((reason): [string, string] => [`for the reason ${reason}`, envelope('', reason)]),
  [
    'with all that it may have',
    envelope(
      `,"namespace":"payments","uid":"u","resourceVersion":"18446744073709551615","generation":4,"heldSeconds":1.5,"notBefore":"2026-11-30T00:05:00.000Z","lane":"bulk","history":[${FAILED}],"failures":{"transient":2},"diagnosis":${DIAGNOSIS},"replay":{"count":1,"of":"1","by":"ops","at":"2026-11-30T00:02:00.000Z"}`,
    ),
  ],
];

describe('a message of release 0.1.0', () => {
  for (const [name, body] of RELEASED) {
    it(`is understood ${name}, and sent on as it was`, () => {
      const decoded = decodeEnvelope(body);
      assert.equal(decoded.kind, 'reconcile', JSON.stringify(decoded));
      assert.ok(decoded.kind === 'reconcile');
      assert.deepEqual(JSON.parse(encodeEnvelope(decoded.envelope)), JSON.parse(body));
    });
  }

  it('is understood where it is a heartbeat', () => {
    const cell = `{"kind":"Tenant.platform.example","phase":"streaming","objectCount":2,"unsettledCount":1,"oldestUnsettledSeconds":3}`;
    const data = `{"cluster":"east","cellCount":1,"streamingCount":1,"unsettledCount":1,"oldestUnsettledSeconds":3,"cells":[${cell}]}`;
    const { subject: _, ...frame } = JSON.parse(`{${FRAME}}`) as Record<string, unknown>;
    const body = JSON.stringify({ ...frame, type: 'dev.dogwatch.heartbeat.v1', data: JSON.parse(data) });
    const decoded = decodeHeartbeat(body);
    assert.equal(decoded.kind, 'heartbeat', JSON.stringify(decoded));
  });
});

describe('a message of a release to come', () => {
  it('keeps what it says besides, and waits where its type or its reason is new', () => {
    const more = decodeEnvelope(envelope(',"shard":7'));
    assert.ok(more.kind === 'reconcile');
    assert.equal((more.envelope.data as Record<string, unknown>)['shard'], 7);
    assert.equal(decodeEnvelope(envelope('').replace('reconcile.v1', 'reconcile.v2')).kind, 'newer');
    assert.equal(decodeEnvelope(envelope('', 'lease-expired')).kind, 'newer');
  });
});
