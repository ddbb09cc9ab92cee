import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a file with a Node that says it has `version`: its own if left out. */
function run(file: string, words: readonly string[], version?: string): SpawnSyncReturns<string> {
  const disguise = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const flags = version === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(disguise)}`];
  return spawnSync(process.execPath, [...flags, file, ...words], { cwd: ROOT, encoding: 'utf8' });
}
function resultOf({ status, stdout, stderr }: SpawnSyncReturns<string>) {
  return { status, stdout, stderr };
}

describe('check-node.js', () => {
  it('says nothing to this Node', () => {
    assert.deepEqual(resultOf(run('infra/check-node.js', [])), { status: 0, stdout: '', stderr: '' });
  });

  for (const version of ['14.0.0', '20.1.0', '23.11.1']) {
    for (const file of ['infra/check-node.js', 'functions/cli/bin.js']) {
      it(`ends ${file} under Node ${version} with one line and exit code 2`, () => {
        assert.deepEqual(resultOf(run(file, ['--help'], version)), {
          status: 2,
          stdout: '',
          stderr: `dogwatch needs Node 24; this is Node ${version}. Run it through npm (npm ci brings Node 24), not directly.\n`,
        });
      });
    }
  }

  it('says nothing to a newer Node', () => {
    assert.deepEqual(resultOf(run('infra/check-node.js', [], '26.0.0')), { status: 0, stdout: '', stderr: '' });
  });
});

describe('bin.js', () => {
  it('hands its words to the command line and ends with its exit code', () => {
    const help = run('functions/cli/bin.js', ['--help']);
    assert.equal(help.status, 0);
    assert.match(help.stdout, /^Usage: dogwatch/);
    assert.equal(run('functions/cli/bin.js', ['no-such-command']).status, 2);
  });
});
