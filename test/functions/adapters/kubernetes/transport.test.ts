import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { openCredentials } from '../../../../functions/adapters/kubernetes/credentials.ts';
import {
  createTransport,
  type Timeouts,
  type Transport,
  type TransportRequest,
} from '../../../../functions/adapters/kubernetes/transport.ts';
import { selfSigned } from '../../../../infra/local/certificates.ts';
import { ApiStub, hang, json, type Reply, reset, type StubOptions, stream, text } from '../../../fakes/api-stub.ts';

let stub: ApiStub;
let transport: Transport;
let nowMs = 0;

afterEach(async () => {
  transport.close();
  await stub.close();
});

interface Setup {
  readonly server?: StubOptions;
  readonly user?: Record<string, unknown>;
  readonly cluster?: Record<string, unknown>;
  readonly timeouts?: Partial<Timeouts>;
  readonly maxBodyBytes?: number;
}

async function setUp({ server, user, cluster, timeouts, maxBodyBytes }: Setup = {}, ...replies: Reply[]): Promise<void> {
  nowMs = 1_000_000;
  stub = (await ApiStub.start(server)).reply(...replies);
  const credentials = openCredentials({ kind: 'file', path: stub.kubeconfig(user, cluster) }, { nowMs: () => nowMs });
  transport = createTransport({ credentials, timeouts, maxBodyBytes, nowMs: () => nowMs });
}

const get: TransportRequest = { method: 'GET', path: '/api/v1/x', accept: 'application/json' };
const ok = json(200, { kind: 'X' });
const refused = json(401, { kind: 'Status', reason: 'Unauthorized' });

describe('transport.send', () => {
  it('keeps the connection between calls', async () => {
    await setUp({ server: { tls: true } }, ok, ok, ok);
    for (let call = 0; call < 3; call += 1) assert.equal((await transport.send(get)).text, '{"kind":"X"}');
    assert.equal(stub.connectionCount, 1);
    assert.equal(transport.requestCount, 3);
  });

  it('sends what was asked, uncompressed, below the path of the server', async () => {
    await setUp({}, ok);
    stub.kubeconfig({ token: 'sesame' }, { server: `${stub.url}/k8s/clusters/c-1/` });
    const credentials = openCredentials({ kind: 'file', path: `${stub.dir}/config.yaml` });
    transport = createTransport({ credentials, userAgent: 'dogwatch/test' });
    await transport.send({ method: 'PATCH', path: '/api/v1/x?a=b', accept: 'a/b', contentType: 'c/d', body: '{"ü":1}' });
    const [request] = stub.requests;
    assert.equal(request?.path, '/k8s/clusters/c-1/api/v1/x?a=b');
    assert.equal(request?.body, '{"ü":1}');
    const {
      authorization,
      accept,
      'content-type': contentType,
      'content-length': length,
      'accept-encoding': encoding,
    } = request?.headers ?? {};
    assert.deepEqual([authorization, accept, contentType, length, encoding], ['Bearer sesame', 'a/b', 'c/d', '8', 'identity']);
    assert.equal(request?.headers['user-agent'], 'dogwatch/test');
  });

  it('retries once on a fresh connection when a kept one was closed by the peer', async () => {
    await setUp({}, ok, reset, ok);
    await transport.send(get);
    assert.equal((await transport.send(get)).status, 200);
    assert.deepEqual(
      stub.requests.map(({ connection }) => connection),
      [1, 1, 2],
    );
  });

  it('does not retry a fresh connection that is reset', async () => {
    await setUp({}, reset, ok);
    await assert.rejects(transport.send(get), { name: 'TransientError', code: 'unreachable' });
    assert.equal(stub.requests.length, 1);
  });

  it('does not retry once a byte of the answer has come', async () => {
    await setUp({}, ok, (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{');
      setImmediate(() => response.socket?.resetAndDestroy());
    });
    await transport.send(get);
    await assert.rejects(transport.send(get), { code: 'unreachable' });
    assert.equal(stub.requests.length, 2);
  });

  it('takes a fresh connection after a minute without calls, and where a clock that was set back cannot tell', async () => {
    await setUp({}, ok, ok, ok);
    await transport.send(get);
    nowMs += 60_001;
    await transport.send(get);
    assert.equal(stub.connectionCount, 2);
    nowMs -= 3_600_000;
    await transport.send(get);
    assert.equal(stub.connectionCount, 3);
  });

  it('asks again with renewed credentials after a 401, once (B25)', async () => {
    await setUp({ user: { token: 'one' } }, refused, refused);
    stub.kubeconfig({ token: 'two' });
    assert.equal((await transport.send(get)).status, 401);
    assert.deepEqual(
      stub.requests.map(({ headers }) => headers.authorization),
      ['Bearer one', 'Bearer two'],
    );
  });

  it('does not hammer a server that goes on refusing', async () => {
    await setUp({}, refused, refused, refused, ok);
    await transport.send(get);
    assert.equal((await transport.send(get)).status, 401);
    assert.equal(stub.requests.length, 3);
  });

  it('is unauthorized for a token that no header can carry', async () => {
    await setUp({ user: { token: 'a\u0007b' } });
    await assert.rejects(transport.send(get), { name: 'TransientError', code: 'unauthorized' });
  });

  it('hands on any status with its headers', async () => {
    await setUp({}, text(429, 'slow down', { 'retry-after': '4' }));
    const answer = await transport.send(get);
    assert.deepEqual([answer.status, answer.headers['retry-after'], answer.text], [429, '4', 'slow down']);
  });

  it('gives up a call that is not answered, and closes its connection', async () => {
    await setUp({ timeouts: { totalMs: 50 } }, hang);
    await assert.rejects(transport.send(get), { name: 'TransientError', code: 'timeout' });
    await stub.idle();
  });

  it('gives up a body that does not end', async () => {
    await setUp({ timeouts: { totalMs: 50 } }, stream(['{'], { open: true }));
    await assert.rejects(transport.send(get), { code: 'timeout' });
    await stub.idle();
  });

  it('passes the reason of an aborted signal on, before and during a call', async () => {
    await setUp({}, hang);
    const reason = new Error('deadline of the record');
    await assert.rejects(transport.send({ ...get, signal: AbortSignal.abort(reason) }), reason);
    const controller = new AbortController();
    const call = transport.send({ ...get, signal: controller.signal });
    await stub.arrived(1);
    controller.abort(reason);
    await assert.rejects(call, reason);
    await stub.idle();
  });

  it('refuses to read more than the bound into memory', async () => {
    await setUp({ maxBodyBytes: 10 }, text(200, 'x'.repeat(11)));
    await assert.rejects(transport.send(get), { code: 'response-too-large' });
  });

  it('refuses a compressed answer', async () => {
    await setUp({}, text(200, 'x', { 'content-encoding': 'gzip' }));
    await assert.rejects(transport.send(get), { code: 'bad-response' });
  });

  it('is unreachable when nobody listens, with the code of the system', async () => {
    await setUp();
    await stub.close();
    await assert.rejects(transport.send(get), (error: Error & { facts: Record<string, unknown> }) => {
      assert.equal(error.facts['errorCode'], 'ECONNREFUSED');
      return true;
    });
    stub = await ApiStub.start();
  });

  it('limits the time of a TLS handshake', async () => {
    await setUp();
    const { createServer } = await import('node:net');
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    stub.kubeconfig({}, { server: `https://127.0.0.1:${port}` });
    transport = createTransport({
      credentials: openCredentials({ kind: 'file', path: `${stub.dir}/config.yaml` }),
      timeouts: { connectMs: 50 },
    });
    await assert.rejects(transport.send(get), { code: 'timeout', message: /connection/ });
    silent.close();
  });
});

describe('transport with TLS', () => {
  const tls = { server: { tls: true } } as const;

  it('refuses a certificate that nobody vouches for', async () => {
    await setUp({ ...tls, cluster: { 'certificate-authority-data': Buffer.from(selfSigned(['localhost']).cert).toString('base64') } }, ok);
    await assert.rejects(transport.send(get), { code: 'unreachable' });
    assert.equal(stub.requests.length, 0);
  });

  it('takes any certificate where the kubeconfig says so', async () => {
    await setUp({ ...tls, cluster: { 'certificate-authority-data': '', 'insecure-skip-tls-verify': true } }, ok);
    assert.equal((await transport.send(get)).status, 200);
  });

  it('checks the name that tls-server-name gives', async () => {
    await setUp({ server: { tls: ['api.internal'] }, cluster: { 'tls-server-name': 'api.internal' } }, ok);
    assert.equal((await transport.send(get)).status, 200);
  });

  it('refuses a certificate for another name', async () => {
    await setUp({ server: { tls: ['api.internal'] } }, ok);
    await assert.rejects(transport.send(get), { code: 'unreachable' });
  });

  it('shows its client certificate, and a new one on a new connection', async () => {
    const [one, two] = [selfSigned(['one']), selfSigned(['two'])];
    await setUp({ server: { tls: true, clientCa: one.cert + two.cert } }, ok, ok, ok);
    const cert = stub.file('client.crt', one.cert);
    const key = stub.file('client.key', one.key);
    const path = stub.kubeconfig({ 'client-certificate': cert, 'client-key': key });
    transport = createTransport({ credentials: openCredentials({ kind: 'file', path }, { nowMs: () => nowMs }), nowMs: () => nowMs });
    await transport.send(get);
    writeFileSync(cert, two.cert);
    writeFileSync(key, two.key);
    await transport.send(get);
    nowMs += 60_001;
    await transport.send(get);
    assert.deepEqual(stub.clientNames, ['one', 'two']);
    assert.deepEqual(
      stub.requests.map(({ connection }) => connection),
      [1, 1, 2],
    );
  });

  it('reads the kubeconfig anew when the server has a certificate that it does not know', async () => {
    await setUp(tls, ok, ok);
    await transport.send(get);
    stub.replaceCertificate();
    stub.cut('end');
    await stub.idle();
    stub.kubeconfig();
    assert.equal((await transport.send(get)).status, 200);
  });
});

describe('transport.open', () => {
  async function opened(signal?: AbortSignal) {
    const result = await transport.open({ ...get, signal });
    assert.ok(result.kind === 'stream');
    return result;
  }

  it('gives every stream a connection of its own and closes it with the stream', async () => {
    await setUp({}, ok, stream(['a'], { open: true }), stream(['b'], { open: true }), ok);
    await transport.send(get);
    const streams = [await opened(), await opened()];
    assert.deepEqual(
      stub.requests.map(({ connection }) => connection),
      [1, 2, 3],
    );
    for (const each of streams) each.close();
    await transport.send(get);
    assert.equal(stub.requests.at(-1)?.connection, 1);
    transport.close();
    await stub.idle();
  });

  it('has the complete answer of anything but a 200', async () => {
    await setUp({}, text(429, 'later'));
    const answer = await transport.open(get);
    assert.ok(answer.kind === 'answer');
    assert.deepEqual([answer.status, answer.text], [429, 'later']);
    await stub.idle();
  });

  it('renews the credentials after a 401 (B25)', async () => {
    await setUp({}, refused, stream([], { open: true }));
    (await opened()).close();
    assert.equal(stub.requests.length, 2);
    await stub.idle();
  });

  it('gives up when no headers come', async () => {
    await setUp({ timeouts: { watchHeadersMs: 50 } }, hang);
    await assert.rejects(transport.open(get), { code: 'timeout' });
    await stub.idle();
  });

  it('sets no limit once the headers have come', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let finish = (): void => {};
    await setUp({}, (response) => {
      response.writeHead(200).flushHeaders();
      finish = () => void response.end('late');
    });
    const { chunks } = await opened();
    t.mock.timers.tick(3_600_000);
    finish();
    const read: Buffer[] = [];
    for await (const chunk of chunks) read.push(chunk);
    assert.equal(Buffer.concat(read).toString(), 'late');
  });

  it('survives a connection that breaks while nobody reads', async () => {
    await setUp({}, stream(['a'], { open: true }), ok);
    const broken = await opened();
    stub.cut();
    await stub.idle();
    await assert.rejects(
      async () => {
        for await (const _ of broken.chunks);
      },
      { code: 'ECONNRESET' },
    );
    broken.close();
    assert.equal((await transport.send(get)).status, 200);
  });

  it('closes the connection when the signal aborts', async () => {
    await setUp({}, stream(['a'], { open: true }));
    const controller = new AbortController();
    await opened(controller.signal);
    controller.abort();
    await stub.idle();
  });
});
