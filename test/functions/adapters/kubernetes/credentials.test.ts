import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { openCredentials } from '../../../../functions/adapters/kubernetes/credentials.ts';
import { runExecPlugin } from '../../../../functions/adapters/kubernetes/exec-plugin.ts';
import { selfSigned } from '../../../../infra/local/certificates.ts';
import { ApiStub } from '../../../fakes/api-stub.ts';

let stub: ApiStub;
let nowMs = 0;
before(async () => {
  stub = await ApiStub.start({ tls: true });
});
after(() => stub.close());
beforeEach(() => {
  nowMs = Date.parse('2026-01-01T00:00:00Z');
});

function open(path: string) {
  return openCredentials({ kind: 'file', path }, { nowMs: () => nowMs, environment: {} });
}

/** A plugin that counts its runs in a file and prints `status` with the count as token. */
function plugin(status: string): { command: string; runs: () => number } {
  const count = stub.file('runs', '');
  const command = stub.file('plugin.sh', `#!/bin/sh\necho x >> ${count}\nN=$(wc -l < ${count} | tr -d ' ')\nprintf '${status}' "$N"\n`);
  return { command, runs: () => (existsSync(count) ? readFileSync(count, 'utf8').split('\n').length - 1 : 0) };
}

describe('openCredentials', () => {
  it('sends a token without its newline', async () => {
    const path = stub.kubeconfig({ token: 'abc\n' });
    assert.equal((await open(path).current()).headers['Authorization'], 'Bearer abc');
  });

  it('sends user and password', async () => {
    const path = stub.kubeconfig({ username: 'me', password: 'p:w' });
    assert.equal((await open(path).current()).headers['Authorization'], `Basic ${Buffer.from('me:p:w').toString('base64')}`);
  });

  it('impersonates a user and all its groups', async () => {
    const { headers } = await open(stub.kubeconfig({ token: 't', as: 'jane', 'as-groups': ['a', 'b'] })).current();
    assert.equal(headers['Impersonate-User'], 'jane');
    assert.deepEqual(headers['Impersonate-Group'], ['a', 'b']);
  });

  it('reads a token file again after a minute (B25)', async () => {
    const file = stub.file('token', 'one\n');
    const credentials = open(stub.kubeconfig({ tokenFile: file, token: 'never' }));
    const first = await credentials.current();
    writeFileSync(file, 'two\n');
    nowMs += 59_000;
    assert.equal(await credentials.current(), first);
    nowMs += 2_000;
    const second = await credentials.current();
    assert.deepEqual([first.headers['Authorization'], second.headers['Authorization']], ['Bearer one', 'Bearer two']);
    assert.equal(second.connectionKey, first.connectionKey, 'a token needs no new connection');
  });

  it('reads a token file at once after the clock was set back, and again when refused', async () => {
    const file = stub.file('token', 'one');
    const credentials = open(stub.kubeconfig({ tokenFile: file }));
    const refused = await credentials.renew(await credentials.current());
    assert.ok(refused);
    nowMs -= 3_600_000;
    writeFileSync(file, 'two');
    assert.equal((await credentials.renew(refused))?.headers['Authorization'], 'Bearer two');
    writeFileSync(file, 'three');
    nowMs -= 3_600_000;
    assert.equal((await credentials.current()).headers['Authorization'], 'Bearer three');
  });

  it('goes on with the old token while the file is being replaced', async () => {
    const file = stub.file('token', 'one');
    const credentials = open(stub.kubeconfig({ tokenFile: file }));
    await credentials.current();
    rmSync(file);
    nowMs += 61_000;
    assert.equal((await credentials.current()).headers['Authorization'], 'Bearer one');
  });

  it('names the file that is gone, where nothing else is left', async () => {
    const file = stub.file('vanishing', 'one');
    const credentials = open(stub.kubeconfig({ tokenFile: file }));
    rmSync(file);
    await assert.rejects(credentials.current(), {
      code: 'unauthorized',
      facts: { detail: `${file} cannot be read (ENOENT)` },
    });
  });

  it('calls what is no file by what it is', async () => {
    const path = stub.kubeconfig({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'a\0b' } });
    await assert.rejects(open(path).current(), {
      code: 'unauthorized',
      facts: { detail: 'what the kubeconfig names cannot be used (ERR_INVALID_ARG_VALUE)' },
    });
  });

  it('changes the connection key with the bytes of a certificate', async () => {
    const [one, two] = [selfSigned(['a']), selfSigned(['b'])];
    const cert = stub.file('client.crt', one.cert);
    const key = stub.file('client.key', one.key);
    const credentials = open(stub.kubeconfig({ 'client-certificate': cert, 'client-key': key }));
    const before = await credentials.current();
    assert.equal(before.tls.cert?.toString(), one.cert);
    writeFileSync(cert, two.cert);
    nowMs += 61_000;
    assert.notEqual((await credentials.current()).connectionKey, before.connectionKey);
  });

  it('reads the kubeconfig anew when refused, and gives a caller with an older identity what is there already', async () => {
    const path = stub.kubeconfig({ token: 'one' });
    const credentials = open(path);
    const refused = await credentials.current();
    stub.kubeconfig({ token: 'two' });
    const [a, b] = await Promise.all([credentials.renew(refused), credentials.renew(refused)]);
    assert.equal(a?.headers['Authorization'], 'Bearer two');
    assert.equal(a, b);
    assert.equal(await credentials.renew(refused), a);
  });

  it('does not read it anew twice within ten seconds', async () => {
    const credentials = open(stub.kubeconfig({ token: 'one' }));
    const second = await credentials.renew(await credentials.current());
    assert.ok(second);
    assert.equal(await credentials.renew(second), undefined);
    nowMs += 10_001;
    assert.ok(await credentials.renew(second));
  });

  it('calls a kubeconfig that broke while running unauthorized, not a reason to stop', async () => {
    const path = stub.kubeconfig({ token: 'one' });
    const credentials = open(path);
    const identity = await credentials.current();
    writeFileSync(path, 'a: [');
    await assert.rejects(credentials.renew(identity), { name: 'TransientError', code: 'unauthorized' });
  });
});

describe('openCredentials with a credential plugin', () => {
  const credential = (more: string): string =>
    `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"run-%s"${more}}}`;

  function withPlugin(command: string) {
    return open(stub.kubeconfig({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command } }, {}, 'exec.yaml'));
  }

  it('runs it once for all callers and keeps the answer', async () => {
    const { command, runs } = plugin(credential(''));
    const credentials = withPlugin(command);
    const [a, b] = await Promise.all([credentials.current(), credentials.current()]);
    nowMs += 3_600_000;
    const c = await credentials.current();
    assert.deepEqual([a.headers['Authorization'], a === b, c.headers['Authorization'], runs()], ['Bearer run-1', true, 'Bearer run-1', 1]);
  });

  it('runs it again half a minute before its credential expires', async () => {
    const { command, runs } = plugin(credential(',"expirationTimestamp":"2026-01-01T00:10:00Z"'));
    const credentials = withPlugin(command);
    await credentials.current();
    nowMs += 9 * 60_000;
    await credentials.current();
    assert.equal(runs(), 1);
    nowMs += 31_000;
    assert.equal((await credentials.current()).headers['Authorization'], 'Bearer run-2');
  });

  it('runs it again when the server refuses its credential', async () => {
    const credentials = withPlugin(plugin(credential('')).command);
    const renewed = await credentials.renew(await credentials.current());
    assert.equal(renewed?.headers['Authorization'], 'Bearer run-2');
  });

  it('does not run it for every call when its credentials last for seconds, or when it fails', async () => {
    const { command, runs } = plugin(credential(',"expirationTimestamp":"2026-01-01T00:00:05Z"'));
    const credentials = withPlugin(command);
    for (let call = 0; call < 3; call += 1) await credentials.current();
    assert.equal(runs(), 1);
    rmSync(command);
    for (let call = 0; call < 3; call += 1) {
      nowMs += 5_000;
      assert.equal((await credentials.current()).headers['Authorization'], 'Bearer run-1');
    }
  });

  it('does not run one that fails for every call before its first success, and takes what it says once it works', async () => {
    const { command, runs } = plugin('no credential');
    const credentials = withPlugin(command);
    for (let call = 0; call < 3; call += 1) await assert.rejects(credentials.current(), { code: 'unauthorized' });
    nowMs += 9_000;
    await assert.rejects(credentials.current(), { code: 'unauthorized' });
    assert.equal(runs(), 1);
    nowMs += 2_000;
    await assert.rejects(credentials.current(), { code: 'unauthorized' });
    assert.equal(runs(), 2);
    plugin(credential(''));
    nowMs += 11_000;
    assert.equal((await credentials.current()).headers['Authorization'], 'Bearer run-1');
  });

  it('kills one that takes too long, also where it does not listen', async () => {
    const command = stub.file('deaf.sh', "#!/bin/sh\ntrap '' TERM\nexec sleep 600\n");
    const deaf = { command, args: [], env: {}, apiVersion: 'client.authentication.k8s.io/v1', clusterInfo: undefined };
    await assert.rejects(runExecPlugin(deaf, 200), { code: 'unauthorized', facts: { command, exit: 'killed after 0.2 s' } });
  });

  const faults: [what: string, script: string][] = [
    ['fails', '#!/bin/sh\necho hunter2 >&2; exit 3\n'],
    ['prints something else', '#!/bin/sh\necho hunter2\n'],
  ];
  for (const [what, script] of faults) {
    it(`is unauthorized when it ${what}, without a word of its output`, async () => {
      const error = await withPlugin(stub.file('bad.sh', script))
        .current()
        .catch((caught: unknown) => caught);
      assert.ok(error instanceof Error);
      assert.deepEqual([error.name, (error as Error & { code: string }).code], ['TransientError', 'unauthorized']);
      assert.doesNotMatch(JSON.stringify({ ...error, cause: String(error.cause) }) + error.stack, /hunter2/);
    });
  }

  it('is unauthorized when it cannot be found', async () => {
    await assert.rejects(withPlugin('dogwatch-no-such-plugin').current(), { code: 'unauthorized' });
  });
});
