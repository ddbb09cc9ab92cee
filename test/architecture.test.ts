/** The shape of the project, checked: who may import whom, what is pure, how long a file is, where it is. */
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importRule, leftoverRule, placeRule, purityRule, type Rule, type SourceFile, sizeRule } from './architecture-rules.ts';
import { codeOf, importsOf } from './source-text.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILES: readonly SourceFile[] = globSync('{events,functions,infra,test}/**/*.{ts,js}', {
  cwd: ROOT,
  exclude: ['**/node_modules/**', '**/dist/**'],
})
  .sort()
  .map((path) => ({ path: path.replaceAll('\\', '/'), source: readFileSync(`${ROOT}/${path}`, 'utf8') }));

/** What `rule` says of a file that holds `source`. */
function says(rule: Rule, path: string, source: string): string[] {
  return rule({ path, source });
}

describe('the source tree', () => {
  it('was found', () => {
    const paths = FILES.map(({ path }) => path);
    for (const path of ['events/envelope.ts', 'functions/core/errors.ts', 'functions/cli/bin.js', 'test/architecture.test.ts']) {
      assert.ok(paths.includes(path), path);
    }
  });

  const rules: readonly [name: string, rule: Rule][] = [
    ['keeps the import rule', importRule],
    ['is pure in events and functions/core', purityRule],
    ['has no file that is too long', sizeRule],
    ['has no leftovers', leftoverRule],
    ['has every file in its place, named after what it holds', placeRule],
  ];
  for (const [name, rule] of rules) {
    it(name, () => assert.deepEqual(FILES.flatMap(rule), []));
  }

  it('has no other folders', () => {
    const folders = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
    const generated = ['node_modules', 'dist'];
    assert.deepEqual(
      folders.map(({ name }) => name).filter((name) => !generated.includes(name)),
      ['events', 'functions', 'infra', 'test'],
    );
  });
});

describe('importRule', () => {
  const forbidden: readonly [path: string, source: string][] = [
    ['events/a.ts', "import { x } from '../functions/core/errors.ts';"],
    ['events/a.ts', "import type { X } from '../functions/core/errors.ts';"],
    ['events/a.ts', "import { createHash } from 'node:crypto';"],
    ['events/a.ts', "export * from '../test/x.ts';"],
    ['functions/core/a.ts', "import type { Clock } from '../adapters/clock.ts';"],
    ['functions/core/a.ts', "import { tenant } from '../reconcilers/tenant.ts';"],
    ['functions/core/a.ts', "import { readFileSync } from 'node:fs';"],
    ['functions/core/a.ts', "import { randomUUID } from 'node:crypto';"],
    ['functions/core/a.ts', "import { createHash, randomUUID } from 'node:crypto';"],
    ['functions/core/a.ts', "import * as crypto from 'node:crypto';"],
    ['functions/core/a.ts', "const fs = await import('node:fs');"],
    ['functions/core/a.ts', 'const module = await import(name);'],
    ['functions/core/a.ts', "const fs = require('fs');"],
    ['functions/core/a.ts', "import {\n  x,\n  y,\n} from '../watcher/cell.ts';"],
    ['functions/reconcilers/a.ts', "import { SQSClient } from '@aws-sdk/client-sqs';"],
    ['functions/reconcilers/a.ts', "import { systemClock } from '../adapters/clock.ts';"],
    ['functions/reconcilers/a.ts', "const fs = await import('node:fs');"],
    ['functions/adapters/kubernetes/a.ts', "import { cell } from '../../watcher/cell.ts';"],
    ['functions/watcher/a.ts', "import { fold } from '../reconcile/fold.ts';"],
    ['functions/watcher/a.ts', "import { SQSClient } from '@aws-sdk/client-sqs';"],
    ['functions/reconcile/a.ts', "import { run } from '../cli/run.ts';"],
    ['functions/reconcile/a.ts', "const local = await import('../../infra/local/queue.ts');"],
    ['functions/cli/run.ts', "import { host } from '../../infra/local/function-host.ts';"],
    ['functions/cli/crds.ts', "const local = await import('../../infra/local/queue.ts');"],
    ['functions/cli/crds.ts', "import { build } from '../../infra/build.ts';"],
    ['functions/cli/crds.ts', "const fake = await import('../../test/fakes/a.ts');"],
    ['infra/build.ts', "import { queue } from './local/queue.ts';"],
    ['infra/build.ts', "import { fake } from '../test/fakes/a.ts';"],
    ['scripts/a.ts', ''],
  ];
  for (const [path, source] of forbidden) {
    it(`catches ${JSON.stringify(source)} in ${path}`, () => assert.equal(says(importRule, path, source).length, 1));
  }

  const allowed: readonly [path: string, source: string][] = [
    ['events/a.ts', "import * as z from 'zod';\nimport { b } from './b.ts';"],
    ['functions/core/a.ts', "import { createHash } from 'node:crypto';\nimport { b } from '../../events/b.ts';"],
    ['functions/reconcilers/queue-claim.ts', "const { SQSClient } = await import('@aws-sdk/client-sqs');"],
    ['functions/adapters/a.ts', "import { SQSClient } from '@aws-sdk/client-sqs';\nimport { request } from 'node:https';"],
    ['functions/watcher/a.ts', "import { createServer } from 'node:http';\nimport { clock } from '../adapters/clock.ts';"],
    ['functions/watcher/a.ts', "const { randomUUID } = await import('node:crypto');"],
    ['functions/cli/run.ts', "const { host } = await import('../../infra/local/function-host.ts');"],
    ['functions/cli/crds.ts', "const { build } = await import('../../infra/build.ts');"],
    ['infra/local/a.ts', "import { fake } from '../../test/fakes/a.ts';"],
    ['test/a.test.ts', "import { queue } from '../infra/local/queue.ts';"],
    ['functions/core/a.ts', "// import { x } from '../adapters/clock.ts';\n/* import { y } from 'node:fs'; */"],
  ];
  for (const [path, source] of allowed) {
    it(`allows ${JSON.stringify(source)} in ${path}`, () => assert.deepEqual(says(importRule, path, source), []));
  }
});

describe('purityRule', () => {
  const impure = [
    'const now = Date.now();',
    'const now = new Date();',
    'const now = new Date;',
    'const text = Date();',
    'const t = performance.now();',
    'const r = Math.random();',
    "const home = process.env['HOME'];",
    "console.log('x');",
    'setTimeout(run, 1);',
    'const set = setInterval;',
    "const answer = await fetch('https://example.com');",
    `const text = \`at \${Date.now()}\`;`,
    "const url = 'http://x'; const now = Date.now();",
    "const slash = /'/; const r = Math.random(); const other = /'/;",
    'globalThis.count = 1;',
  ];
  for (const source of impure) {
    it(`catches ${source}`, () => assert.equal(says(purityRule, 'functions/core/a.ts', source).length, 1));
  }

  const pure = [
    'const noon = new Date(0);',
    'const same = new Date(now);',
    '// Date.now() is not called here',
    "const text = 'process.env, console.log and new Date()';",
    'run.process(item);',
    'const isDate = value instanceof Date;',
    'const prefetch = cache.fetch(key);',
  ];
  for (const source of pure) {
    it(`lets ${source} pass`, () => assert.deepEqual(says(purityRule, 'events/a.ts', source), []));
  }

  it('is for events and functions/core only', () => {
    assert.deepEqual(says(purityRule, 'functions/adapters/clock.ts', 'Date.now()'), []);
  });
});

describe('the other rules', () => {
  it('catch a file that is too long, counting tests longer', () => {
    const lines = (count: number) => 'x;\n'.repeat(count);
    assert.deepEqual(says(sizeRule, 'events/a.ts', lines(300)), []);
    assert.equal(says(sizeRule, 'events/a.ts', lines(301)).length, 1);
    assert.deepEqual(says(sizeRule, 'test/a.test.ts', lines(400)), []);
    assert.equal(says(sizeRule, 'test/a.test.ts', lines(401)).length, 1);
  });

  it('catch notes to oneself and tests that hide the others', () => {
    for (const source of [`// ${'TO'}DO later`, `// ${'FIX'}ME`, "it.only('x', () => {});", 'debugger;']) {
      assert.equal(says(leftoverRule, 'events/a.ts', source).length, 1, source);
    }
    assert.deepEqual(says(leftoverRule, 'events/a.ts', "const text = 'it.only';"), []);
  });

  it('catch a file out of place or with a name that says nothing', () => {
    const wrong = [
      'src/a.ts',
      'functions/a.ts',
      'functions/other/a.ts',
      'test/unit/a.test.ts',
      'events/utils.ts',
      'functions/core/helpers/a.ts',
      'events/aB.ts',
    ];
    for (const path of wrong) assert.equal(says(placeRule, path, '').length, 1, path);
    for (const path of ['events/a.ts', 'functions/core/a-b.ts', 'test/a.test.ts', 'infra/build.ts', 'infra/local/api-server/store.ts']) {
      assert.deepEqual(says(placeRule, path, ''), [], path);
    }
  });
});

describe('importsOf and codeOf', () => {
  it('read every form of import', () => {
    const source = [
      "import 'a';",
      "import b, { c as d, type E } from 'b';",
      "import type { F } from 'f';",
      "import { type G } from 'g';",
      "export { h } from 'h';",
      "export * as i from 'i';",
      "const j = await import('j');",
    ].join('\n');
    assert.deepEqual(
      importsOf(source).map(({ specifier, how, names }) => [specifier, how, ...names].join(' ')),
      ['a static', 'b static c type E', 'f type F', 'g type type G', 'h static h', 'i static', 'j dynamic'],
    );
  });

  it('take no text for an import', () => {
    for (const source of [
      'const text = "import { x } from \'x\'";',
      "const text = `import('x')`;",
      "/* import 'x'; */",
      "export function f() {\n  return g('from');\n}",
      "export type T = 'a' | 'b';",
      "await run.import('x');",
    ]) {
      assert.deepEqual(importsOf(source), [], source);
    }
  });

  it('do not lose their way in any file of ours', () => {
    // A quote or slash taken for what it is not swallows code up to the next one, and with it a brace.
    const astray = FILES.filter(({ source }) => {
      const code = codeOf(source);
      return code.split('{').length !== code.split('}').length || code.split('(').length !== code.split(')').length;
    });
    assert.deepEqual(
      astray.map(({ path }) => path),
      [],
    );
  });

  it('keep lines where they are', () => {
    assert.equal(codeOf(`/* a\nb */ x = \`c\n\${d}\`;\n// e\ny`).split('\n').length, 5);
  });
});
