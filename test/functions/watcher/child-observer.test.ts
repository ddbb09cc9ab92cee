import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DirtyMarks } from '../../../events/dirty-marks.ts';
import { OWNER_LABEL, OWNER_REF_ANNOTATION } from '../../../events/labels.ts';
import type { ColumnDefinition, ObjectMetadata, Row } from '../../../events/observed-object.ts';
import { configMaps } from '../../../functions/core/kinds.ts';
import { createCell } from '../../../functions/watcher/cell.ts';
import { ChildObserver } from '../../../functions/watcher/child-observer.ts';
import { Owners } from '../../../functions/watcher/owners.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { FakeLog } from './scene.ts';

const owner = { name: 'a', resourceVersion: '7', generation: 1, isDeleting: false, isPaused: false, isFiltered: false };
const columns: readonly ColumnDefinition[] = [
  { name: 'Name', type: 'string' },
  { name: 'Ready', type: 'string' },
  { name: 'Since', type: 'date' },
];

/** An observer of the children of one owner, `owner-uid`, that names columns. */
function observing(...wakeOnColumns: string[]): { observer: ChildObserver; woken: () => number } {
  const marks = new DirtyMarks();
  const find = (uid: string) => (uid === 'owner-uid' ? owner : undefined);
  const observer = new ChildObserver(new Owners([{ wakeOnColumns, marks, hasListed: () => true, find }], () => 0));
  return { observer, woken: () => marks.take(10, Infinity).map((mark) => marks.accepted(mark)).length };
}

function row(overrides: Partial<ObjectMetadata> = {}, more: Partial<Row> = {}): Row {
  const labels = { [OWNER_LABEL]: 'owner-uid' };
  const metadata = { name: 'c', namespace: 'team', uid: 'c-uid', resourceVersion: '10', labels, ...overrides };
  return { cells: ['c', 'False', '5m'], metadata, ownFields: { digest: 1, count: 3 }, ...more };
}

function list(observer: ChildObserver, ...rows: Row[]): void {
  observer.beginList();
  observer.page({ rows, columns, resourceVersion: '20', continue: undefined });
  observer.commitList();
}

describe('a child observer', () => {
  it('compares the cells of the columns that are named, save for an age', () => {
    const { observer, woken } = observing('Ready', 'Since');
    list(observer, row());
    observer.frame({ type: 'MODIFIED', row: row({ resourceVersion: '21' }, { cells: ['c', 'False', '6m'] }) });
    assert.equal(woken(), 0);
    observer.frame({ type: 'MODIFIED', row: row({ resourceVersion: '22' }, { cells: ['c', 'True', '7m'] }) });
    assert.equal(woken(), 1);
    assert.deepEqual(observer.warning?.fields['columns'], ['Since']);
  });

  it('asks for another list where the stream has other columns than the list', () => {
    const { observer } = observing('Ready');
    list(observer, row());
    assert.throws(() => observer.frame({ type: 'MODIFIED', row: row({ resourceVersion: '21' }), columns: columns.slice(0, 2) }), {
      name: 'TransientError',
      code: 'columns-changed',
    });
  });

  const marked: readonly (readonly [name: string, row: Row, size: number])[] = [
    ['one that we applied', row(), 1],
    [
      'one with a reference to the owner of its label',
      row({ ownerReferences: [{ apiVersion: 'v1', kind: 'T', name: 'a', uid: 'owner-uid' }] }, { ownFields: undefined }),
      1,
    ],
    [
      'one with our annotation',
      row({ annotations: { [OWNER_REF_ANNOTATION]: 'east/platform.example/Tenant//a' } }, { ownFields: undefined }),
      1,
    ],
    ['not one with a copied label', row({}, { ownFields: undefined }), 0],
    [
      'not one with a copied label and a reference of its own',
      row({ ownerReferences: [{ apiVersion: 'v1', kind: 'S', name: 's', uid: 'service' }] }, { ownFields: undefined }),
      0,
    ],
  ];
  for (const [name, child, size] of marked) {
    it(`counts as a child ${name}`, () => {
      const { observer } = observing();
      list(observer, child);
      assert.equal(observer.size, size);
    });
  }

  it('asks for metadata where no column is named', () => {
    assert.deepEqual([observing().observer.form, observing('Ready').observer.form], ['metadata', 'table']);
  });
});

describe('the upkeep of a cell', () => {
  const cellWith = (run: (signal: AbortSignal) => Promise<void>) => {
    const observer = Object.assign(observing().observer, { upkeep: { run } });
    const [client, clock, log] = [new FakeCluster().client, new FakeClock(), new FakeLog()];
    const settings = { watchTimeoutSeconds: 300, watchGraceSeconds: 15, probeSeconds: 300 };
    return createCell({ client, type: configMaps, role: 'child', observer, settings, clock, log });
  };

  it('runs beside the stream, and the cell ends after it', async () => {
    const steps: string[] = [];
    const stop = new AbortController();
    const upkeep = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          steps.push('told to end');
          setImmediate(() => {
            steps.push('ended');
            resolve();
          });
        });
      });
    const run = cellWith(upkeep).run(stop.signal);
    stop.abort();
    await run;
    assert.deepEqual(steps, ['told to end', 'ended']);
  });

  it('ends the cell where it fails: that is a fault of ours', async () => {
    const fault = new RangeError('no heap');
    await assert.rejects(cellWith(() => Promise.reject(fault)).run(new AbortController().signal), fault);
  });
});
