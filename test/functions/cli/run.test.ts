/** `dogwatch run` as a process, between the queues of local-aws-sqs and a function that only says what it was given. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Scene, startScene, until } from '../../infra/local/event-source-scene.ts';
import { makeFunction, makeRoot, type RunningRun, removeRoot, startRun } from './run-scene.ts';

/** Lasts until there is a file `go-<queue>`; leaves `done-<queue>-<records>-<runs at once>-<id>`. */
const functionIn = (dir: string): string => `
const { existsSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const at = (name) => ${JSON.stringify(`${dir}/`)} + name;
exports.handler = async ({ Records }, { awsRequestId }) => {
  const queue = Records[0].eventSourceARN.split(':').at(-1);
  const own = at('running-' + queue + '-' + awsRequestId);
  writeFileSync(own, '');
  const atOnce = readdirSync(at('')).filter((name) => name.startsWith('running-' + queue)).length;
  while (!existsSync(at('go-' + queue))) await new Promise((done) => setTimeout(done, 5));
  rmSync(own);
  writeFileSync(at(['done', queue, Records.length, atOnce, awsRequestId].join('-')), '');
};`;

describe('dogwatch run', () => {
  let root: string;
  let scene: Scene;
  let dir: string;
  let running: RunningRun | undefined;

  before(async () => {
    root = makeRoot();
    scene = await startScene([{ name: 'live' }, { name: 'bulk' }, { name: 'dead' }]);
  });
  afterEach(() => {
    running?.child.kill('SIGKILL');
  });
  after(async () => {
    await scene?.stop();
    removeRoot(root);
  });

  function start(name: string, words: readonly string[]): Promise<number | null> {
    const artifact = makeFunction(root, name, functionIn);
    dir = join(artifact, 'files');
    running = startRun({ scene, root, artifact, words });
    return running.ended;
  }

  const output = (): string => running?.output() ?? '';
  const go = (queue: string): void => writeFileSync(join(dir, `go-${queue}`), '');
  const count = (prefix: string): number => readdirSync(dir).filter((name) => name.startsWith(prefix)).length;
  /** Records, or runs at once, of each run that ended. */
  const done = (queue: string, what: 'records' | 'atOnce'): number[] =>
    readdirSync(dir)
      .filter((name) => name.startsWith(`done-${queue}-`))
      .map((name) => Number(name.split('-')[what === 'records' ? 2 : 3]));
  const numbers = (length: number): string[] => Array.from({ length }, (_, index) => String(index));

  it('gives each lane its own maximum, so that a bulk lane that is full takes nothing from the live one', async () => {
    const ended = start('lanes', ['--batch-size', '1', '--concurrency', '2', '--bulk-concurrency', '1']);
    await scene.send('bulk', numbers(3));
    await until(() => count('running-bulk') === 1);
    await scene.send('live', numbers(4));
    await until(() => count('running-live') === 2);
    go('live');
    await until(() => count('done-live') === 4);
    assert.deepEqual([count('running-bulk'), count('done-bulk')], [1, 0]);
    go('bulk');
    await until(() => count('done-bulk') === 3);
    assert.equal(Math.max(...done('live', 'atOnce')), 2);
    assert.equal(Math.max(...done('bulk', 'atOnce')), 1);
    running?.child.kill('SIGTERM');
    assert.equal(await ended, 0, output());
    assert.deepEqual([await scene.depth('live'), await scene.depth('bulk')], [0, 0]);
  });

  it('gathers larger batches in a window, and gives the bulk lane the live one’s maximum unless told otherwise', async () => {
    const ended = start('window', ['--batch-size', '11', '--batch-window', '2', '--concurrency', '1']);
    for (const queue of ['live', 'bulk']) await scene.send(queue, numbers(12));
    await until(() => count('running-live') === 1 && count('running-bulk') === 1);
    for (const queue of ['live', 'bulk']) go(queue);
    await until(() => count('done-live') === 2 && count('done-bulk') === 2);
    for (const queue of ['live', 'bulk']) {
      assert.deepEqual(
        done(queue, 'records').sort((one, other) => one - other),
        [1, 11],
      );
      assert.equal(Math.max(...done(queue, 'atOnce')), 1);
    }
    running?.child.kill('SIGTERM');
    assert.equal(await ended, 0, output());
  });

  it('handles what it had gathered when it is told to stop', async () => {
    const ended = start('stopped', ['--batch-size', '1000', '--batch-window', '300']);
    go('live');
    await until(() => output().includes('polling'));
    await scene.send('live', numbers(3));
    await until(async () => (await scene.inFlight('live')) === 3);
    running?.child.kill('SIGTERM');
    assert.equal(await ended, 0, output());
    assert.deepEqual(done('live', 'records'), [3]);
  });

  for (const [words, says] of [
    [['--batch-size', '11'], /--batch-window/],
    [['--batch-size', '10001', '--batch-window', '1'], /from 1 to 10000/],
    [['--batch-window', '301'], /from 0 to 300/],
    [['--bulk-concurrency', '0'], /from 1 to 100/],
  ] as const) {
    it(`ends with 2 and one line for ${words.join(' ')}`, async () => {
      assert.equal(await start('refused', words), 2, output());
      assert.match(output().trim(), /^[^\n]+$/);
      assert.match(output(), says);
    });
  }
});
