/** Shows a development run: redrawn in place on a terminal, line by line elsewhere. */
import { createLogUpdate } from 'log-update';
import { createState, type DevEvent, type DevState, reduce } from './dev-state.ts';
import { liveLines } from './live-lines.ts';
import { plainLines } from './plain-lines.ts';

/** Where it is shown: process.stdout, or what is like it. */
interface ViewStream {
  readonly isTTY?: boolean;
  /** As the terminal says; 0 where it does not know. */
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  /** Whether the terminal has colour; NO_COLOR and the like are known to it. */
  hasColors?(): boolean;
  on?(event: 'resize', listener: () => void): unknown;
  off?(event: 'resize', listener: () => void): unknown;
}

export interface ViewOptions {
  readonly stream: ViewStream;
  /** Left out: what the stream says, save for TERM=dumb. */
  readonly isTerminal?: boolean;
  /** For a terminal that does not tell its size. */
  readonly columns?: number;
  readonly rows?: number;
}

export interface View {
  emit(event: DevEvent): void;
  /** Leaves the last picture standing, and the cursor visible below it. What is emitted afterwards is dropped. */
  stop(): void;
}

/** Ten pictures a second. */
const FRAME_MS = 100;
/** A key that is echoed, or a line of another program, damages the picture: so it is drawn anew now and then. */
const ANEW_MS = 5_000;

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const HOME_AND_CLEAR = '\u001B[H\u001B[J';

/** Whether the stream is a terminal that takes what is drawn back. */
export function canRedraw({ isTTY }: Pick<ViewStream, 'isTTY'>): boolean {
  return isTTY === true && process.env['TERM'] !== 'dumb';
}

/** A view of a run that nothing is known of yet. */
export function createView({ stream, isTerminal, columns = 80, rows = 24 }: ViewOptions): View {
  return (isTerminal ?? canRedraw(stream)) ? liveView(stream, { columns, rows }) : plainView(stream);
}

function utcOffsetMinutes(): number {
  return -new Date().getTimezoneOffset();
}

function plainView(stream: ViewStream): View {
  let state: DevState | undefined = createState();
  return {
    emit(event) {
      if (state === undefined) return;
      const lines = plainLines(state, event, utcOffsetMinutes());
      state = reduce(state, event);
      if (lines.length > 0) stream.write(`${lines.join('\n')}\n`);
    },
    stop() {
      state = undefined;
    },
  };
}

function liveView(stream: ViewStream, byDefault: { readonly columns: number; readonly rows: number }): View {
  // log-update takes 0 columns for a terminal that shows nothing.
  const screen = {
    isTTY: true,
    get columns() {
      return stream.columns || byDefault.columns;
    },
    get rows() {
      return stream.rows || byDefault.rows;
    },
    write: (text: string) => stream.write(text),
  };
  // It would hide the cursor of stderr, whatever it draws on.
  const picture = createLogUpdate(screen as unknown as NodeJS.WritableStream, { showCursor: true });
  let state = createState();
  let timer: NodeJS.Timeout | undefined;
  let drawnMs = Number.NEGATIVE_INFINITY;
  let anewMs = Number.NEGATIVE_INFINITY;
  let isOver = false;

  const draw = (): void => {
    clearTimeout(timer);
    timer = undefined;
    drawnMs = performance.now();
    // The last line is the cursor's.
    const size = { width: screen.columns, height: Math.max(1, screen.rows - 1) };
    const lines = liveLines(state, { ...size, hasColor: stream.hasColors?.() ?? false, utcOffsetMinutes: utcOffsetMinutes() });
    if (drawnMs - anewMs >= ANEW_MS) {
      anewMs = drawnMs;
      picture.done();
      stream.write(HOME_AND_CLEAR);
    }
    picture(lines.join('\n'));
  };
  const schedule = (): void => {
    if (timer !== undefined) return;
    timer = setTimeout(draw, Math.max(0, drawnMs + FRAME_MS - performance.now())).unref();
  };
  const drawAnew = (): void => {
    anewMs = Number.NEGATIVE_INFINITY;
    schedule();
  };
  const showCursor = (): void => {
    stream.write(SHOW_CURSOR);
  };
  const onContinue = (): void => {
    stream.write(HIDE_CURSOR);
    drawAnew();
  };
  const onSuspend = (): void => {
    showCursor();
    process.kill(process.pid, 'SIGSTOP');
  };

  // What is on the screen goes where one scrolls back to it; the picture has the screen to itself.
  stream.write(`${HIDE_CURSOR}${'\n'.repeat(Math.max(0, screen.rows - 1))}`);
  stream.on?.('resize', drawAnew);
  process.on('exit', showCursor);
  process.on('SIGCONT', onContinue);
  process.on('SIGTSTP', onSuspend);
  schedule();
  return {
    emit(event) {
      if (isOver) return;
      state = reduce(state, event);
      schedule();
    },
    stop() {
      if (isOver) return;
      isOver = true;
      anewMs = Number.NEGATIVE_INFINITY;
      draw();
      picture.done();
      showCursor();
      stream.off?.('resize', drawAnew);
      process.off('exit', showCursor);
      process.off('SIGCONT', onContinue);
      process.off('SIGTSTP', onSuspend);
    },
  };
}
