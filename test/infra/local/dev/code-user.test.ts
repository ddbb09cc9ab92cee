import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { ConfigError } from '../../../../functions/core/errors.ts';
import type { Code } from '../../../../infra/local/dev/code.ts';
import { createCodeUser } from '../../../../infra/local/dev/code-user.ts';
import type { Crd } from '../../../../infra/local/dev/crd-calls.ts';
import type { RunningCode } from '../../../../infra/local/dev/replaceable-function.ts';
import type { InvocationResult } from '../../../../infra/local/function-host/invocation.ts';

const ANSWER = { kind: 'answer', payload: null, requestId: '1', coldStart: true, initMs: 1, durationMs: 1 } as const;
const THROWS = { ...ANSWER, kind: 'error', error: { errorType: 'TypeError', errorMessage: 'x is\n not y' } } as const;

const crdOf = (kind: string): Crd => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.test.example` },
  spec: { group: 'test.example', names: { kind, plural: `${kind.toLowerCase()}s` }, versions: [{ name: 'v1' }] },
});

describe('createCodeUser', () => {
  let root: string;
  let answer: InvocationResult;
  let refusal: Error | undefined;
  let happened: string[];
  let use: (code: Code) => Promise<void>;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'dogwatch-code-user-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));
  beforeEach(() => {
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
    answer = ANSWER;
    refusal = undefined;
    happened = [];
    let current: RunningCode | undefined;
    use = createCodeUser({
      emit: () => undefined,
      functionEnv: {},
      timeoutMs: 1,
      firstUse: (kinds) => happened.push(`first use of ${[...kinds].join()}`),
      crds: {
        async use(crds) {
          if (refusal !== undefined) throw refusal;
          happened.push(`crds ${crds.map(({ spec }) => spec.names.kind).join()}`);
        },
      },
      runningCode: {
        async replace(code) {
          happened.push('replaced');
          const old = current;
          current = code;
          await old?.stop();
        },
      },
      watcher: {
        async run(dir) {
          happened.push(`watcher ${nameOf(dir)}`);
        },
      },
      startPool: ({ artifact }) => ({
        timeoutMs: 1,
        maximumConcurrency: 1,
        invoke: async () => answer,
        stop: async () => void happened.push(`stopped ${nameOf(artifact)}`),
      }),
    });
  });

  const nameOf = (dir: string): string => dir.slice(root.length + 1);

  function code(name: string, digests: { readonly function: string; readonly watcher: string }, crds = [crdOf('Note')]): Code {
    const dir = join(root, name);
    mkdirSync(dir);
    return { dir, crds, digests };
  }

  const folders = (): string[] => readdirSync(root).sort();

  it('has the kinds served, then the function swapped, then the watcher begun, and tells of its first use', async () => {
    await use(code('one', { function: 'a', watcher: 'a' }));
    assert.deepEqual(happened, ['crds Note', 'replaced', 'watcher one', 'first use of test.example/v1 Note']);
  });

  it('tells of no first use while no code could be used, and then of what that code defines', async () => {
    answer = THROWS;
    await assert.rejects(
      use(code('one', { function: 'a', watcher: 'a' })),
      new ConfigError('function-fault', 'the function does not start: TypeError: x is not y'),
    );
    assert.deepEqual(happened, ['stopped one']);
    assert.deepEqual(folders(), []);

    answer = ANSWER;
    refusal = new ConfigError('crd-refused', 'no');
    await assert.rejects(use(code('two', { function: 'b', watcher: 'b' })), refusal);
    assert.deepEqual(happened, ['stopped one', 'stopped two']);

    refusal = undefined;
    happened = [];
    await use(code('three', { function: 'c', watcher: 'c' }, [crdOf('Note'), crdOf('Memo')]));
    await use(code('four', { function: 'd', watcher: 'd' }));
    assert.deepEqual(
      happened.filter((text) => text.startsWith('first')),
      ['first use of test.example/v1 Note,test.example/v1 Memo'],
    );
  });

  it('starts nothing anew for the same code, but applies its CRDs', async () => {
    await use(code('one', { function: 'a', watcher: 'a' }));
    happened = [];
    await use(code('two', { function: 'a', watcher: 'a' }));
    assert.deepEqual(happened, ['crds Note']);
    assert.deepEqual(folders(), ['one']);
  });

  it('starts the one anew whose code changed, and keeps the folders that somebody runs', async () => {
    await use(code('one', { function: 'a', watcher: 'a' }));
    happened = [];
    await use(code('two', { function: 'b', watcher: 'a' }));
    assert.deepEqual(happened, ['crds Note', 'replaced', 'stopped one']);
    assert.deepEqual(folders(), ['one', 'two'], 'the watcher is that of one');
    happened = [];
    await use(code('three', { function: 'b', watcher: 'b' }));
    assert.deepEqual(happened, ['crds Note', 'watcher three']);
    assert.ok(existsSync(join(root, 'two')) && existsSync(join(root, 'three')));
    assert.ok(!existsSync(join(root, 'one')), 'nobody runs it');
  });

  it('leaves the code before in use where the next does not start', async () => {
    await use(code('one', { function: 'a', watcher: 'a' }));
    happened = [];
    answer = THROWS;
    await assert.rejects(use(code('two', { function: 'b', watcher: 'b' })), ConfigError);
    assert.deepEqual(happened, ['stopped two']);
    assert.deepEqual(folders(), ['one']);
    answer = ANSWER;
    await use(code('three', { function: 'a', watcher: 'a' }));
    assert.deepEqual(happened, ['stopped two', 'crds Note'], 'it is still that of one');
  });
});
