import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { DevEvent } from '../../../../infra/local/dev/dev-state.ts';
import { createView, type View } from '../../../../infra/local/dev/view.ts';
import { until } from '../../../until.ts';
import { Screen } from './screen.ts';

const outcome = (name: string): DevEvent => ({
  kind: 'outcome',
  line: { branch: 'reconciled', disposition: 'done', key: `east/platform.example/Tenant//${name}` },
});
const cells = (objects: number): DevEvent => ({
  kind: 'cells',
  cells: [{ cluster: 'east', kind: 'Tenant.platform.example', role: 'primary', phase: 'streaming', objects, unsettled: 0 }],
});
const head = 'dogwatch dev  starting  0 dead letters';

/** A view on a screen, and a clock that only `pass` moves. */
function setUp(t: TestContext, screen: Screen): { readonly view: View; pass(ms: number): void } {
  let nowMs = 1_000_000;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => nowMs);
  const view = createView({ stream: screen, isTerminal: true });
  t.after(() => view.stop());
  return {
    view,
    pass(ms) {
      for (let passed = 0; passed < ms; passed++) {
        nowMs++;
        t.mock.timers.tick(1);
      }
    },
  };
}

describe('the view on a terminal', () => {
  it('shows what it is told, in place', (t) => {
    const screen = new Screen(80, 20);
    const { view, pass } = setUp(t, screen);
    view.emit(cells(3));
    pass(1);
    assert.deepEqual(screen.lines(), [
      `${head}  0 outcomes  Ctrl-C stops`,
      'CLUSTER  KIND                     WATCH      OBJECTS  UNSETTLED  OLDEST',
      'east     Tenant.platform.example  streaming        3          0       -',
    ]);
    view.emit(cells(12));
    view.emit(outcome('日本'));
    pass(100);
    assert.deepEqual(screen.lines(), [
      `${head}  1 outcome  Ctrl-C stops`,
      'CLUSTER  KIND                     WATCH      OBJECTS  UNSETTLED  OLDEST',
      'east     Tenant.platform.example  streaming       12          0       -',
      'TIME  OBJECT            BRANCH      REASON  TRY  TOOK  THEN',
      '      east/Tenant/日本  reconciled                     done',
    ]);
  });

  it('keeps what stood there where one scrolls back to it', (t) => {
    const screen = new Screen(80, 5);
    screen.write('$ npm run dev\n');
    const { pass } = setUp(t, screen);
    pass(1);
    assert.ok(screen.scrolledOut.includes('$ npm run dev'));
    assert.deepEqual(screen.lines(), [`${head}  0 outcomes  Ctrl-C stops`]);
  });

  it('is drawn at most ten times a second, and not where nothing changed', (t) => {
    const screen = new Screen(80, 20);
    const { view, pass } = setUp(t, screen);
    pass(1);
    const before = screen.writeCount;
    for (let n = 0; n < 1000; n++) {
      view.emit(outcome(`t-${n}`));
      pass(1);
    }
    assert.equal(screen.writeCount - before, 10);
    pass(100);
    const after = screen.writeCount;
    view.emit({ kind: 'lanes', lanes: [], deadLetters: 0 });
    pass(1000);
    assert.equal(screen.writeCount, after);
  });

  it('fits itself to a window that changes', (t) => {
    const screen = new Screen(100, 20);
    const { view, pass } = setUp(t, screen);
    for (let n = 0; n < 30; n++) view.emit(outcome(`t-${n}`));
    pass(1);
    assert.equal(screen.lines().length, 19);
    for (const [columns, rows] of [
      [40, 8],
      [120, 30],
      [60, 6],
    ] as const) {
      screen.resize(columns, rows);
      pass(100);
      const lines = screen.lines();
      assert.equal(lines.length, rows - 1, `${columns}x${rows}`);
      assert.ok(lines[0]?.startsWith('dogwatch dev') && lines.at(-1)?.includes('t-29'), lines.join('\n'));
      assert.equal(lines.filter((line) => line.startsWith('dogwatch dev')).length, 1);
    }
  });

  it('recovers from a line that somebody else wrote', (t) => {
    const screen = new Screen(80, 10);
    const { view, pass } = setUp(t, screen);
    for (let n = 0; n < 4; n++) view.emit({ kind: 'step', text: `step ${n}` });
    view.emit(cells(3));
    pass(1);
    const before = screen.lines();
    screen.write('\n^Cnoise\n');
    assert.notDeepEqual(screen.lines(), before);
    pass(5000);
    view.emit(cells(4));
    pass(100);
    assert.deepEqual(
      screen.lines(),
      before.map((line) => line.replace(' 3 ', ' 4 ')),
    );
  });

  it('leaves its last picture, the cursor below it and visible, and no listener', (t) => {
    const screen = new Screen(80, 20);
    const listeners = (): number[] => ['exit', 'SIGCONT', 'SIGTSTP'].map((name) => process.listenerCount(name));
    const before = listeners();
    const { view, pass } = setUp(t, screen);
    pass(1);
    assert.equal(screen.isCursorVisible, false);
    view.emit(outcome('acme'));
    view.stop();
    view.stop();
    view.emit(outcome('late'));
    pass(1000);
    screen.write('$ ');
    assert.ok(screen.isCursorVisible);
    assert.deepEqual(
      [screen.lines().at(-2)?.trim(), screen.lines().at(-1)],
      ['east/Tenant/acme  reconciled                     done', '$'],
    );
    assert.deepEqual([listeners(), screen.listenerCount('resize')], [before, 0]);
  });

  it('takes 80 by 24 for a terminal that does not know its size', (t) => {
    const screen = new Screen(80, 24);
    const sizeless = Object.assign(Object.create(screen) as Screen, { columns: 0, rows: 0, write: (text: string) => screen.write(text) });
    const { view, pass } = setUp(t, sizeless);
    for (let n = 0; n < 30; n++) view.emit(outcome(`t-${n}`));
    pass(1);
    assert.equal(screen.lines().length, 23);
  });
});

describe('the view elsewhere', () => {
  it('writes a line for each thing, and no sequence for a terminal', () => {
    let text = '';
    const view = createView({ stream: { write: (part: string) => (text += part) }, isTerminal: false });
    view.emit({ kind: 'step', text: 'one' });
    view.emit(cells(3));
    view.emit(cells(3));
    view.emit(outcome('acme'));
    view.stop();
    view.emit({ kind: 'step', text: 'late' });
    assert.equal(
      text,
      'one\ncell  east/Tenant.platform.example  streaming  3 objects  0 unsettled\noutcome  east/Tenant/acme  reconciled  done\n',
    );
  });

  it('takes a dumb terminal for none', (t) => {
    const before = process.env['TERM'];
    t.after(() => {
      if (before === undefined) delete process.env['TERM'];
      else process.env['TERM'] = before;
    });
    process.env['TERM'] = 'dumb';
    const screen = new Screen(80, 24);
    createView({ stream: screen }).emit({ kind: 'step', text: 'one' });
    assert.equal(screen.text, 'one\n');
  });
});

/** util-linux has a program that runs another one in a pseudo-terminal; where it is another one or none, the screen above has to do. */
const SCRIPT = 'script';
const hasScript = /util-linux/.test(spawnSync(SCRIPT, ['--version'], { encoding: 'utf8' }).stdout ?? '');

// Where every change is tested nothing may be left out in silence.
if (!hasScript && process.env['CI'] === 'true') {
  it('the view in a pseudo-terminal', () => assert.fail('CI=true, and there is no script of util-linux: install util-linux, or bsdutils'));
}

describe('the view in a pseudo-terminal', { skip: hasScript ? false : 'no script of util-linux here' }, () => {
  const program = `
    const { createView } = await import(${JSON.stringify(resolve(import.meta.dirname, '../../../../infra/local/dev/view.ts'))});
    const view = createView({ stream: process.stdout });
    view.emit({ kind: 'lanes', lanes: [], deadLetters: 2 });
    const stay = setInterval(() => undefined, 1000);
    process.on('SIGINT', () => { clearInterval(stay); if (process.env.THROWS) throw new Error('fault'); view.stop(); });
  `;

  async function run(env: NodeJS.ProcessEnv): Promise<{ readonly shown: string; readonly code: number | null }> {
    const command = `stty cols 60 rows 12; exec "${process.execPath}" --input-type=module -e "$PROGRAM"`;
    const child = spawn(SCRIPT, ['-qefc', command, '/dev/null'], {
      env: { PATH: process.env['PATH'], TERM: 'xterm-256color', SHELL: '/bin/sh', PROGRAM: program, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let shown = '';
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString('utf8');
    });
    const ended = new Promise<number | null>((done) => child.once('close', done));
    try {
      await until('a picture', () => shown.includes('dogwatch dev'));
      child.stdin.write('\u0003');
      const code = await ended;
      return { shown, code };
    } finally {
      child.kill('SIGKILL');
    }
  }

  it('draws with colour, hides the cursor, and shows it at a Ctrl-C', async () => {
    const { shown, code } = await run({});
    assert.equal(code, 0);
    assert.ok(shown.includes('\u001B[31m2 dead letters\u001B[39m'));
    assert.ok(shown.indexOf('\u001B[?25l') < shown.indexOf('dogwatch dev'));
    assert.ok(shown.lastIndexOf('\u001B[?25h') > shown.lastIndexOf('dogwatch dev'));
  });

  it('has no colour where NO_COLOR is set', async () => {
    const { shown } = await run({ NO_COLOR: '1' });
    assert.ok(stripVTControlCharacters(shown).includes('2 dead letters'));
    assert.ok(!shown.includes('\u001B[31m'));
  });

  it('shows the cursor also where the program ends by a fault', async () => {
    const { shown, code } = await run({ THROWS: '1' });
    assert.equal(code, 1);
    assert.ok(shown.lastIndexOf('\u001B[?25h') > shown.lastIndexOf('\u001B[?25l'));
  });
});
