/** What is told without a terminal: a line for each thing that happens, for a file or another program to read. */
import type { DevCell, DevEvent, DevLane, DevState, StoryLine } from './dev-state.ts';
import { LETTERS_HINT } from './letters-hint.ts';
import { outcomeText, secondsText } from './outcome-text.ts';
import { shownLines } from './shown-text.ts';

/**
 * The lines of an event. Cells and lanes are told of where they differ from `before`, and cells not for a change of age alone.
 *
 * @param before  the state that the event has not been put into
 */
export function plainLines(before: DevState, event: DevEvent, utcOffsetMinutes: number): string[] {
  switch (event.kind) {
    case 'step':
      return shownLines(event.text);
    case 'story':
      return storyLines(event);
    case 'cells':
      return cellLines(before.cells, event.cells);
    case 'lanes': {
      const line = laneLine(event);
      if (line === laneLine(before) && before.lanes.length > 0) return [];
      return event.deadLetters > 0 && before.deadLetters === 0 ? [line, LETTERS_HINT] : [line];
    }
    case 'outcome': {
      const { time, object, branch, reason, attempt, duration, end } = outcomeText(event.line, utcOffsetMinutes);
      return [['outcome', time, object, branch, reason, attempt, duration, end].filter((text) => text !== '').join('  ')];
    }
    case 'build':
      return told(`build ${event.state}`, event.text);
    case 'notice':
      return told(event.level, event.text);
  }
}

function storyLines({ part, text }: StoryLine): string[] {
  const lines = shownLines(text);
  switch (part) {
    case 'note':
    case 'result':
      return lines.map((line) => `    ${line}`);
    case 'failure':
      return lines.map((line, index) => (index === 0 ? `    FAILED: ${line}` : `      ${line}`));
    case 'title':
    case 'step':
    case 'summary':
      return lines;
  }
}

function cellLines(before: readonly DevCell[], cells: readonly DevCell[]): string[] {
  const told = new Set(before.map(cellKey));
  const isThere = new Set(cells.map(cellName));
  const changed = cells.filter((cell) => !told.has(cellKey(cell))).map(cellLine);
  const gone = before.filter((cell) => !isThere.has(cellName(cell))).map((cell) => `cell  ${cellName(cell)}  gone`);
  return [...changed, ...gone];
}

function cellName({ cluster, kind, role }: DevCell): string {
  return `${cluster}/${kind}${role === 'child' ? ' (child)' : ''}`;
}

function cellKey(cell: DevCell): string {
  return [cellName(cell), cell.phase, cell.objects, cell.unsettled].join(' ');
}

function cellLine(cell: DevCell): string {
  const { phase, objects, unsettled, oldestUnsettledSeconds: oldest } = cell;
  const age = unsettled === 0 || oldest === undefined ? '' : `, the oldest for ${secondsText(oldest)}`;
  return `cell  ${cellName(cell)}  ${phase}  ${objects} objects  ${unsettled} unsettled${age}`;
}

function laneLine({ lanes, deadLetters }: { readonly lanes: readonly DevLane[]; readonly deadLetters: number }): string {
  const parts = lanes.map(({ name, ready, delayed, inFlight }) => `${name} ${ready} ready ${delayed} delayed ${inFlight} in flight`);
  return ['lanes', ...parts, `${deadLetters} dead ${deadLetters === 1 ? 'letter' : 'letters'}`].join('  ');
}

function told(what: string, text: string | undefined): string[] {
  const [first, ...rest] = shownLines(text ?? '');
  return [first === undefined ? what : `${what}: ${first}`, ...rest.map((line) => `  ${line}`)];
}
