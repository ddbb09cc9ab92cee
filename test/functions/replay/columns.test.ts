/** How many letters are remembered in little room: packed ids and records, and bytes on disk. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NumberedIds, PackedIds } from '../../../functions/replay/columns.ts';
import { LetterTable, RowGroups } from '../../../functions/replay/letter-table.ts';
import { SpillFile } from '../../../functions/replay/spill-file.ts';
import { record, TARGET } from './letters.ts';

const NIL = '00000000-0000-0000-0000-000000000000';
const id = fc.oneof(fc.uuid(), fc.string(), fc.constantFrom(NIL, '', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '__proto__'));

describe('PackedIds', () => {
  it('hands out every id as it came, also what is no UUID, and none', () => {
    fc.assert(
      fc.property(fc.array(fc.option(id, { nil: undefined }), { maxLength: 300 }), (ids) => {
        const packed = new PackedIds();
        assert.deepEqual(
          ids.map((one) => packed.add(one)),
          ids.map((_, at) => at),
        );
        assert.deepEqual(
          ids.map((_, at) => packed.at(at)),
          ids,
        );
      }),
    );
  });
});

describe('NumberedIds', () => {
  it('knows each id once, by its number', () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 500 }), (ids) => {
        const numbered = new NumberedIds();
        const numbers = new Map<string, number>();
        for (const one of ids) {
          const known = numbers.get(one);
          assert.deepEqual(numbered.add(one), { number: known ?? numbers.size, isNew: known === undefined });
          numbers.set(one, known ?? numbers.size);
        }
        assert.equal(numbered.count, numbers.size);
      }),
    );
  });
});

describe('LetterTable', () => {
  it('hands out every record as it came', () => {
    const nothing = { target: undefined, cluster: undefined, uid: undefined, generation: undefined, reason: undefined };
    const unknown = { firstSeenMs: undefined, deadLetteredMs: undefined, sentMs: undefined, receiveCount: undefined };
    const records = [
      record(),
      record({ mustRun: true, replayCount: 2, uid: '6f9619ff-8b86-4011-b42d-00c04fc964ff', generation: 2 ** 52 }),
      record({ kind: 'foreign', code: 'foreign', ...nothing, ...unknown, why: 'no JSON' }),
      ...Array.from({ length: 200 }, (_, at) => record({ messageId: `m${at}`, target: { ...TARGET, name: `t${at}` }, generation: at })),
    ];
    const table = new LetterTable();
    for (const one of records) table.add(one);
    assert.deepEqual([...table], records);
    assert.equal(table.length, records.length);
    assert.equal(table.targets().size, 201);
  });
});

describe('RowGroups', () => {
  it('has the rows of each group in the order in which it grew', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 200 }), (groups) => {
        const rows = new RowGroups();
        const lasts = new Map<number, number>();
        for (const [row, group] of groups.entries()) lasts.set(group, rows.add(row, lasts.get(group)));
        for (const [group, last] of lasts)
          assert.deepEqual(
            [...rows.rows(last)],
            groups.flatMap((one, row) => (one === group ? [row] : [])),
          );
      }),
    );
  });
});

describe('SpillFile', () => {
  /** Bytes of very different lengths, each with the place where it was told to be. */
  const filled = (file: SpillFile) =>
    [3, 0, 70_000, 65_536, 1, 40_000, 40_000, 200_000, 5].map((length, at) => {
      const bytes = Buffer.alloc(length, at + 1);
      return { bytes, place: file.append(bytes) };
    });

  it('gives back what it took, and leaves nothing in its folder that has a name', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dogwatch-spill-'));
    const file = new SpillFile(folder);
    const all = filled(file);
    assert.deepEqual(readdirSync(folder), []);
    for (const { bytes, place } of all) assert.ok(file.read(place, bytes.length).equals(bytes));
    file.close();
    rmSync(folder, { recursive: true });
  });

  it('does the same where there can be no file', () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'dogwatch-spill-')), 'no-folder');
    writeFileSync(folder, '');
    const file = new SpillFile(folder);
    for (const { bytes, place } of filled(file)) assert.ok(file.read(place, bytes.length).equals(bytes));
    file.close();
  });
});
