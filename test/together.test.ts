/** `npm test` runs each test file once, and a file does not notice that it shares its process. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GROUPS, ROOT, testFiles } from './together/groups.ts';

describe('the groups of test files', () => {
  it('have each file once, save those that need real parts', () => {
    const files = testFiles(['test/**/*']).filter((path) => !/^test\/(?:real|together)\//.test(path));
    assert.ok(files.length > 250, `${files.length} files`);
    assert.deepEqual(Object.values(GROUPS).flatMap(testFiles).sort(), files);
  });

  it('are gathered by a file each', () => {
    assert.deepEqual(
      testFiles(['test/together/*']),
      Object.keys(GROUPS)
        .map((name) => `test/together/${name}.test.ts`)
        .sort(),
    );
  });
});

describe('test files that share a process', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-together-'));
  let output: string;
  before(() => {
    const files: Record<string, string> = {
      'a.test.mjs': `
        beforeEach(() => { process.env.SEEN = (process.env.SEEN ?? '') + 'a'; process.chdir('/'); });
        it('has its own hook', () => assert.equal(process.env.SEEN, 'a'));
        it('has it twice', () => assert.equal(process.env.SEEN, 'aa'));`,
      'b.test.mjs': `
        beforeEach(() => { process.env = { SEEN: (process.env.SEEN ?? '') + 'b' }; });
        it('has no other', () => assert.deepEqual([process.env.SEEN, process.cwd()], ['b', ${JSON.stringify(ROOT)}]));`,
      'c.test.mjs': `
        it('finds its variables', () => assert.ok('PATH' in process.env && !('SEEN' in process.env)));
        it('leaves a clock behind', () => { Date.now = () => 0; });`,
      'd.test.mjs': `process.on('uncaughtException', () => {});`,
    };
    for (const [name, text] of Object.entries(files)) {
      const imports = "import assert from 'node:assert/strict';\nimport { beforeEach, it } from 'node:test';\n";
      writeFileSync(join(dir, name), imports + text);
    }
    const names = JSON.stringify(Object.keys(files));
    const gatherer = JSON.stringify(join(ROOT, 'test/together/gather.ts'));
    const script = `import { gather } from ${gatherer};\ngather(${JSON.stringify(dir)}, ${names});`;
    const { stdout } = spawnSync(process.execPath, ['--test-reporter=tap', '--input-type=module', '--eval', script], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'] ?? '' },
      encoding: 'utf8',
    });
    output = stdout;
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  it('have their hooks, variables and folder for themselves', () => {
    const tests = [...output.matchAll(/^ {4}((?:not )?ok) \d+ - (.*)$/gm)].map(([, outcome, name]) => `${outcome}: ${name}`);
    assert.deepEqual(tests, [
      'ok: has its own hook',
      'ok: has it twice',
      'ok: has no other',
      'ok: finds its variables',
      'ok: leaves a clock behind',
    ]);
  });

  it('fail where they leave anything else changed, or change it when they are loaded', () => {
    const suites = [...output.matchAll(/^((?:not )?ok) \d+ - (.*)$/gm)].map(([, outcome, name]) => `${outcome}: ${name}`);
    assert.deepEqual(suites, ['ok: a.test.mjs', 'ok: b.test.mjs', 'not ok: c.test.mjs', 'not ok: d.test.mjs']);
    assert.match(output, /c\.test\.mjs leaves the process changed: Date\.now/);
    assert.match(output, /d\.test\.mjs changes the process when it is loaded: listeners of uncaughtException/);
  });
});
