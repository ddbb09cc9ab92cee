import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { byteSize, decodeEnvelope, ENVELOPE_MAX_BYTES } from '../../events/envelope.ts';
import { buildHeartbeat, decodeHeartbeat, encodeHeartbeat, HEARTBEAT_TYPE, type HeartbeatCell } from '../../events/heartbeat.ts';

const now = new Date('2026-03-01T10:00:00.000Z');
const frame = { id: 'id-1', now };
const cell = (over: Partial<HeartbeatCell> = {}): HeartbeatCell => ({
  kind: 'Tenant.platform.example',
  phase: 'streaming',
  objectCount: 3,
  unsettledCount: 0,
  oldestUnsettledSeconds: 0,
  ...over,
});

describe('buildHeartbeat', () => {
  it('says how the cells are, the worst first, and sums them up', () => {
    const cells = [
      cell({ kind: 'A.x', unsettledCount: 2, oldestUnsettledSeconds: 5, lastEventAt: '2026-03-01T09:59:00.000Z' }),
      cell({ kind: 'B.x', unsettledCount: 1, oldestUnsettledSeconds: 90.5, lastEventAt: '2026-03-01T09:59:30.000Z' }),
      cell({ kind: 'C.x', phase: 'failing', code: 'unreachable' }),
    ];
    const { data, ...rest } = buildHeartbeat('east', cells, frame);
    assert.deepEqual(rest, { specversion: '1.0', id: 'id-1', type: HEARTBEAT_TYPE, source: '/clusters/east', time: now.toISOString() });
    assert.deepEqual(
      data.cells.map(({ kind }) => kind),
      ['C.x', 'B.x', 'A.x'],
    );
    assert.deepEqual(
      { ...data, cells: undefined },
      {
        cluster: 'east',
        cellCount: 3,
        streamingCount: 2,
        unsettledCount: 3,
        oldestUnsettledSeconds: 90.5,
        lastEventAt: '2026-03-01T09:59:30.000Z',
        cells: undefined,
      },
    );
  });

  it('is complete without any cell or event', () => {
    const { data } = buildHeartbeat('east', [], frame);
    assert.deepEqual(data, { cluster: 'east', cellCount: 0, streamingCount: 0, unsettledCount: 0, oldestUnsettledSeconds: 0, cells: [] });
  });
});

describe('encodeHeartbeat and decodeHeartbeat', () => {
  it('are a round trip', () => {
    const heartbeat = buildHeartbeat('east', [cell({ role: 'primary', code: 'unreachable', phase: 'failing' }), cell()], {
      ...frame,
      traceparent: '00-1-2-01',
    });
    assert.deepEqual(decodeHeartbeat(encodeHeartbeat(heartbeat)), { kind: 'heartbeat', heartbeat });
  });

  it('stay under 4 KiB for any number of cells, keep those in the worst trouble, and count all', () => {
    const kinds = fc.array(fc.record({ kind: fc.string({ minLength: 1, maxLength: 320 }), isBad: fc.boolean() }), { maxLength: 200 });
    fc.assert(
      fc.property(kinds, (all) => {
        const cells = all.map(({ kind, isBad }) => cell({ kind, phase: isBad ? 'failing' : 'streaming' }));
        const body = encodeHeartbeat(buildHeartbeat('east', cells, frame));
        assert.ok(byteSize(body) <= ENVELOPE_MAX_BYTES);
        const decoded = decodeHeartbeat(body);
        assert.ok(decoded.kind === 'heartbeat');
        const { data } = decoded.heartbeat;
        assert.equal(data.cellCount, cells.length);
        assert.equal(data.streamingCount, cells.filter(({ phase }) => phase === 'streaming').length);
        const badCount = cells.length - data.streamingCount;
        const kept = data.cells.filter(({ phase }) => phase === 'failing').length;
        assert.equal(kept, Math.min(badCount, data.cells.length));
      }),
      { numRuns: 50 },
    );
  });

  it('leave out no cell without need', () => {
    const cells = Array.from({ length: 20 }, (_, index) => cell({ kind: `Kind${index}.platform.example` }));
    const decoded = decodeHeartbeat(encodeHeartbeat(buildHeartbeat('east', cells, frame)));
    assert.equal(decoded.kind === 'heartbeat' && decoded.heartbeat.data.cells.length, 20);
  });

  it('say which field is wrong', () => {
    const heartbeat = buildHeartbeat('east', [], frame);
    const wrong = JSON.stringify({ ...heartbeat, data: { ...heartbeat.data, unsettledCount: -1 } });
    const decoded = decodeHeartbeat(wrong);
    assert.match(decoded.kind === 'foreign' ? decoded.reason : '', /^heartbeat, field data\.unsettledCount: /);
  });

  it('are a newer type to whoever knows no heartbeats', () => {
    assert.deepEqual(decodeEnvelope(encodeHeartbeat(buildHeartbeat('east', [], frame))), { kind: 'newer', type: HEARTBEAT_TYPE });
  });
});
