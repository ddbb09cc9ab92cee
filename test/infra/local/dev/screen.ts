/** A terminal's screen, as far as what we draw needs one: what is written to it, and what then stands on it. */
import { EventEmitter } from 'node:events';
import stringWidth from 'string-width';

/** A sequence that begins with ESC [, or any one character as a reader sees it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins so.
const TOKEN = /\u001B\[([?\d;]*)([A-Za-z])|\r\n|[\s\S]/gu;

export class Screen extends EventEmitter {
  readonly isTTY = true;
  columns: number;
  rows: number;
  isCursorVisible = true;
  /** Pictures: how often something was written at all. */
  writeCount = 0;
  /** Everything that was written. */
  text = '';
  /** What went out at the top. */
  readonly scrolledOut: string[] = [];
  #cells: string[][];
  #row = 0;
  #column = 0;

  constructor(columns: number, rows: number) {
    super();
    this.columns = columns;
    this.rows = rows;
    this.#cells = emptyRows(rows);
  }

  hasColors(): boolean {
    return false;
  }

  /** As a window that is made smaller or larger: what stands there is cut off or stays. */
  resize(columns: number, rows: number): void {
    const over = Math.max(0, this.#row + 1 - rows);
    this.scrolledOut.push(...this.#cells.splice(0, over).map(asText));
    this.#cells = [...this.#cells.map((line) => line.slice(0, columns)), ...emptyRows(rows)].slice(0, rows);
    this.#row -= over;
    this.columns = columns;
    this.rows = rows;
    this.emit('resize');
  }

  write(text: string): boolean {
    this.writeCount++;
    this.text += text;
    for (const [token, numbers = '', command] of text.matchAll(TOKEN)) {
      if (command !== undefined) this.#obey(command, numbers);
      else if (token === '\n' || token === '\r\n') this.#newLine();
      else if (token === '\r') this.#column = 0;
      else this.#put(token);
    }
    return true;
  }

  /** The lines from the top to the last one that has something on it. */
  lines(): string[] {
    const lines = this.#cells.map(asText);
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  }

  #obey(command: string, numbers: string): void {
    const count = Number.parseInt(numbers, 10) || 1;
    const line = this.#cells[this.#row] ?? [];
    if (command === 'A') this.#row = Math.max(0, this.#row - count);
    else if (command === 'B') this.#row = Math.min(this.rows - 1, this.#row + count);
    else if (command === 'G') this.#column = count - 1;
    else if (command === 'H' && numbers === '') [this.#row, this.#column] = [0, 0];
    else if (command === 'K') line.splice(numbers === '2' ? 0 : this.#column);
    else if (command === 'J' && numbers === '') {
      line.splice(this.#column);
      this.#cells = [...this.#cells.slice(0, this.#row + 1), ...emptyRows(this.rows)].slice(0, this.rows);
    } else if (numbers === '?25') this.isCursorVisible = command === 'h';
    else if (command !== 'm' && numbers !== '?2026') throw new Error(`this screen does not know ESC [ ${numbers} ${command}`);
  }

  #newLine(): void {
    this.#column = 0;
    this.#row++;
    if (this.#row < this.rows) return;
    this.#row = this.rows - 1;
    this.scrolledOut.push(...this.#cells.splice(0, 1).map(asText));
    this.#cells.push([]);
  }

  #put(character: string): void {
    const width = stringWidth(character);
    if (width === 0) return;
    if (this.#column + width > this.columns) this.#newLine();
    const line = this.#cells[this.#row] ?? [];
    while (line.length < this.#column) line.push(' ');
    line.splice(this.#column, width, character, ...Array.from({ length: width - 1 }, () => ''));
    this.#column += width;
  }
}

function emptyRows(count: number): string[][] {
  return Array.from({ length: count }, () => []);
}

function asText(line: readonly string[]): string {
  return line.join('').trimEnd();
}
