import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dev } from '../../../../../functions/cli/dev.ts';
import { createDemo } from '../../../../../infra/local/dev/demo/demo.ts';
import { likelyCauseIn } from '../../../../../infra/local/dev/demo/settings.ts';
import type { DevEvent } from '../../../../../infra/local/dev/dev-state.ts';

const noRun = { ready: new Promise<never>(() => undefined) };
const events: readonly DevEvent[] = [
  { kind: 'step', text: 'starting' },
  { kind: 'cells', cells: [] },
  { kind: 'lanes', lanes: [], deadLetters: 0 },
  { kind: 'outcome', line: { branch: 'reconciled' } },
  { kind: 'build', state: 'failed', text: 'functions/reconcilers/tenant.ts:3:7: Expected ";"' },
  { kind: 'notice', level: 'warn', text: 'something' },
];

function demoWith(options: { readonly isCalm: boolean; readonly once: boolean }, env: Readonly<Record<string, string>> = {}) {
  const seen: DevEvent[] = [];
  const demo = createDemo(env, { ...options, emit: (event) => seen.push(event) });
  return { demo, seen };
}

describe('the demo', () => {
  it('ends where the code does not build and the story is all that was asked for', async () => {
    const { demo, seen } = demoWith({ isCalm: true, once: true });
    const end = demo.play(noRun, new AbortController().signal);
    for (const event of events) demo.emit(event);
    const { isWell, summary } = await end;
    assert.ok(!isWell);
    assert.deepEqual(summary({ width: 100, hasColor: false }), [
      'the story did not begin: the code cannot be built or started, as told above',
    ]);
    assert.ok(seen.some(({ kind }) => kind === 'build'));
  });

  it('waits for code that builds where the run goes on', async () => {
    const { demo } = demoWith({ isCalm: true, once: false });
    const end = demo.play(noRun, new AbortController().signal);
    for (const event of events) demo.emit(event);
    const settled = await Promise.race([end.then(() => true), new Promise((done) => setImmediate(() => done(false)))]);
    assert.equal(settled, false);
  });

  it('leaves out what the story tells better where lines stay as they are written', () => {
    const kinds = (isCalm: boolean): string[] => {
      const { demo, seen } = demoWith({ isCalm, once: true });
      for (const event of events) demo.emit(event);
      return seen.map(({ kind }) => kind);
    };
    assert.deepEqual(kinds(true), ['step', 'build', 'notice']);
    assert.deepEqual(kinds(false), ['step', 'cells', 'lanes', 'outcome', 'build', 'notice']);
  });

  it('waits for short times, save where somebody has set others', () => {
    const { demo } = demoWith({ isCalm: true, once: true }, { DOGWATCH_HOLD_MAX_SECONDS: '7', PATH: '/bin' });
    assert.deepEqual(demo.env, {
      ...{ DOGWATCH_RETRY_BASE_SECONDS: '1', DOGWATCH_HOLD_MAX_SECONDS: '7', DOGWATCH_CIRCUIT_OPEN_SECONDS: '1', PATH: '/bin' },
    });
  });
});

describe('a likely cause of a step that fails', () => {
  for (const [name, env, told] of [
    ['is none where nothing is set', { PATH: '/bin', DOGWATCH_MAX_AGE_SECONDS: undefined }, undefined],
    [
      "is none where what is set is the story's, or no wait and no limit",
      { DOGWATCH_RETRY_BASE_SECONDS: '1', DOGWATCH_HTTP_ADDRESS: 'x:0' },
      undefined,
    ],
    [
      "is a wait other than the story's",
      { DOGWATCH_RETRY_BASE_SECONDS: '60' },
      /: DOGWATCH_RETRY_BASE_SECONDS=60 \(1 in the story\); unset/,
    ],
    ['is a limit that the story has none of', { DOGWATCH_MAX_ATTEMPTS: '1000' }, /: DOGWATCH_MAX_ATTEMPTS=1000; unset/],
  ] as const) {
    it(name, () => {
      const cause = likelyCauseIn(env);
      if (told === undefined) assert.equal(cause, undefined);
      else assert.match(cause ?? '', told);
    });
  }
});

describe('the options of dogwatch dev', () => {
  it('have no --once without --demo', async () => {
    await assert.rejects(dev({}, { apply: [], once: true }), { name: 'ConfigError', message: /--once .* --demo/ });
  });

  it('have no --demo with other reconcilers than those that it plays with', async () => {
    await assert.rejects(dev({}, { apply: [], demo: true, reconcilers: 'mine.ts' }), {
      name: 'ConfigError',
      message: /leave out --reconcilers/,
    });
  });
});
