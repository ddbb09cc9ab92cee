import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Credentials, openCredentials } from '../../../../functions/adapters/kubernetes/credentials.ts';
import { ConfigError } from '../../../../functions/core/errors.ts';
import { ApiStub } from '../../../fakes/api-stub.ts';

const MINUTE = 60_000;

let stub: ApiStub;
let nowMs = 0;
/** What the store has, or why it does not say. */
let content: string | Error = '';
let readCount = 0;
before(async () => {
  stub = await ApiStub.start({ tls: true });
});
after(() => stub.close());
beforeEach(() => {
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  readCount = 0;
  content = kubeconfig('one');
});

function kubeconfig(token: string, server = stub.url): string {
  return readFileSync(stub.kubeconfig({ token }, { server }), 'utf8');
}

function open(): Credentials {
  const readText = async (reference: string): Promise<string> => {
    readCount += 1;
    assert.equal(reference, 'ssm:/east');
    if (content instanceof Error) throw content;
    return content;
  };
  return openCredentials({ kind: 'remote', reference: 'ssm:/east' }, { nowMs: () => nowMs, environment: {}, readText });
}

const bearer = async (credentials: Credentials): Promise<unknown> => (await credentials.current()).headers['Authorization'];
const throttled = new ConfigError('aws-refused', 'ssm:/east: cannot be read: ThrottlingException: Rate exceeded');

describe('openCredentials of a kubeconfig in a store', () => {
  it('reads nothing before the first call, and then once for all', async () => {
    const credentials = open();
    assert.equal(readCount, 0);
    const [a, b] = await Promise.all([credentials.current(), credentials.current()]);
    assert.deepEqual([a === b, a.headers['Authorization'], readCount], [true, 'Bearer one', 1]);
  });

  it('reads it again after five minutes, so that a server which moved is found', async () => {
    const credentials = open();
    await credentials.current();
    content = kubeconfig('two', 'https://elsewhere');
    nowMs += 5 * MINUTE - 1;
    assert.deepEqual([await bearer(credentials), readCount], ['Bearer one', 1]);
    nowMs += MINUTE;
    const { server, headers } = await credentials.current();
    assert.deepEqual([server.host, headers['Authorization'], readCount], ['elsewhere', 'Bearer two', 2]);
  });

  it('reads it again when the server refuses what it has, every ten seconds at most', async () => {
    const credentials = open();
    const refused = await credentials.current();
    content = kubeconfig('two');
    const renewed = await credentials.renew(refused);
    assert.equal(renewed?.headers['Authorization'], 'Bearer two');
    assert.deepEqual([await credentials.renew(renewed), readCount], [undefined, 2]);
    nowMs += 10_001;
    assert.ok(await credentials.renew(renewed));
    assert.equal(readCount, 3);
  });

  it('reads it again when refused, also where a reading from before brings the same, or has brought it', async () => {
    const credentials = open();
    const refused = await credentials.current();
    nowMs += 5 * MINUTE;
    const underWay = credentials.current();
    const renewed = [credentials.renew(refused), credentials.renew(refused)];
    content = kubeconfig('two');
    assert.equal((await underWay).headers['Authorization'], 'Bearer one');
    for (const identity of await Promise.all(renewed)) assert.equal(identity?.headers['Authorization'], 'Bearer two');
    assert.equal(readCount, 3);

    const before = await credentials.current();
    nowMs += MINUTE;
    assert.notEqual(await credentials.current(), before, 'made again, of the same');
    content = kubeconfig('three');
    assert.equal((await credentials.renew(before))?.headers['Authorization'], 'Bearer three');
  });

  it('goes on with what it has while the store does not say, and asks it again in a minute', async () => {
    const credentials = open();
    await credentials.current();
    content = throttled;
    const found = new Set<unknown>();
    for (nowMs += 5 * MINUTE; nowMs < Date.parse('2026-01-01T00:08:00Z'); nowMs += 10_000) found.add(await bearer(credentials));
    assert.deepEqual([[...found], readCount], [['Bearer one'], 4]);
    content = kubeconfig('two');
    nowMs += MINUTE;
    assert.equal(await bearer(credentials), 'Bearer two');
  });

  it('is unauthorized while there is nothing to go on with, says why, and asks every ten seconds at most', async () => {
    content = throttled;
    const credentials = open();
    for (let call = 0; call < 3; call += 1) {
      await assert.rejects(credentials.current(), { name: 'TransientError', code: 'unauthorized', facts: { detail: throttled.message } });
    }
    assert.equal(readCount, 1);
    content = kubeconfig('one');
    nowMs += 10_000;
    assert.deepEqual([await bearer(credentials), readCount], ['Bearer one', 2]);
  });

  it('is unauthorized where it is no kubeconfig, without a word of what it is', async () => {
    content = 'users: hunter2';
    const error: Error = await open()
      .current()
      .then(
        () => assert.fail('let in'),
        (caught: Error) => caught,
      );
    assert.match(JSON.stringify(error), /"detail":"ssm:\/east: users /);
    assert.doesNotMatch(`${JSON.stringify(error)} ${error.stack} ${error.cause}`, /hunter2/);
  });
});

describe('openCredentials, deferred', () => {
  it('opens a file that is bad, is unauthorized until it is mended, and finds it then', async () => {
    const path = stub.kubeconfig({ token: 'one' }, {}, 'late.yaml');
    const text = readFileSync(path, 'utf8');
    rmSync(path);
    assert.throws(() => openCredentials({ kind: 'file', path }, { environment: {} }), { name: 'ConfigError' });
    const credentials = openCredentials({ kind: 'file', path }, { nowMs: () => nowMs, environment: {}, isDeferred: true });
    await assert.rejects(credentials.current(), {
      name: 'TransientError',
      code: 'unauthorized',
      facts: { detail: `kubeconfig: ${path} does not exist` },
    });
    stub.file('late.yaml', text);
    nowMs += 10_000;
    assert.equal(await bearer(credentials), 'Bearer one');
  });
});
