import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { dump } from 'js-yaml';
import { loadAccess, parseAccess } from '../../../../functions/adapters/kubernetes/kube-config.ts';
import { selfSigned } from '../../../../infra/local/certificates.ts';

const dir = mkdtempSync(join(tmpdir(), 'dogwatch-kubeconfig-'));
after(() => rmSync(dir, { recursive: true, force: true }));

function write(name: string, content: string): string {
  const path = join(dir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

type Fields = Record<string, unknown>;

function kubeconfig({
  cluster = {},
  user = { token: 't' },
  ...top
}: {
  cluster?: Fields;
  user?: Fields | null;
  [key: string]: unknown;
}): string {
  return write(
    'config.yaml',
    dump({
      'current-context': 'main',
      clusters: [{ name: 'c', cluster: { server: 'https://api.example:6443', ...cluster } }],
      contexts: [{ name: 'main', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user }],
      ...top,
    }),
  );
}

describe('loadAccess of a file', () => {
  it('takes the named context before the current one', () => {
    const path = kubeconfig({
      clusters: [
        { name: 'c', cluster: { server: 'https://one' } },
        { name: 'd', cluster: { server: 'http://two/prefix' } },
      ],
      contexts: [
        { name: 'main', context: { cluster: 'c', user: 'u' } },
        { name: 'other', context: { cluster: 'd' } },
      ],
    });
    assert.equal(loadAccess({ kind: 'file', path }).server.href, 'https://one/');
    assert.equal(loadAccess({ kind: 'file', path, context: 'other' }).server.href, 'http://two/prefix');
  });

  it('makes the paths in it absolute', () => {
    write('tokens/one', 'secret\n');
    const path = kubeconfig({ user: { tokenFile: 'tokens/one' } });
    assert.equal(loadAccess({ kind: 'file', path }).tokenFile, join(dir, 'tokens/one'));
  });

  it('reads a credential plugin with its environment, relative to the file', () => {
    const path = kubeconfig({
      user: {
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './bin/plugin', args: ['a'], env: [{ name: 'X', value: '1' }] },
      },
    });
    assert.deepEqual(loadAccess({ kind: 'file', path }, {}).exec, {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: join(dir, 'bin/plugin'),
      args: ['a'],
      env: { X: '1' },
      clusterInfo: undefined,
    });
  });

  it('takes empty fields for absent ones', () => {
    const path = kubeconfig({ user: { token: '', tokenFile: null, 'client-key-data': '' } });
    assert.equal(loadAccess({ kind: 'file', path }).tokenFile, undefined);
  });

  it('knows a user without credentials', () => {
    assert.equal(loadAccess({ kind: 'file', path: kubeconfig({ user: null }) }).exec, undefined);
  });

  const faults: [what: string, content: Parameters<typeof kubeconfig>[0], message: RegExp][] = [
    ['no current context', { 'current-context': '' }, /config\.yaml: current-context is not set/],
    ['an unknown context', { 'current-context': 'west' }, /config\.yaml: "west" is not in contexts \(there: main\)/],
    [
      'a context that names an unknown cluster',
      { contexts: [{ name: 'main', context: { cluster: 'x', user: 'u' } }] },
      /"x", which contexts\[main\]\.cluster names, is not in clusters \(there: c\)/,
    ],
    [
      'a context that names an unknown user',
      { contexts: [{ name: 'main', context: { cluster: 'c', user: 'x' } }] },
      /"x", which contexts\[main\]\.user names, is not in users \(there: u\)/,
    ],
    ['a cluster without server', { clusters: [{ name: 'c', cluster: {} }] }, /config\.yaml: clusters\[c\]\.cluster\.server/],
    [
      'a server that is no address',
      { cluster: { server: 'api.example:6443' } },
      /clusters\[c\]\.cluster\.server is not an http\(s\) address/,
    ],
    ['a proxy', { cluster: { 'proxy-url': 'http://proxy:3128' } }, /clusters\[c\]\.cluster\.proxy-url is not supported yet/],
    ['an auth provider', { user: { 'auth-provider': { name: 'oidc' } } }, /users\[u\]\.user\.auth-provider \(oidc\) is not supported/],
    [
      'an impersonation that would be lost',
      { user: { as: 'a', 'as-user-extra': { k: ['v'] } } },
      /users\[u\]\.user\.as-user-extra is not supported/,
    ],
    [
      'a CA file that is absent',
      { cluster: { 'certificate-authority': 'no.crt' } },
      /clusters\[c\]\.cluster\.certificate-authority: .*no\.crt does not exist/,
    ],
    ['a token file that is absent', { user: { tokenFile: 'no' } }, /users\[u\]\.user\.tokenFile: .*no does not exist/],
    [
      'a CA that is no certificate',
      { cluster: { 'certificate-authority-data': Buffer.from('hunter2').toString('base64') } },
      /clusters\[c\]\.cluster\.certificate-authority is no PEM certificate/,
    ],
    [
      'a key that belongs to another certificate',
      {
        user: {
          'client-certificate-data': Buffer.from(selfSigned(['a']).cert).toString('base64'),
          'client-key-data': Buffer.from(selfSigned(['b']).key).toString('base64'),
        },
      },
      /users\[u\]\.user\.client-certificate and client-key are no PEM pair/,
    ],
    ['clusters that are no list', { clusters: 'c' }, /config\.yaml: clusters/],
    ['a token that is no text', { user: { token: 7 } }, /users\[u\]\.user\.token/],
  ];
  for (const [what, content, message] of faults) {
    it(`refuses ${what} in one line that names the key`, () => {
      const path = kubeconfig(content);
      assert.throws(() => loadAccess({ kind: 'file', path }), oneLine(message));
    });
  }

  it('refuses a file that is absent, that does not parse, and that is empty', () => {
    assert.throws(() => loadAccess({ kind: 'file', path: join(dir, 'none.yaml') }), oneLine(/none\.yaml does not exist/));
    const broken = write('broken.yaml', 'users:\n- token: hunter2\n  a: [\n');
    assert.throws(() => loadAccess({ kind: 'file', path: broken }), oneLine(/broken\.yaml: does not parse as YAML \(line \d+\)/));
    for (const nothing of ['', '\n\n', '# to be filled\n', '---\n']) {
      const path = write('empty.yaml', nothing);
      assert.throws(() => loadAccess({ kind: 'file', path }), oneLine(/empty\.yaml: is empty/));
    }
    assert.throws(() => loadAccess({ kind: 'file', path: write('text.yaml', 'hello') }), oneLine(/text\.yaml: the document/));
  });

  it('refuses a credential plugin inside Lambda, and nowhere else', () => {
    const path = kubeconfig({ user: { exec: { apiVersion: 'v1', command: 'aws' } } });
    const lambda = { AWS_LAMBDA_FUNCTION_NAME: 'reconcile' };
    assert.throws(() => loadAccess({ kind: 'file', path }, lambda), oneLine(/users\[u\]\.user\.exec does not work inside Lambda/));
    assert.equal(loadAccess({ kind: 'file', path }, {}).exec?.command, 'aws');
  });
});

describe('parseAccess of a kubeconfig in a store', () => {
  const parse = (fields: Fields, environment = {}) =>
    parseAccess(readFileSync(kubeconfig(fields), 'utf8'), { kind: 'remote', reference: 'ssm:/east' }, environment);

  it('takes what is in it, and absolute paths', () => {
    const { cert, key } = selfSigned(['me']);
    const inline = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
    const access = parse({
      user: { ...inline, tokenFile: write('mounted', 'secret\n') },
      cluster: { 'certificate-authority-data': base64(cert) },
    });
    assert.deepEqual([access.server.href, access.tokenFile], ['https://api.example:6443/', join(dir, 'mounted')]);
  });

  const relative: [key: string, fields: { cluster?: Fields; user?: Fields }][] = [
    ['clusters[c].cluster.certificate-authority', { cluster: { 'certificate-authority': 'ca.crt' } }],
    ['users[u].user.client-certificate', { user: { 'client-certificate': './me.crt', 'client-key': '/me.key' } }],
    ['users[u].user.client-key', { user: { 'client-certificate-data': 'aA==', 'client-key': 'me.key' } }],
    ['users[u].user.tokenFile', { user: { tokenFile: 'token' } }],
    ['users[u].user.exec.command', { user: { exec: { apiVersion: 'v1', command: './login' } } }],
  ];
  for (const [key, fields] of relative) {
    it(`refuses a relative path in ${key}, and says why`, () => {
      const message = `ssm:/east: ${key} is a relative path, which leads nowhere from here; put the content in (the fields with -data, token)`;
      assert.throws(() => parse(fields), { name: 'ConfigError', message });
    });
  }

  it('refuses a credential plugin inside Lambda, and finds one in the PATH elsewhere', () => {
    const user = { exec: { apiVersion: 'v1', command: 'aws' } };
    assert.throws(
      () => parse({ user }, { AWS_LAMBDA_FUNCTION_NAME: 'reconcile' }),
      oneLine(/^ssm:\/east: users\[u\]\.user\.exec does not work inside Lambda.* use eks: in the registry/),
    );
    assert.equal(parse({ user }).exec?.command, 'aws');
  });

  it('names reference and key of a fault, and quotes nothing', () => {
    assert.throws(() => parse({ user: { token: ['hunter2'] } }), oneLine(/^ssm:\/east: users\[u\]\.user\.token /));
    const text = 'users: [hunter2';
    assert.throws(() => parseAccess(text, { kind: 'remote', reference: 'ssm:/east' }, {}), oneLine(/^ssm:\/east: does not parse as YAML/));
  });
});

describe('loadAccess in a cluster', () => {
  const environment = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

  it('refuses to run outside a pod', () => {
    assert.throws(() => loadAccess({ kind: 'in-cluster' }, {}), oneLine(/KUBERNETES_SERVICE_HOST is not set/));
  });

  it('refuses a pod without service account', () => {
    assert.throws(
      () => loadAccess({ kind: 'in-cluster', root: join(dir, 'nowhere') }, environment),
      oneLine(/inCluster: token: .* does not exist/),
    );
  });

  it('reads address, CA and token file', () => {
    const account = 'pod/var/run/secrets/kubernetes.io/serviceaccount';
    const token = write(`${account}/token`, 'abc\n');
    write(`${account}/ca.crt`, 'PEM');
    Object.assign(process.env, environment); // client-node reads the process's own.
    try {
      const access = loadAccess({ kind: 'in-cluster', root: join(dir, 'pod') }, environment);
      assert.equal(access.server.href, 'https://10.0.0.1/');
      assert.equal(access.tokenFile, token);
    } finally {
      for (const name of Object.keys(environment)) delete process.env[name];
    }
  });
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A ConfigError of one line that matches and keeps secrets to itself. */
function oneLine(message: RegExp): (error: Error) => boolean {
  return (error) => {
    assert.equal(error.name, 'ConfigError');
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /\n|hunter2/);
    return true;
  };
}
