/** What a function answers, in a process of its own, and what is left of its batch in the queue: every shape, from end to end. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createPool, type Pool } from '../../../infra/local/function-host/pool.ts';
import { type Scene, startScene, until } from './event-source-scene.ts';

/** Runs the code that its first record brings. `id` is of a record of the batch, `fail` an answer as Lambda wants it. */
const FUNCTION = `
const http = require('node:http');
exports.handler = async ({ Records }, context) => {
  const id = (name) => Records.find(({ body }) => JSON.parse(body).name === name).messageId;
  const fail = (...ids) => ({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });
  const post = (text) => new Promise((done) => {
    const path = '/2018-06-01/runtime/invocation/' + context.awsRequestId + '/response';
    http.request('http://' + process.env.AWS_LAMBDA_RUNTIME_API + path, { method: 'POST' }, (response) => response.resume().on('end', done)).end(text);
  });
  return new Function('Records', 'id', 'fail', 'post', 'return (async () => {' + JSON.parse(Records[0].body).code + '})()')(Records, id, fail, post);
};`;

const NAMES = ['a', 'b', 'c'] as const;
type Failed = 'none' | 'all' | readonly (typeof NAMES)[number][];

const ROWS: readonly (readonly [what: string, code: string, failed: Failed])[] = [
  ['nothing', 'return;', 'none'],
  ['null', 'return null;', 'none'],
  ['what JSON does not know, which becomes null', 'return () => {};', 'none'],
  ['not a number, which becomes null', 'return NaN;', 'none'],
  ['an empty text', "return '';", 'none'],
  ['an empty object', 'return {};', 'none'],
  ['null as the list', 'return { batchItemFailures: null };', 'none'],
  ['undefined as the list', 'return { batchItemFailures: undefined };', 'none'],
  ['an empty list', 'return fail();', 'none'],
  ['no bytes at all', "await post('');", 'none'],
  ['failures that a status code wraps, which are lost', "return { statusCode: 200, body: JSON.stringify(fail(id('a'))) };", 'none'],
  ['failures under a misspelt name, which are lost', "return { batchItemFailure: fail(id('a')).batchItemFailures };", 'none'],
  ['one id', "return fail(id('b'));", ['b']],
  ['several ids', "return fail(id('c'), id('a'));", ['a', 'c']],
  ['every id', "return fail(id('a'), id('b'), id('c'));", ['a', 'b', 'c']],
  ['an id twice', "return fail(id('a'), id('a'));", ['a']],
  ['other fields beside', "return { ...fail(id('a')), statusCode: 200 };", ['a']],
  ['an object that says what its JSON is', "return { toJSON: () => fail(id('b')) };", ['b']],
  ['an id that is not of the batch', "return fail('8c0d2a6e-0000-4000-8000-000000000000');", 'all'],
  ['an id that is not of the batch after one that is', "return fail(id('a'), 'x');", 'all'],
  ['an id with a blank', "return fail(id('a') + ' ');", 'all'],
  ['a receipt handle', 'return fail(Records[0].receiptHandle);', 'all'],
  ['an empty id', "return fail('');", 'all'],
  ['a null id', 'return fail(null);', 'all'],
  ['an undefined id', 'return fail(undefined);', 'all'],
  ['an id that is a number', 'return fail(1);', 'all'],
  ['an id under another name', "return { batchItemFailures: [{ itemIdentifer: id('a') }] };", 'all'],
  ['a bare id', "return { batchItemFailures: [id('a')] };", 'all'],
  ['a null entry', 'return { batchItemFailures: [null] };', 'all'],
  ['a list within the list', "return { batchItemFailures: [[{ itemIdentifier: id('a') }]] };", 'all'],
  ['a list that is an object', "return { batchItemFailures: { itemIdentifier: id('a') } };", 'all'],
  ['a set, which is no list in JSON', "return { batchItemFailures: new Set([{ itemIdentifier: id('a') }]) };", 'all'],
  ['a list that nobody awaited', "return { batchItemFailures: Promise.resolve([{ itemIdentifier: id('a') }]) };", 'all'],
  ['a list that is a text', "return { batchItemFailures: id('a') };", 'all'],
  ['failures as a text of JSON', "return JSON.stringify(fail(id('a')));", 'all'],
  ['a text', "return 'done';", 'all'],
  ['a number', 'return 0;', 'all'],
  ['false', 'return false;', 'all'],
  ['the bare list', "return fail(id('a')).batchItemFailures;", 'all'],
  ['what is no JSON', 'await post(\'{"batchItemFailures":\');', 'all'],
  ['what cannot become JSON', 'return { batchItemFailures: [], count: 1n };', 'all'],
  ['what contains itself', 'const answer = fail(); answer.self = answer; return answer;', 'all'],
  ['more than an answer may be', "return { ...fail(id('a')), more: 'x'.repeat(6291556) };", 'all'],
  ['an error', "throw new Error('no');", 'all'],
  ['a thrown text', "throw 'no';", 'all'],
  ['its end', 'process.exit(0);', 'all'],
  ['a rejection that nobody handles', "Promise.reject(new Error('no')); await new Promise((done) => setTimeout(done, 60000));", 'all'],
  ['nothing within its time', 'await new Promise((done) => setTimeout(done, 60000));', 'all'],
];

describe('an event source whose function answers', { concurrency: 4 }, () => {
  let scene: Scene;
  let folder: string;
  let pool: Pool;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'answers-test-'));
    writeFileSync(join(folder, 'index.cjs'), FUNCTION);
    pool = createPool({ artifact: folder, handler: 'index.handler', maximumConcurrency: 4, timeoutMs: 2_000 });
    scene = await startScene(ROWS.map((_, row) => ({ name: `row-${row}`, visibilitySeconds: 60 })));
  });
  after(async () => {
    await pool?.stop();
    await scene?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [row, [what, code, failed]] of ROWS.entries()) {
    const left = failed === 'all' ? NAMES : failed === 'none' ? [] : failed;
    it(`${what}: ${left.length === 0 ? 'deletes all' : `keeps ${left.join(', ')}`}`, async () => {
      const queue = `row-${row}`;
      await scene.send(
        queue,
        NAMES.map((name) => JSON.stringify({ name, code })),
      );
      const kept: string[] = [];
      let batches = 0;
      const mapping = scene.run(queue, pool, {
        onBatch(batch) {
          batches += 1;
          assert.equal(batch.records.length, NAMES.length);
          const failures = batch.records.filter(({ messageId }) => batch.failed === 'all' || batch.failed.has(messageId));
          kept.push(...failures.map(({ body }) => (JSON.parse(body) as { name: string }).name));
        },
      });
      await until(() => batches > 0 && mapping.source.idle().running === 0);
      await mapping.stop();
      assert.equal(batches, 1);
      assert.deepEqual(kept.sort(), left);
      assert.equal(await scene.depth(queue), left.length);
    });
  }
});
