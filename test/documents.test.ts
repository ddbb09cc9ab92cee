/** What the documents show is what the code does. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { REASONS } from '../events/envelope.ts';
import { clusterName } from '../events/resource.ts';
import { crdYaml } from '../functions/cli/crds.ts';
import { parseDescribed } from '../functions/core/described-resource.ts';
import { checkPlan } from '../functions/core/plan.ts';
import { clusterRole, type KubernetesObject, type Reconciler } from '../functions/core/reconciler.ts';
import { parseObject } from '../functions/core/resource-definition.ts';
import { rightsOf } from '../functions/core/rights.ts';
import { VARIABLES } from '../functions/core/settings.ts';
import { reconcilers } from '../functions/reconcilers/index.ts';

const root = resolve(import.meta.dirname, '..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const dir = mkdtempSync(join(tmpdir(), 'dogwatch-documents-'));
after(() => rmSync(dir, { recursive: true, force: true }));

describe('ARCHITECTURE.md', () => {
  it('lists every variable with its unit, default, bounds and meaning, and no other', () => {
    const rows = VARIABLES.map(({ name, unit, default: byDefault = '', bounds = [], meaning }) =>
      ['', `\`${name}\``, unit, byDefault, bounds.join(' to '), meaning, ''].join(' | ').trim(),
    );
    const found = text('ARCHITECTURE.md')
      .split('\n')
      .filter((line) => line.startsWith('| `DOGWATCH_'));
    assert.deepEqual(found.map(squeeze), rows.map(squeeze));
  });

  it('names every reason of a message', () => {
    const page = text('ARCHITECTURE.md');
    for (const reason of Object.keys(REASONS)) assert.ok(page.includes(`\`${reason}\``), reason);
  });

  it('names only files that exist', () => {
    const names = [...text('ARCHITECTURE.md').matchAll(/`((?:events|functions|infra|test)\/[\w./-]+\.[a-z]+)`/g)].map(([, name]) => name);
    assert.ok(names.length > 10);
    for (const name of names) assert.ok(text(name ?? '') !== '', name);
  });
});

describe('README.md', () => {
  it('mentions only variables that exist', () => {
    const known = new Set(VARIABLES.map(({ name }) => name));
    for (const [name] of text('README.md').matchAll(/DOGWATCH_[A-Z_]*[A-Z]/g)) assert.ok(known.has(name), name);
  });

  it('mentions only npm scripts that exist', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const mentioned = [...text('README.md').matchAll(/npm run (?:-s )?([a-z:]+)/g)].map(([, name]) => name ?? '');
    assert.ok(mentioned.length > 3);
    for (const name of mentioned) assert.ok(name in scripts, name);
  });

  it('says of watcher and function what each may do in a cluster, right by right', () => {
    const type = (plural: string) => ({ group: 'lab.example', version: 'v1', kind: plural, plural, scope: 'Namespaced' }) as const;
    const declared = {
      resource: type('primaries') as unknown as Reconciler['resource'],
      owns: [type('children')],
      reads: [type('books')],
      grants: [clusterRole('edit')],
      watch: { selects: () => true },
      finalization: { name: 'lab.example/x', finalize: async () => ({ done: true }) as const },
    };
    const classes: [resource: string, cell: string][] = [
      ['primaries/status', 'their `/status`'],
      ['children', 'owned kinds'],
      ['primaries/finalizers', 'the `/finalizers` of kinds that own others'],
      ['clusterroles', 'the roles in `grants`'],
      ['events', '`events` of `events.k8s.io`'],
      ['customresourcedefinitions', 'the `customresourcedefinitions` of its kinds'],
    ];
    for (const [unit, own] of [
      ['reconcile', ['`get` on its kinds and on those in `reads`', '`patch` on kinds with a finalizer']],
      ['watcher', []],
    ] as const) {
      const rights = rightsOf(unit, [declared]);
      const verbsOn = (resource: string): string[] => rights.filter((one) => one.resource === resource).map(({ verb }) => `\`${verb}\``);
      const sentence = (verbs: readonly string[]): string => verbs.join(', ').replace(/, ([^,]*)$/, ' and $1');
      const expected = classes.filter(([resource]) => verbsOn(resource).length > 0);
      const phrases = [...own, ...expected.map(([resource, cell]) => `${sentence(verbsOn(resource))} on ${cell}`)];
      const row = text('README.md')
        .split('\n')
        .find((line) => line.startsWith(`| ${unit === 'watcher' ? 'watcher' : 'function'} | `));
      const said = row?.split('|')[3]?.trim().split('; ') ?? [];
      const inWatcher = unit === 'watcher' ? said.map((phrase) => phrase.replace('its kinds and on owned kinds', 'owned kinds')) : said;
      assert.deepEqual([...inWatcher].sort(), [...phrases].sort());
      assert.deepEqual(verbsOn('primaries').sort(), unit === 'watcher' ? ['`list`', '`watch`'] : ['`get`', '`patch`']);
      assert.deepEqual(verbsOn('books'), unit === 'watcher' ? [] : ['`get`']);
    }
  });

  /** What the nth example exports, and the children of its Plan for an object. */
  async function childrenOf(example: number, stored: KubernetesObject): Promise<[reconciler: Reconciler, data: unknown[]]> {
    const [, source = ''] = [...text('README.md').matchAll(/```ts\n([\s\S]*?)```/g)][example] ?? [];
    const file = join(dir, `example-${example}.ts`);
    const here = (path: string): string => pathToFileURL(join(root, 'functions', path)).href;
    const zod = import.meta.resolve('zod');
    writeFileSync(file, source.replace(/'\.\.\/(core\/[\w-]+\.ts)'/g, (_, path: string) => `'${here(path)}'`).replace("'zod'", `'${zod}'`));
    const [reconciler] = Object.values((await import(pathToFileURL(file).href)) as Record<string, Reconciler>);
    assert.ok(reconciler);
    const { resource } = reconciler;
    const { metadata } = stored;
    const key = { cluster: clusterName('east'), group: resource.group, kind: resource.kind, namespace: 'default', name: metadata.name };
    const object = resource.isDescribed ? parseDescribed(resource, stored) : parseObject(resource, stored);
    const log = { info: () => {}, warn: () => {} };
    const input = { key, object, read: async () => undefined, now: new Date(0), log, signal: new AbortController().signal };
    const plan = checkPlan(reconciler, { key, metadata }, await reconciler.reconcile(input as never));
    return [reconciler, plan.children.map(({ body }) => body['data'])];
  }

  const metadata = { name: 'hello', namespace: 'default', uid: 'u', resourceVersion: '1' };

  it('shows one of a kind that is not ours, which works as it stands', async () => {
    const stored = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata, labels: { 'example.com/copy': 'yes' } },
      data: { a: 'b' },
    };
    const [{ watch }, children] = await childrenOf(1, stored);
    assert.deepEqual(children, [{ a: 'b' }]);
    assert.deepEqual([watch.selects(stored), watch.selects({ ...stored, metadata })], [true, false]);
  });
});

describe('infra/crds', () => {
  it('holds exactly what `dogwatch crds --out infra/crds` writes', () => {
    const ours = reconcilers.flatMap(({ resource }) => (resource.isDescribed ? [] : resource));
    const expected = ours.map((resource) => [`${resource.plural}.${resource.group}.yaml`, crdYaml(resource)]);
    const found = readdirSync(join(root, 'infra/crds')).map((name) => [name, text(`infra/crds/${name}`)]);
    assert.deepEqual(found.sort(), expected.sort());
  });
});

function squeeze(row: string): string {
  return row.replace(/\s+/g, ' ');
}

describe('infra/RUNBOOK.md', () => {
  it('gives no text of others to the AWS CLI as a word of its own, of which it would send the file that a file:// in it names', () => {
    const commands = text('infra/RUNBOOK.md')
      .split('\n')
      .filter((line) => /^ {4}\S*aws sqs send-message /.test(line));
    assert.ok(commands.length > 0);
    for (const command of commands) assert.match(command, / --cli-input-json "\$\(jq /);
  });
});
