/** A wrong configuration ends `watch` and `run` with exit code 2 and one line, before a message is touched. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CommandLine, type Ended, endsOf } from './command-lines.ts';

const dir = mkdtempSync(join(tmpdir(), 'dogwatch-faults-'));
after(() => rmSync(dir, { recursive: true, force: true }));

const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'good',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [
    { name: 'u', user: { token: 'secret-token' } },
    { name: 'x', user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'true', interactiveMode: 'Never' } } },
  ],
  contexts: [
    { name: 'good', context: { cluster: 'c', user: 'u' } },
    { name: 'exec', context: { cluster: 'c', user: 'x' } },
  ],
});

interface Fault {
  readonly name: string;
  /** Text of the registry; undefined: there is none. */
  readonly registry: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly says: readonly RegExp[];
}

const FAULTS: readonly Fault[] = [
  { name: 'a registry that is absent', registry: undefined, says: [/registry\.yml/] },
  { name: 'a registry that does not parse', registry: 'clusters: [', says: [/registry\.yml/] },
  { name: 'an unknown key', registry: 'clusters:\n  - name: east\n    kubeconfg: ./good.yaml\n', says: [/registry\.yml/, /kubeconfg/] },
  {
    name: 'a duplicate name',
    registry: 'clusters:\n  - { name: east, kubeconfig: ./good.yaml }\n  - { name: east, kubeconfig: ./good.yaml }\n',
    says: [/registry\.yml/, /east/],
  },
  {
    name: 'a kubeconfig that is absent',
    registry: 'clusters:\n  - { name: east, kubeconfig: ./none.yaml }\n',
    says: [/none\.yaml/, /east/],
  },
  {
    name: 'a context that the kubeconfig does not have',
    registry: 'clusters:\n  - { name: east, kubeconfig: ./good.yaml, context: bad }\n',
    says: [/good\.yaml/, /context/, /bad/],
  },
  {
    name: 'an unknown variable',
    registry: 'clusters:\n  - { name: east, kubeconfig: ./good.yaml }\n',
    env: { DOGWATCH_QUEU_URL: 'x' },
    says: [/DOGWATCH_QUEU_URL/],
  },
  {
    name: 'a variable out of bounds',
    registry: 'clusters:\n  - { name: east, kubeconfig: ./good.yaml }\n',
    env: { DOGWATCH_WATCH_TIMEOUT_SECONDS: 'soon' },
    says: [/DOGWATCH_WATCH_TIMEOUT_SECONDS/],
  },
];

/** What works in a process of the user, and not in Lambda. */
const FUNCTION_FAULTS: readonly Fault[] = [
  {
    name: 'a user with exec, which is not there in the function',
    registry: 'clusters:\n  - { name: east, kubeconfig: ./good.yaml, context: exec }\n',
    says: [/good\.yaml/, /exec/, /Lambda/],
  },
  {
    name: 'a pod’s own cluster, of which the function is not told',
    registry: 'clusters:\n  - { name: east, inCluster: true }\n',
    env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '1' },
    says: [/inCluster/, /KUBERNETES_SERVICE_HOST is not set/],
  },
];

const CASES = [
  ...FAULTS.map((fault) => ['watch', fault] as const),
  ...[...FAULTS, ...FUNCTION_FAULTS].map((fault) => ['run', fault] as const),
];

/** A registry with that text, or none, beside a kubeconfig that is good. */
function lineOf(command: string, { registry: text, env }: Fault): CommandLine {
  const registry = join(mkdtempSync(join(dir, 'case-')), 'registry.yml');
  writeFileSync(join(registry, '..', 'good.yaml'), KUBECONFIG);
  if (text !== undefined) writeFileSync(registry, text);
  return {
    words: [command],
    env: {
      DOGWATCH_CLUSTERS: registry,
      DOGWATCH_QUEUE_URL: 'http://127.0.0.1:1/000000000000/work',
      DOGWATCH_BULK_QUEUE_URL: 'http://127.0.0.1:1/000000000000/bulk',
      DOGWATCH_DEAD_LETTER_QUEUE_URL: 'http://127.0.0.1:1/000000000000/dead',
      DOGWATCH_HTTP_ADDRESS: '127.0.0.1:0',
      AWS_REGION: 'us-east-1',
      ...env,
    },
  };
}

describe('a wrong configuration', () => {
  let ends: readonly Ended[];
  before(async () => {
    ends = await endsOf(CASES.map(([command, fault]) => lineOf(command, fault)));
  });

  for (const [at, [command, { name, says }]] of CASES.entries()) {
    it(`ends dogwatch ${command} with 2 and one line for ${name}`, () => {
      const { code, output } = ends[at] as Ended;
      assert.equal(code, 2, output);
      const lines = output.trim().split('\n');
      assert.equal(lines.length, 1, output);
      for (const pattern of says) assert.match(lines[0] ?? '', pattern);
      assert.doesNotMatch(output, /secret-token/);
    });
  }
});

describe('dogwatch', () => {
  it('lists its commands with --help and ends with 0', async () => {
    const ended = await dogwatch(['--help'], {});
    assert.equal(ended.code, 0);
    for (const command of ['watch', 'run', 'crds']) assert.match(ended.output, new RegExp(`^ {2}${command}\\b`, 'm'));
  });

  it('ends with 2, as a process too, for a registry that is absent', async () => {
    const ended = await dogwatch(['watch'], lineOf('watch', FAULTS[0] as Fault).env);
    assert.deepEqual([ended.code, ended.output.trim().split('\n').length], [2, 1], ended.output);
  });

  it('ends with the code of what is wrong, in one line where it is not in the words, and prints what it can', async () => {
    const file = join(dir, 'a-file');
    writeFileSync(file, '');
    const registry = join(dir, 'crds-registry.yml');
    writeFileSync(join(dir, 'good.yaml'), KUBECONFIG);
    writeFileSync(registry, 'clusters:\n  - { name: east, kubeconfig: ./good.yaml }\n');
    const ends: readonly [words: readonly string[], code: number, says: RegExp][] = [
      [['unknown'], 2, /unknown/],
      [['run', '--timeout', 'soon'], 2, /soon/],
      [['crds', '--cluster', 'east'], 2, /--apply/],
      [['watch', '--nope'], 2, /--nope/],
      [['crds', '--out', join(file, 'below')], 2, /^dogwatch: [^\n]*a-file[^\n]*$/],
      [['crds', '--apply', '--cluster', 'west'], 2, /^dogwatch: [^\n]*west[^\n]*east[^\n]*$/],
      [['crds', '--apply', '--cluster', 'east'], 1, /^dogwatch: east: [^\n]+$/],
      [['crds'], 0, /^kind: CustomResourceDefinition$[\s\S]*name: tenants\.platform\.example/m],
    ];
    const lines = ends.map(([words]) => ({ words, env: { DOGWATCH_CLUSTERS: registry } }));
    const [noRegistry, ...found] = await endsOf([{ words: ['crds', '--apply'], env: {} }, ...lines]);
    assert.equal(noRegistry?.code, 2, noRegistry?.output);
    for (const [at, { code, output }] of found.entries()) {
      const [words, expected, says] = ends[at] as (typeof ends)[number];
      assert.equal(code, expected, `${words.join(' ')}: ${output}`);
      assert.match(output.trim(), says);
      assert.doesNotMatch(output, /^\s+at |secret-token/m);
    }
  });
});

function dogwatch(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['functions/cli/bin.js', ...words], { env: { PATH: process.env['PATH'] ?? '', ...env } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
