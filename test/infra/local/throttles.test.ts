/** Pollers that take more than the function may run: what is lost by that, and what keeps it from happening. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createPool, type Pool } from '../../../infra/local/function-host/pool.ts';
import { type Scene, startScene, until } from './event-source-scene.ts';

/** Writes what it was given to its log; an event without records lasts until there is a file of its name. */
const FUNCTION = `
const { existsSync } = require('node:fs');
exports.handler = async ({ Records = [], until }) => {
  for (const { body } of Records) console.log('ran ' + body);
  while (until !== undefined && !existsSync(until)) await new Promise((done) => setTimeout(done, 5));
  return null;
};`;

const MAX_RECEIVE_COUNT = 2;

describe('an event source of a function with reserved concurrency', () => {
  let scene: Scene;
  let folder: string;
  const pools: Pool[] = [];
  const ran: string[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'throttles-test-'));
    writeFileSync(join(folder, 'index.cjs'), FUNCTION);
    const work = ['throttled', 'limited'].map((name) => ({
      ...{ name, visibilitySeconds: 1 },
      deadLetter: { name: `${name}-dead`, maxReceiveCount: MAX_RECEIVE_COUNT },
    }));
    scene = await startScene([...work, { name: 'throttled-dead' }, { name: 'limited-dead' }]);
  });
  after(async () => {
    await Promise.all(pools.map((pool) => pool.stop()));
    await scene?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function poolOf(reservedConcurrency: number, timeoutMs = 1_000): Pool {
    const log = (line: string): unknown => ran.push(line);
    const pool = createPool({ artifact: folder, handler: 'index.handler', maximumConcurrency: 10, reservedConcurrency, timeoutMs, log });
    pools.push(pool);
    return pool;
  }

  it('burns receives while somebody else uses it up: healthy messages become dead letters that no code ever saw (B37)', async () => {
    const pool = poolOf(1, 20_000);
    const go = join(folder, 'go');
    const other = pool.invoke({ until: go });
    const bodies = ['a', 'b', 'c'];
    await scene.send('throttled', bodies);
    const kinds: string[] = [];
    const mapping = scene.run(
      'throttled',
      { ...pool, timeoutMs: 1_000 }, // the mapping's own runs are short, as its visibility asks for
      { batchSize: 1, maximumConcurrency: 5, onBatch: ({ result }) => void kinds.push(result.kind) },
    );
    await until(async () => (await scene.depth('throttled-dead')) === bodies.length);
    assert.equal(await scene.depth('throttled'), 0);
    assert.equal(ran.length, 0);
    assert.deepEqual(kinds, Array(bodies.length * MAX_RECEIVE_COUNT).fill('throttled'));
    const lines = mapping.lines.filter(({ message }) => message.startsWith('function was throttled'));
    assert.equal(lines.length, kinds.length, 'one line for each batch');
    assert.deepEqual(lines[0]?.fields, { queueUrl: scene.queues.queueUrl('throttled'), records: 1, reservedConcurrency: 1 });

    // What the dead-letter queue has is the message as it was sent: nobody wrote a diagnosis.
    const letters = await scene.receive('throttled-dead');
    assert.deepEqual(letters.map(({ Body }) => Body).sort(), bodies);
    assert.ok(letters.every(({ MessageAttributes }) => MessageAttributes === undefined));

    writeFileSync(go, '');
    assert.equal((await other).kind, 'answer');
    await scene.send('throttled', ['d']);
    await until(async () => ran.includes('ran d') && (await scene.depth('throttled')) === 0);
    await mapping.stop();
  });

  it('throttles nothing where the maximum concurrency is within it, however many messages wait', async () => {
    const pool = poolOf(1);
    const bodies = Array.from({ length: 30 }, (_, index) => String(index));
    await scene.send('limited', bodies);
    const mapping = scene.run('limited', pool, { batchSize: 1, maximumConcurrency: 1 });
    await until(async () => (await scene.depth('limited')) === 0);
    await mapping.stop();
    assert.deepEqual(mapping.lines, []);
    assert.equal(await scene.depth('limited-dead'), 0);
    for (const body of bodies) assert.equal(ran.filter((line) => line === `ran ${body}`).length, 1, body);
  });
});
