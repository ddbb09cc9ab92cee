import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  parseFrame,
  parseObject,
  projectMetadata,
  projectPage,
  projectServedKind,
} from '../../../../functions/adapters/kubernetes/projection.ts';
import { bodyOf, linesOf } from './samples.ts';

describe('projectPage', () => {
  it('has the rows, columns and token of a Table', () => {
    const page = projectPage(bodyOf('table-list'), { form: 'table' });
    assert.deepEqual(
      page.columns.map(({ name, type }) => `${name}:${type}`),
      ['Name:string', 'Ready:string', 'Observed:integer'],
    );
    assert.deepEqual(page.rows[0]?.cells, ['a', 'True', 1]);
    assert.equal(page.rows[0]?.metadata.name, 'a');
    assert.ok(page.continue);
    assert.match(page.resourceVersion, /^\d+$/);
  });

  it('has no token on the last page', () => {
    assert.equal(projectPage(bodyOf('table-list-page-2'), { form: 'table' }).continue, undefined);
  });

  it('has rows without cells for the metadata form', () => {
    const page = projectPage(bodyOf('list-metadata-only'), { form: 'metadata' });
    assert.deepEqual(page.columns, []);
    assert.ok(page.rows.length > 0);
    assert.ok(page.rows.every(({ cells }) => cells.length === 0));
  });

  it('lets managedFields go', () => {
    assert.doesNotMatch(JSON.stringify(projectPage(bodyOf('table-list'), { form: 'table' })), /managedFields/);
  });

  it('refuses whole objects where rows were asked for, which would otherwise read as an empty list', () => {
    assert.throws(
      () => projectPage(JSON.stringify({ kind: 'WidgetList', metadata: { resourceVersion: '1' }, items: [] }), { form: 'table' }),
      {
        name: 'TransientError',
        code: 'bad-response',
      },
    );
  });

  it('refuses a page without resourceVersion', () => {
    assert.throws(() => projectPage(JSON.stringify({ kind: 'Table', metadata: {}, rows: [] }), { form: 'table' }), {
      code: 'bad-response',
    });
  });
});

describe('rows with own fields', () => {
  const managedFields = [{ manager: 'dogwatch', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } }];
  const metadata = { name: 'a', uid: 'u', resourceVersion: '7', managedFields };
  const page = JSON.stringify({
    kind: 'PartialObjectMetadataList',
    metadata: { resourceVersion: '9' },
    items: [{ metadata }, { metadata: { ...metadata, managedFields: [] } }],
  });
  const frame = JSON.stringify({ type: 'MODIFIED', object: { kind: 'Table', rows: [{ cells: ['a'], object: { metadata } }] } });

  it('say what of an object is ours, in lists and in watches, and still no managedFields', () => {
    const { rows } = projectPage(page, { form: 'metadata', ownFields: true });
    const seen = parseFrame(frame, { form: 'table', ownFields: true });
    assert.ok(seen.type === 'MODIFIED');
    assert.deepEqual([rows[0]?.ownFields?.count, rows[0]?.ownFields], [2, seen.row.ownFields]);
    assert.equal(rows[1]?.ownFields, undefined);
    assert.doesNotMatch(JSON.stringify([rows, seen]), /managedFields/);
  });

  it('are not made where nobody asked', () => {
    const { rows } = projectPage(page, { form: 'metadata' });
    assert.ok(rows.every((row) => !('ownFields' in row)));
  });
});

describe('projectMetadata', () => {
  it('keeps what we use and drops the rest, the copy that kubectl keeps in an annotation included', () => {
    const metadata = projectMetadata({
      name: 'a',
      uid: 'u',
      resourceVersion: '7',
      generation: 2,
      selfLink: '/x',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['f'],
      labels: { l: '1' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{"secret":1}}', 'dogwatch.dev/paused': '' },
      managedFields: [{}],
    });
    assert.deepEqual(metadata, {
      name: 'a',
      uid: 'u',
      resourceVersion: '7',
      generation: 2,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['f'],
      labels: { l: '1' },
      annotations: { 'dogwatch.dev/paused': '' },
    });
  });

  it('refuses an object without uid', () => {
    assert.throws(() => projectMetadata({ name: 'a', resourceVersion: '7' }), { code: 'bad-response' });
  });
});

describe('parseFrame', () => {
  it('reads a recorded Table watch: columns with the first frame only, then cells, bookmark and deletion', () => {
    const frames = linesOf('table-watch').map((line) => parseFrame(line, { form: 'table' }));
    const [first, ...rest] = frames;
    assert.ok(first !== undefined && first.type === 'MODIFIED');
    assert.deepEqual(
      first.columns?.map(({ name }) => name),
      ['Name', 'Ready', 'Observed'],
    );
    assert.ok(rest.every((frame) => frame.type === 'ERROR' || frame.columns === undefined));
    assert.deepEqual([...new Set(frames.map(({ type }) => type))].sort(), ['BOOKMARK', 'DELETED', 'MODIFIED']);
  });

  it('reads a recorded metadata watch', () => {
    const frames = linesOf('watch-list-metadata-only').map((line) => parseFrame(line, { form: 'metadata' }));
    assert.equal(frames[0]?.type, 'ADDED');
    assert.ok(frames.some(({ type }) => type === 'BOOKMARK'));
  });

  it('reads an expired position', () => {
    const [frame] = linesOf('table-watch-expired').map((line) => parseFrame(line, { form: 'table' }));
    assert.ok(frame?.type === 'ERROR');
    assert.deepEqual([frame.code, frame.reason], [410, 'Expired']);
  });

  it('reads an ERROR without a Status as 500', () => {
    assert.deepEqual(parseFrame('{"type":"ERROR","object":{"kind":"Widget"}}', { form: 'table' }), {
      type: 'ERROR',
      code: 500,
      reason: 'Unknown',
      message: '',
      retryAfterSeconds: undefined,
    });
  });

  const bad: [what: string, line: string][] = [
    ['a cut line', '{"type":"ADDED","object":{"kind":"Ta'],
    ['a line that is no object', '[]'],
    ['an unknown type', '{"type":"SYNC","object":{"kind":"Table"}}'],
    ['a whole object', '{"type":"ADDED","object":{"kind":"Secret","data":{"p":"hunter2"}}}'],
    ['a Table of two rows', '{"type":"ADDED","object":{"kind":"Table","rows":[{},{}]}}'],
    ['a bookmark without position', '{"type":"BOOKMARK","object":{"kind":"Table","rows":[{"cells":[],"object":{"metadata":{}}}]}}'],
  ];
  for (const [what, line] of bad) {
    it(`refuses ${what} as a bad frame and does not quote it`, () => {
      assert.throws(
        () => parseFrame(line, { form: 'table' }),
        (error: Error & { code: string; facts: unknown }) => {
          assert.deepEqual([error.name, error.code], ['TransientError', 'bad-frame']);
          assert.doesNotMatch(JSON.stringify(error.facts) + error.message, /hunter2/);
          return true;
        },
      );
    });
  }
});

describe('parseFrame in the metadata form', () => {
  it('refuses a whole object, which a server that does not know the form sends', () => {
    const object = { kind: 'Widget', metadata: { name: 'a', uid: 'u', resourceVersion: '1' }, spec: {} };
    assert.throws(() => parseFrame(JSON.stringify({ type: 'ADDED', object }), { form: 'metadata' }), { code: 'bad-frame' });
  });
});

describe('parseObject', () => {
  it('refuses the page of a proxy', () => {
    assert.throws(() => parseObject('<html>'), { name: 'TransientError', code: 'bad-response' });
  });
});

describe('projectServedKind', () => {
  const crd = JSON.stringify({
    spec: {
      versions: [
        {
          name: 'v1',
          served: true,
          subresources: { status: {} },
          additionalPrinterColumns: [{ name: 'Observed', jsonPath: '.status.observedGeneration' }],
        },
        { name: 'v2', served: true },
        { name: 'v0', served: false },
      ],
    },
  });

  it('has the columns and subresource of the version', () => {
    assert.deepEqual(projectServedKind(crd, 'v1'), {
      printerColumns: [{ name: 'Observed', jsonPath: '.status.observedGeneration' }],
      hasStatusSubresource: true,
    });
    assert.deepEqual(projectServedKind(crd, 'v2'), { printerColumns: [], hasStatusSubresource: false });
  });

  it('is undefined for a version that is not served', () => {
    assert.equal(projectServedKind(crd, 'v0'), undefined);
    assert.equal(projectServedKind(crd, 'v9'), undefined);
  });
});
