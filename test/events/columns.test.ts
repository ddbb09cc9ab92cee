import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { observeRow, STATUS_PATHS, statusColumns } from '../../events/columns.ts';
import type { ColumnDefinition, ObjectMetadata, Row } from '../../events/observed-object.ts';

const printerColumns = [
  { name: 'Ready', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: 'Age', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Observed', jsonPath: '.status.observedGeneration' },
  { name: 'Attempted', jsonPath: '.status.conditions[?(@.type=="Ready")].observedGeneration' },
  { name: 'Revision', jsonPath: '.status.observedRevision' },
  { name: 'Stalled', jsonPath: '.status.conditions[?(@.type=="Stalled")].observedGeneration' },
  { name: 'Next', jsonPath: '.status.nextReconcileTime' },
];
const definitions: ColumnDefinition[] = [
  { name: 'Name', type: 'string' },
  ...printerColumns.map(({ name }) => ({
    name,
    type: name === 'Age' ? 'date' : ['Ready', 'Reason', 'Next'].includes(name) ? 'string' : 'integer',
  })),
];
const all = { ready: 1, observedGeneration: 4, attemptedGeneration: 5, observedRevision: 6, stalledGeneration: 7, nextReconcileTime: 8 };

describe('statusColumns', () => {
  it('finds every cell of a CRD that we generated', () => {
    assert.deepEqual(statusColumns(printerColumns, definitions), all);
  });

  it('is undefined where no column has observedGeneration, whatever its name', () => {
    const without = printerColumns.map((column) => (column.name === 'Observed' ? { ...column, jsonPath: '.spec.replicas' } : column));
    assert.equal(statusColumns(without, definitions), undefined);
    assert.equal(statusColumns([], definitions), undefined);
  });

  it('finds what somebody else’s CRD has and leaves out the rest', () => {
    const columns = statusColumns(
      [{ name: 'Gen', jsonPath: '{.status.observedGeneration}' }],
      [
        { name: 'Name', type: 'string' },
        { name: 'Gen', type: 'integer' },
      ],
    );
    assert.equal(columns?.observedGeneration, 1);
    assert.equal(columns?.ready, undefined);
    assert.equal(columns?.observedRevision, undefined);
  });

  const spellings = [
    "status.conditions[?(@.type=='Ready')].status",
    '{.status.conditions[?(@.type == "Ready")].status}',
    '.status.conditions[?( @.type=="Ready" )].status',
  ];
  for (const jsonPath of spellings) {
    it(`reads the JSONPath ${jsonPath}`, () => {
      const columns = printerColumns.map((column) => (column.name === 'Ready' ? { ...column, jsonPath } : column));
      assert.equal(statusColumns(columns, definitions)?.ready, 1);
    });
  }

  it('tells two columns of one name apart by their place', () => {
    const named = printerColumns.map((column) => ({ ...column, name: 'X' }));
    const table = [{ name: 'Name', type: 'string' }, ...named.map(() => ({ name: 'X', type: 'integer' }))];
    assert.deepEqual(statusColumns(named, table), all);
  });

  it('follows the Table where the CRD was read before its columns changed', () => {
    const moved = [...definitions.filter((column) => column.name !== 'Observed'), { name: 'Observed', type: 'integer' }];
    assert.equal(statusColumns(printerColumns, moved)?.observedGeneration, 8);
    assert.equal(statusColumns(printerColumns, definitions.slice(0, 4)), undefined);
  });

  it('does not take a date column: its cells are ages', () => {
    const dated = definitions.map((column) => (column.name === 'Next' ? { ...column, type: 'date' } : column));
    assert.equal(statusColumns(printerColumns, dated)?.nextReconcileTime, undefined);
  });

  it('looks for the paths that the framework’s own CRDs have', () => {
    assert.deepEqual(
      Object.values(STATUS_PATHS).map((path) => printerColumns.some((column) => column.jsonPath === path)),
      Object.values(STATUS_PATHS).map(() => true),
    );
  });
});

describe('observeRow', () => {
  const columns = statusColumns(printerColumns, definitions);
  const metadata: ObjectMetadata = { name: 'acme', uid: 'u1', resourceVersion: '9007199254740993', generation: 3 };
  const row = (cells: readonly unknown[], more: Partial<ObjectMetadata> = {}): Row => ({ cells, metadata: { ...metadata, ...more } });

  it('reads metadata and cells', () => {
    const cells = ['acme', 'False', 'QuotaExceeded', '5m', 2, 3, 4, 3, '2026-03-01T00:00:00Z'];
    assert.deepEqual(observeRow(row(cells, { namespace: 'ns', finalizers: ['f'] }), columns), {
      namespace: 'ns',
      name: 'acme',
      uid: 'u1',
      resourceVersion: '9007199254740993',
      generation: 3,
      isDeleting: false,
      finalizers: ['f'],
      isPaused: false,
      status: {
        observedGeneration: 2,
        attemptedGeneration: 3,
        observedRevision: 4,
        stalledGeneration: 3,
        nextReconcileTime: '2026-03-01T00:00:00Z',
        ready: 'False',
      },
    });
  });

  it('reads empty cells as undefined, and an absent revision as 1', () => {
    const { status } = observeRow(row(['acme', null, null, '1s', null, null, null, null, null]), columns);
    assert.deepEqual(status, {
      observedGeneration: undefined,
      attemptedGeneration: undefined,
      observedRevision: 1,
      stalledGeneration: undefined,
      nextReconcileTime: undefined,
      ready: undefined,
    });
  });

  it('reads digits in a string column and nothing else as a generation', () => {
    const observed = (cell: unknown): unknown => observeRow(row(['', '', '', '', cell]), columns).status?.observedGeneration;
    assert.deepEqual(
      [observed('7'), observed('7m'), observed('<none>'), observed(1.5), observed(''), observed({})],
      [7, ...Array(5).fill(undefined)],
    );
  });

  it('has no status where no cells were asked for, or a row is short of them', () => {
    assert.equal(observeRow(row([]), undefined).status, undefined);
    assert.equal(observeRow(row([]), columns).status, undefined);
  });

  it('sees a deletion and a pause by presence alone', () => {
    const seen = observeRow(row([], { deletionTimestamp: '2026-03-01T00:00:00Z', annotations: { 'dogwatch.dev/paused': '' } }), undefined);
    assert.deepEqual([seen.isDeleting, seen.isPaused], [true, true]);
  });

  it('has no generation for a kind that has none', () => {
    const { generation: _none, ...configMap } = metadata;
    assert.equal(observeRow({ cells: [], metadata: configMap }, undefined).generation, undefined);
  });
});
