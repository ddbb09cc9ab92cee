import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const MODULE = resolve(import.meta.dirname, '../../../functions/adapters/metrics.ts');

/** Lines that a process of its own prints: Powertools writes to stdout past the console. */
async function linesOf(code: string, env: Readonly<Record<string, string>> = {}): Promise<Record<string, unknown>[]> {
  const source = `import { createMetrics } from ${JSON.stringify(MODULE)}; const metrics = createMetrics();
    const count = (name, value, dimensions) => ({ name, unit: 'Count', value, dimensions }); ${code}`;
  const words = ['--input-type=module', '-e', source];
  const { stdout, stderr } = await execute(process.execPath, words, { env: { PATH: process.env['PATH'] ?? '', ...env } });
  assert.equal(stderr, '');
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const withoutTime = ({ _aws, ...rest }: Record<string, unknown>): unknown => ({
  ...rest,
  directives: (_aws as { CloudWatchMetrics: unknown }).CloudWatchMetrics,
});

describe('createMetrics', () => {
  it('writes a line in the Embedded Metric Format for each set of dimensions', async () => {
    const lines = await linesOf(`
      metrics.add([count('Records', 1, { cluster: 'east', branch: 'gone' }), count('Retries', 1, { cluster: 'east' })]);
      metrics.add([count('Retries', 2, { cluster: 'east' }), { ...count('RunDuration', 40, { cluster: 'east' }), unit: 'Milliseconds' }]);
      metrics.flush();`);
    const directive = (names: [string, string][], ...dimensions: string[]): unknown[] => [
      { Namespace: 'Dogwatch', Dimensions: [dimensions], Metrics: names.map(([Name, Unit]) => ({ Name, Unit })) },
    ];
    assert.deepEqual(lines.map(withoutTime), [
      { cluster: 'east', branch: 'gone', Records: 1, directives: directive([['Records', 'Count']], 'cluster', 'branch') },
      {
        cluster: 'east',
        Retries: [1, 2],
        RunDuration: 40,
        directives: directive(
          [
            ['Retries', 'Count'],
            ['RunDuration', 'Milliseconds'],
          ],
          'cluster',
        ),
      },
    ]);
  });

  it('loses no value of many, and no dimension', async () => {
    const lines = await linesOf(`
      metrics.add(Array.from({ length: 250 }, () => count('Retries', 1, { cluster: 'east' })));
      metrics.flush();`);
    assert.equal(lines.flatMap(({ Retries }) => Retries).length, 250);
    assert.deepEqual(new Set(lines.map(({ cluster }) => cluster)), new Set(['east']));
  });

  it('writes nothing where nothing was added, and nothing twice', async () => {
    const lines = await linesOf(`metrics.flush(); metrics.add([count('A', 1, { cluster: 'east' })]); metrics.flush(); metrics.flush();`);
    assert.equal(lines.length, 1);
  });

  it('leaves nothing of what cannot be written to the next flush, where it would have wrong dimensions', async () => {
    const lines = await linesOf(`
      metrics.add([count('A', 1, { cluster: 'east', branch: 'gone' }), { ...count('A', 2, { cluster: 'east', branch: 'gone' }), unit: 'Seconds' }]);
      try { metrics.flush(); console.log(JSON.stringify({ thrown: false })); } catch { console.log(JSON.stringify({ thrown: true })); }
      metrics.add([count('B', 3, { cluster: 'west' })]);
      metrics.flush();`);
    assert.deepEqual(
      lines.map(({ _aws, ...rest }) => rest),
      [{ thrown: true }, { cluster: 'west', B: 3 }],
    );
  });

  it('goes by the environment: another namespace, or none of it', async () => {
    const code = `metrics.add([count('A', 1, { cluster: 'east' })]); metrics.flush();`;
    const [line] = await linesOf(code, { POWERTOOLS_METRICS_NAMESPACE: 'Dogwatch-test' });
    assert.match(JSON.stringify(line), /"Namespace":"Dogwatch-test"/);
    assert.deepEqual(await linesOf(code, { POWERTOOLS_METRICS_DISABLED: 'true' }), []);
  });
});
