import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildHeartbeat, encodeHeartbeat } from '../../../events/heartbeat.ts';
import type { Metric } from '../../../functions/core/metric.ts';
import { Harness } from './harness.ts';
import { dataOf, rawRecord, recordOf, START } from './records.ts';

/** `name{cluster,branch}`, sorted, of the last invocation. */
const toldBy = (harness: Harness): string[] => (harness.flushes.at(-1) ?? []).map(nameOf).sort();
const nameOf = ({ name, dimensions: { cluster, branch } }: Metric): string => `${name}{${[cluster, branch].filter(Boolean).join()}}`;
const heartbeat = (cluster: string): string => encodeHeartbeat(buildHeartbeat(cluster, [], { id: '1', now: START }));

describe('the numbers of an invocation', () => {
  it('are told once, at its end, of every record in it', async () => {
    const harness = new Harness();
    harness.createWidget();
    await harness.invoke(harness.recordFor(), recordOf(dataOf({ name: 'none' })), rawRecord('{}'), rawRecord(heartbeat('east')));
    assert.equal(harness.flushes.length, 1);
    assert.deepEqual(toldBy(harness), [
      'ApiRequests{east}',
      'ApiRequests{east}',
      'DeadLetters{unknown}',
      'HeartbeatAge{east}',
      'Heartbeats{east}',
      'OldestUnsettled{east}',
      'Records{east,gone}',
      'Records{east,reconciled}',
      'Records{unknown,foreign}',
      'RunDuration{east}',
      'RunDuration{east}',
      'UnsettledObjects{east}',
      'WatchesDown{east}',
    ]);
    const requests = harness.flushes.flat().filter(({ name }) => name === 'ApiRequests');
    const logged = harness.lines.flatMap(({ fields }) => fields['apiRequestCount'] ?? []);
    assert.deepEqual(requests.map(({ value }) => value).sort(), logged.sort());
  });

  it('have no dimension that a body made up: a cluster that is not in the registry is `unknown`', async () => {
    const harness = new Harness();
    await harness.invoke(recordOf(dataOf({ cluster: 'elsewhere' })), rawRecord(heartbeat('elsewhere')));
    assert.deepEqual(toldBy(harness), ['Heartbeats{unknown}', 'Records{unknown,unknown-target}', 'Retries{unknown}']);
  });

  it('are told as well where the invocation fails, and of a fault that nobody foresaw', async () => {
    const harness = new Harness();
    harness.createWidget();
    const record = harness.recordFor();
    harness.clock.uuid = () => {
      throw new Error('no randomness');
    };
    harness.author = () => {
      throw new Error('no');
    };
    assert.deepEqual(await harness.invoke(record), [record.messageId]);
    assert.deepEqual(toldBy(harness), ['LeftInQueue{east}', 'Records{east,unforeseen}']);
    assert.equal(harness.lines.at(-1)?.fields['key'], 'east/platform.example/Widget//a');
    assert.match(String(harness.lines.at(-1)?.fields['stack']), /^at .*telemetry\.test\.ts:\d+:\d+/);
  });

  it('that cannot be written are an error in the log, and nothing is done again for it', async () => {
    const harness = new Harness();
    harness.createWidget();
    harness.flushes.push = () => {
      throw new Error('full');
    };
    assert.deepEqual(await harness.invoke(harness.recordFor()), []);
    assert.equal(harness.lines.at(-1)?.message, 'metrics not written');
  });
});
