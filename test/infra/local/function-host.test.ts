import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { InvocationResult } from '../../../infra/local/function-host/invocation.ts';
import { createPool, type Pool, type PoolOptions } from '../../../infra/local/function-host/pool.ts';

/** A function that does what its event says. */
const FUNCTION = `
let count = 0;
const busy = new Map();
exports.handler = async (event, context) => {
  count += 1;
  switch (event.do) {
    case 'count': return { count, pid: process.pid };
    case 'context': return { left: context.getRemainingTimeInMillis(), id: context.awsRequestId, trace: process.env._X_AMZN_TRACE_ID ?? null };
    case 'environment': return process.env;
    case 'throw': throw new RangeError('out of range');
    case 'throw text': throw 'just text';
    case 'reject later': Promise.reject(new Error('nobody waits')); return new Promise(() => setTimeout(() => {}, 60000));
    case 'log': console.log('one\\ntwo'); console.error('three \\u2028 still three'); process.stdout.write('no end'); return null;
    case 'nothing': return undefined;
    case 'large': return 'x'.repeat(event.bytes - 2);
    case 'exit': process.exit(7);
    case 'exit later': setImmediate(() => setImmediate(() => process.exit(0))); return { pid: process.pid };
    case 'hang': return new Promise(() => setTimeout(() => {}, 60000));
    case 'spin': for (;;) {}
    case 'meet': { const file = event.file + process.pid; require('node:fs').writeFileSync(file, ''); return new Promise((done) => {
      const look = setInterval(() => { if (require('node:fs').existsSync(event.until)) { clearInterval(look); done(process.pid); } }, 5); }); }
    case 'pid': console.log('pid ' + process.pid); for (;;) {}
  }
};
exports.withCallback = (event, context, callback) => callback(null, {});
`;

describe('a function in a process of its own', () => {
  let folder: string;
  const pools: Pool[] = [];

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'function-host-test-'));
    writeFileSync(join(folder, 'index.cjs'), FUNCTION);
    writeFileSync(join(folder, 'broken.js'), "throw new SyntaxError('cannot load');");
    writeFileSync(join(folder, 'slow.js'), 'for (;;) {}');
    writeFileSync(join(folder, 'module.mjs'), "export const handler = async () => 'from a module';");
    writeFileSync(join(folder, 'index.zip'), zipSync({ 'index.cjs': strToU8(FUNCTION), 'sub/data.txt': strToU8('x') }));
  });
  after(async () => {
    await Promise.all(pools.map((pool) => pool.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  function pool(options: Partial<PoolOptions> = {}): Pool {
    const made = createPool({ artifact: folder, handler: 'index.handler', maximumConcurrency: 1, timeoutMs: 10_000, ...options });
    pools.push(made);
    return made;
  }

  const payloadOf = <T>(result: InvocationResult): T => {
    assert.ok(result.kind === 'answer', JSON.stringify(result));
    return result.payload as T;
  };
  const errorOf = (result: InvocationResult) => {
    assert.ok(result.kind === 'error', JSON.stringify(result));
    return result.error;
  };

  it('keeps a warm process and its module state', async () => {
    const host = pool();
    const cold = await host.invoke({ do: 'count' });
    const warm = await host.invoke({ do: 'count' });
    assert.deepEqual([cold.coldStart, warm.coldStart], [true, false]);
    assert.ok((cold.initMs ?? 0) > 0 && warm.initMs === undefined && warm.durationMs > 0);
    const [first, second] = [payloadOf<{ count: number; pid: number }>(cold), payloadOf<{ count: number; pid: number }>(warm)];
    assert.deepEqual([first.count, second.count], [1, 2]);
    assert.equal(second.pid, first.pid);
    assert.notEqual(first.pid, process.pid);
  });

  it('tells the function its deadline, request and trace', async () => {
    const host = pool();
    const traced = await host.invoke({ do: 'context' }, { traceId: 'Root=1-2-3' });
    const { left, id, trace } = payloadOf<{ left: number; id: string; trace: string }>(traced);
    assert.ok(left > 5_000 && left <= 10_000, String(left));
    assert.equal(id, traced.requestId);
    assert.equal(trace, 'Root=1-2-3');
    assert.equal(payloadOf<{ trace: null }>(await host.invoke({ do: 'context' })).trace, null);
  });

  it('lets nothing of our environment in but PATH', async () => {
    process.env['A_SECRET_OF_THE_DEVELOPER'] = 'yes';
    const env = payloadOf<Record<string, string>>(
      await pool({ env: { MINE: '1', AWS_REGION: 'eu-west-1' } }).invoke({ do: 'environment' }),
    );
    delete process.env['A_SECRET_OF_THE_DEVELOPER'];
    assert.deepEqual(
      Object.keys(env).filter((name) => !/^(AWS_|LAMBDA_|_HANDLER$|PATH$|LANG$|TZ$)/.test(name)),
      ['MINE'],
    );
    assert.equal(env['AWS_REGION'], 'eu-west-1');
    assert.equal(env['AWS_EXECUTION_ENV'], 'AWS_Lambda_nodejs24.x');
  });

  it('gives each new process credentials of its own, and takes another process before they end', async () => {
    const inMinutes = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);
    const given = [
      { accessKeyId: 'first', secretAccessKey: 's', sessionToken: 't', expiration: inMinutes(3) },
      { accessKeyId: 'second', secretAccessKey: 's', expiration: inMinutes(60) },
    ];
    const host = pool({ credentials: async () => given.shift() ?? assert.fail('asked once too often') });
    const seen: unknown[] = [];
    for (let run = 1; run <= 3; run += 1) {
      const env = payloadOf<Record<string, string>>(await host.invoke({ do: 'environment' }));
      seen.push([env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY'], env['AWS_SESSION_TOKEN']]);
    }
    assert.deepEqual(seen, [
      ['first', 's', 't'],
      ['second', 's', undefined],
      ['second', 's', undefined],
    ]);
  });

  it('refuses an invocation for which there are no credentials, and has its place free for the next', async () => {
    const given = [Promise.reject(new Error('logged out')), Promise.resolve({ accessKeyId: 'a', secretAccessKey: 's' })];
    given[0]?.catch(() => undefined);
    const host = pool({ credentials: () => given.shift() ?? assert.fail('asked once too often') });
    await assert.rejects(host.invoke({ do: 'nothing' }), /logged out/);
    assert.equal(payloadOf(await host.invoke({ do: 'nothing' })), null);
  });

  it('answers null for a handler that returns nothing', async () => {
    assert.equal(payloadOf(await pool().invoke({ do: 'nothing' })), null);
  });

  for (const [event, errorType, errorMessage] of [
    ['throw', 'RangeError', 'out of range'],
    ['throw text', 'string', 'just text'],
  ] as const) {
    it(`reports what a handler throws and keeps the process (${event})`, async () => {
      const host = pool();
      const error = errorOf(await host.invoke({ do: event }));
      assert.deepEqual([error.errorType, error.errorMessage], [errorType, errorMessage]);
      assert.equal(payloadOf<{ count: number }>(await host.invoke({ do: 'count' })).count, 2);
    });
  }

  it('reports a rejection that nobody handles, and starts anew', async () => {
    const host = pool();
    assert.equal(errorOf(await host.invoke({ do: 'reject later' })).errorMessage, 'nobody waits');
    assert.equal((await host.invoke({ do: 'count' })).coldStart, true);
  });

  for (const event of ['hang', 'spin']) {
    it(`kills a function that runs past its time (${event}), and starts anew`, async () => {
      const host = pool({ timeoutMs: 300 });
      const late = await host.invoke({ do: event });
      assert.equal(errorOf(late).errorType, 'Sandbox.Timedout');
      assert.match(errorOf(late).errorMessage, /Task timed out after 0\.30 seconds$/);
      assert.ok(late.durationMs >= 290, String(late.durationMs));
      assert.equal((await host.invoke({ do: 'count' })).coldStart, true);
    });
  }

  it('reports a process that ends during an invocation', async () => {
    const error = errorOf(await pool().invoke({ do: 'exit' }));
    assert.equal(error.errorType, 'Runtime.ExitError');
    assert.match(error.errorMessage, /Runtime exited with status 7$/);
  });

  it('uses a new process when the warm one ended between invocations', async () => {
    const host = pool();
    const first = payloadOf<{ pid: number }>(await host.invoke({ do: 'exit later' }));
    await until(() => !exists(first.pid)); // a process of ours exists until its end was noticed
    assert.equal((await host.invoke({ do: 'count' })).coldStart, true);
  });

  it('takes an answer of 6 MiB and refuses a larger one', async () => {
    const host = pool();
    assert.equal(payloadOf<string>(await host.invoke({ do: 'large', bytes: 6_291_556 })).length, 6_291_554);
    assert.equal(errorOf(await host.invoke({ do: 'large', bytes: 6_291_557 })).errorType, 'Function.ResponseSizeTooLarge');
    assert.equal(payloadOf<{ count: number }>(await host.invoke({ do: 'count' })).count, 3);
  });

  for (const [handler, errorType] of [
    ['broken.handler', 'SyntaxError'],
    ['absent.handler', 'Runtime.ImportModuleError'],
    ['index.absent', 'Runtime.HandlerNotFound'],
    ['index.withCallback', 'Runtime.CallbackHandlerDeprecated'],
    ['index', 'Runtime.MalformedHandlerName'],
  ] as const) {
    it(`reports ${errorType} for the handler ${handler}`, async () => {
      assert.equal(errorOf(await pool({ handler }).invoke({})).errorType, errorType);
    });
  }

  it('gives up on a module that does not finish loading', async () => {
    const error = errorOf(await pool({ handler: 'slow.handler', initTimeoutMs: 300 }).invoke({}));
    assert.match(error.errorMessage, /Task timed out after 0\.30 seconds$/);
  });

  it('loads an ES module too', async () => {
    assert.equal(payloadOf(await pool({ handler: 'module.handler' }).invoke({})), 'from a module');
  });

  it('forwards what the function writes, line by line', async () => {
    const lines: string[] = [];
    const host = pool({ log: (line) => lines.push(line) });
    await host.invoke({ do: 'log' });
    await host.stop();
    assert.deepEqual(new Set(lines), new Set(['one', 'two', 'three \u2028 still three', 'no end']));
  });

  it('runs up to the maximum at once and lets the others wait', async () => {
    const host = pool({ maximumConcurrency: 2 });
    const event = { do: 'meet', file: join(folder, 'running-'), until: join(folder, 'go') };
    const all = Promise.all([1, 2, 3].map(() => host.invoke(event)));
    await until(() => readdirSync(folder).filter((name) => name.startsWith('running-')).length === 2);
    writeFileSync(event.until, '');
    const pids = (await all).map((result) => payloadOf<number>(result));
    assert.equal(new Set(pids).size, 2);
    assert.equal((await all).filter((result) => result.coldStart).length, 2);
  });

  it('throttles what is above its reserved concurrency: no code runs, and nothing waits', async () => {
    const host = pool({ maximumConcurrency: 3, reservedConcurrency: 1 });
    const event = { do: 'meet', file: join(folder, 'reserved-'), until: join(folder, 'reserved') };
    const running = host.invoke(event);
    await until(() => readdirSync(folder).some((name) => name.startsWith('reserved-')));
    const throttled = await host.invoke({ do: 'exit' });
    assert.deepEqual([throttled.kind, throttled.coldStart, throttled.durationMs], ['throttled', false, 0]);
    writeFileSync(event.until, '');
    assert.equal((await running).kind, 'answer');
    assert.equal(payloadOf<{ count: number }>(await host.invoke({ do: 'count' })).count, 2);
    assert.equal((await pool({ reservedConcurrency: 0 }).invoke({ do: 'count' })).kind, 'throttled');
  });

  it('unpacks a zip, runs it where no node_modules are, and removes it at the end', async () => {
    const host = pool({ artifact: join(folder, 'index.zip') });
    const env = payloadOf<Record<string, string>>(await host.invoke({ do: 'environment' }));
    const root = env['LAMBDA_TASK_ROOT'] ?? '';
    assert.ok(existsSync(join(root, 'sub/data.txt')));
    await host.stop();
    assert.ok(!existsSync(root));
  });

  it('refuses packages that are absent, no zip, or write outside their folder', () => {
    const evil = join(folder, 'evil.zip');
    writeFileSync(evil, zipSync({ '../evil.txt': strToU8('x') }));
    for (const artifact of [join(folder, 'absent.zip'), join(folder, 'index.cjs'), evil]) {
      assert.throws(
        () => createPool({ artifact, maximumConcurrency: 1 }),
        (error) => error instanceof ConfigError && error.code === 'bad-package',
      );
    }
    assert.ok(!existsSync(join(tmpdir(), 'evil.txt')));
  });

  it('ends running and refuses waiting invocations when it is stopped', async () => {
    const host = pool();
    const running = host.invoke({ do: 'hang' });
    const waiting = host.invoke({ do: 'count' });
    const refused = assert.rejects(waiting, /was stopped/);
    await host.stop();
    await refused;
    await running.then(
      (result) => assert.equal(errorOf(result).errorType, 'Runtime.ExitError'),
      (error: Error) => assert.match(error.message, /was stopped/),
    );
    await assert.rejects(host.invoke({}), /was stopped/);
  });

  it('does not outlive its host, not even in an endless loop', async () => {
    const source = `
      import { createPool } from ${JSON.stringify(new URL('../../../infra/local/function-host/pool.ts', import.meta.url).href)};
      const pool = createPool({ artifact: ${JSON.stringify(folder)}, handler: 'index.handler', maximumConcurrency: 1, log: console.log });
      await pool.invoke({ do: 'pid' });`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    host.stdout.on('data', (chunk) => (output += chunk));
    await until(() => output.includes('\n'));
    const pid = Number(/pid (\d+)/.exec(output)?.[1]);
    assert.ok(isAlive(pid));
    host.kill('SIGKILL');
    await until(() => !isAlive(pid));
  });
});

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** False also for a process that has ended and that nobody has asked for its exit status yet. */
function isAlive(pid: number): boolean {
  if (!exists(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false; // it ended meanwhile
  }
}

/** Looks every 10 ms; fails after 10 s. */
async function until(isSo: () => boolean): Promise<void> {
  const endMs = Date.now() + 10_000;
  while (!isSo()) {
    assert.ok(Date.now() < endMs, 'it did not become so within 10 s');
    await new Promise((done) => setTimeout(done, 10));
  }
}
