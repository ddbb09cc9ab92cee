import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { clusterName } from '../../../../events/resource.ts';
import { createKubernetesClient } from '../../../../functions/adapters/kubernetes/client.ts';
import type { KubernetesClient, WatchFrame, WatchOptions } from '../../../../functions/adapters/kubernetes/port.ts';
import { configMaps } from '../../../../functions/core/kinds.ts';
import { ApiStub, json, stream, text } from '../../../fakes/api-stub.ts';
import { bodyOf, linesOf } from './samples.ts';

let stub: ApiStub;
let client: KubernetesClient;

beforeEach(async () => {
  stub = await ApiStub.start();
  client = createKubernetesClient({ cluster: clusterName('east'), kubeConfig: { kind: 'file', path: stub.kubeconfig() } });
});
afterEach(async () => {
  client.close();
  await stub.close();
});

const base: WatchOptions = { form: 'metadata', resourceVersion: '7', timeoutSeconds: 60, graceSeconds: 15 };

function watch(options: Partial<WatchOptions> = {}): Promise<AsyncIterable<WatchFrame>> {
  return client.watch(configMaps, { ...base, ...options });
}

function line(type: string, name: string, resourceVersion = '8'): string {
  const object = { kind: 'PartialObjectMetadata', metadata: { name, uid: `u-${name}`, resourceVersion } };
  return `${JSON.stringify({ type, object })}\n`;
}

async function read(frames: AsyncIterable<WatchFrame>): Promise<WatchFrame[]> {
  const seen: WatchFrame[] = [];
  for await (const frame of frames) seen.push(frame);
  return seen;
}

describe('client.watch', () => {
  it('asks for a Table of metadata with bookmarks from the position on', async () => {
    stub.reply(stream([]));
    await read(await watch({ form: 'table', labelSelector: 'dogwatch.dev/owner', fieldSelector: 'metadata.name=a' }));
    const [request] = stub.requests;
    assert.equal(
      request?.path,
      '/api/v1/configmaps?watch=true&allowWatchBookmarks=true&includeObject=Metadata&resourceVersion=7&timeoutSeconds=60&labelSelector=dogwatch.dev%2Fowner&fieldSelector=metadata.name%3Da',
    );
    assert.match(String(request?.headers.accept), /^application\/json;as=Table;/);
  });

  it('yields the frames of a recorded stream and ends with it', async () => {
    const lines = linesOf('table-watch');
    stub.reply(stream(lines.map((each) => `${each}\n`)));
    const frames = await read(await watch({ form: 'table' }));
    assert.equal(frames.length, lines.length);
    await stub.idle();
  });

  it('says which fields are ours where that is asked, and reads no managedFields where it is not', async () => {
    const managedFields = [{ manager: 'dogwatch', operation: 'Apply', fieldsV1: { 'f:data': { 'k:{"a":"]"}': {} } } }];
    const metadata = { name: 'a', uid: 'u', resourceVersion: '8', managedFields, annotations: { note: '"managedFields":[' } };
    const [head, tail] = JSON.stringify({ type: 'ADDED', object: { kind: 'PartialObjectMetadata', metadata } }).split('"f:data"');
    stub.reply(stream([`${head}`, `"f:data"${tail}\n`]), stream([`${head}`, `"f:data"${tail}\n`]));
    const [asked] = await read(await watch({ ownFields: true }));
    const [plain] = await read(await watch());
    assert.ok(asked?.type === 'ADDED' && plain?.type === 'ADDED');
    assert.equal(asked.row.ownFields?.count, 2);
    assert.equal(plain.row.ownFields, undefined);
    assert.deepEqual(plain.row.metadata, asked.row.metadata);
  });

  it('yields an ERROR frame as it is', async () => {
    stub.reply(stream(linesOf('watch-expired').map((each) => `${each}\n`)));
    const [frame] = await read(await watch());
    assert.ok(frame?.type === 'ERROR' && frame.code === 410);
  });

  it('joins what was cut in the middle of a character (B06)', async () => {
    const bytes = Buffer.from(line('ADDED', 'ä-\u2028'));
    const at = bytes.indexOf(0xc3) + 1;
    stub.reply(stream([bytes.subarray(0, at), bytes.subarray(at)]));
    const [frame] = await read(await watch());
    assert.ok(frame?.type === 'ADDED');
    assert.equal(frame.row.metadata.name, 'ä-\u2028');
  });

  it('drops a last line that was not finished', async () => {
    stub.reply(stream([line('ADDED', 'a'), line('ADDED', 'b').slice(0, 30)]));
    assert.equal((await read(await watch())).length, 1);
  });

  it('throws bad-frame for a line that is none, after the frames before it, and closes', async () => {
    stub.reply(stream([line('ADDED', 'a'), 'oops\n', line('ADDED', 'b')], { open: true }));
    const frames = (await watch())[Symbol.asyncIterator]();
    assert.equal((await frames.next()).done, false);
    await assert.rejects(frames.next(), { name: 'TransientError', code: 'bad-frame' });
    await stub.idle();
  });

  it('throws unreachable when the connection breaks', async () => {
    stub.reply(stream([line('ADDED', 'a')], { open: true }));
    const frames = (await watch())[Symbol.asyncIterator]();
    await frames.next();
    stub.cut();
    await assert.rejects(frames.next(), { name: 'TransientError', code: 'unreachable' });
  });

  it('is given up after its time and grace (B01)', async () => {
    stub.reply(stream([line('ADDED', 'a')], { open: true }));
    const frames = (await watch({ timeoutSeconds: 0.05, graceSeconds: 0.05 }))[Symbol.asyncIterator]();
    await frames.next();
    await assert.rejects(frames.next(), { name: 'TransientError', code: 'timeout' });
    await stub.idle();
  });

  it('is given up after its time also when nobody reads', async () => {
    stub.reply(stream([line('ADDED', 'a')], { open: true }));
    await watch({ timeoutSeconds: 0.05, graceSeconds: 0.05 });
    await stub.idle();
  });

  it('closes the connection when the reader leaves the loop', async () => {
    stub.reply(stream([line('ADDED', 'a'), line('ADDED', 'b')], { open: true }));
    for await (const _ of await watch()) break;
    await stub.idle();
  });

  it('closes the connection when it is left while waiting for a frame', async () => {
    stub.reply(stream([], { open: true }));
    const frames = (await watch())[Symbol.asyncIterator]();
    const waiting = frames.next();
    await frames.return?.();
    assert.equal((await waiting).done, true);
    await stub.idle();
  });

  it('ends with the reason of its signal, with frames still unread', async () => {
    stub.reply(stream([line('ADDED', 'a'), line('ADDED', 'b')], { open: true }));
    const controller = new AbortController();
    const frames = (await watch({ signal: controller.signal }))[Symbol.asyncIterator]();
    await frames.next();
    const reason = new Error('stopping');
    controller.abort(reason);
    await assert.rejects(frames.next(), reason);
    await stub.idle();
  });

  it('slows the server down while nobody reads (B33)', async () => {
    const frame = line('MODIFIED', 'x'.repeat(60_000));
    let written = 0;
    stub.reply((response) => {
      response.writeHead(200);
      const write = (): void => {
        do written += 1;
        while (response.write(frame));
      };
      response.on('drain', write);
      write();
    });
    const frames = (await watch())[Symbol.asyncIterator]();
    // A reader that is slow by count, not by the clock: for each frame it takes, the server had twenty turns to send more.
    for (let read = 1; read <= 200; read += 1) {
      await frames.next();
      for (let each = 0; each < 20; each += 1) await turn();
      assert.ok(written - read < 300, `${written - read} frames of 60 KB were taken in unread`);
    }
    await frames.return?.();
  });

  it('throws what the server says before the stream, by its meaning', async () => {
    stub.reply(text(429, bodyOf('too-many-requests-fairness'), { 'retry-after': '7' }), text(404, '404 page not found\n'), json(410, {}));
    await assert.rejects(watch(), { code: 'throttled', retryAfterSeconds: 7 });
    await assert.rejects(watch(), { code: 'not-served' });
    await assert.rejects(watch(), { code: 'expired' });
  });

  it('does not send a position that is no number', async () => {
    await assert.rejects(watch({ resourceVersion: 'undefined' }), { name: 'TerminalError', code: 'bad-request' });
    assert.equal(stub.requests.length, 0);
  });
});
