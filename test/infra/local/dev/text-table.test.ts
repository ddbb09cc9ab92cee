import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPaint } from '../../../../infra/local/dev/shown-text.ts';
import { type TextColumn, tableLines } from '../../../../infra/local/dev/text-table.ts';

type Row = readonly [name: string, count: string, why: string];

const COLUMNS: readonly TextColumn<Row>[] = [
  { title: 'NAME', text: ([name]) => name, shrinks: { to: 4, at: 'middle' } },
  { title: 'COUNT', text: ([, count]) => count, align: 'right', expendable: 2 },
  { title: 'WHY', text: ([, , why]) => why, shrinks: { to: 6, at: 'end' }, expendable: 1 },
];
const ROWS: readonly Row[] = [
  ['tenant-acme', '3', 'because'],
  ['日本', '1200', 'of something long'],
];
const paint = createPaint(false);
const table = (width: number, rows = ROWS): string[] => tableLines(COLUMNS, rows, { width, paint });

describe('a table', () => {
  for (const [what, width, lines] of [
    ['stands in columns', 60, ['NAME         COUNT  WHY', 'tenant-acme      3  because', '日本          1200  of something long']],
    ['cuts its widest column first', 30, ['NAME         COUNT  WHY', 'tenant-acme      3  because', '日本          1200  of someth…']],
    ['cuts where the column says', 22, ['NAME     COUNT  WHY', 'ten…cme      3  becau…', '日本      1200  of so…']],
    ['leaves a column out where cutting is not enough', 18, ['NAME      WHY', 'tena…cme  because', '日本      of some…']],
    ['leaves out all that can be, and cuts the last', 6, ['NAME', 'ten…me', '日本']],
  ] as const) {
    it(what, () => assert.deepEqual(table(width), lines));
  }

  it('has the widths of the rows that are measured, not only of those shown', () => {
    const lines = tableLines(COLUMNS, ROWS.slice(1), { width: 60, paint, measured: ROWS });
    assert.deepEqual(lines, ['NAME         COUNT  WHY', '日本          1200  of something long']);
  });

  it('takes no column more for a style', () => {
    const styled = COLUMNS.map((column) => ({ ...column, style: () => 'red' as const }));
    const [, row] = tableLines(styled, ROWS.slice(0, 1), { width: 60, paint: (style, text) => (style === 'red' ? `<${text}>` : text) });
    assert.equal(row, '<tenant-acme>  <    3>  <because>');
  });

  it('is its titles where there are no rows', () => assert.deepEqual(table(40, []), ['NAME  COUNT  WHY']));
});
