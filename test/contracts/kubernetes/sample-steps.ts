/** What has to happen before each recorded exchange, so that the server is where the real one was. */

/** method, path below the namespace (or an absolute one), body. `APPLY` is a server-side apply, `MERGE` a merge patch. */
export type Step = readonly [method: 'POST' | 'PUT' | 'DELETE' | 'MERGE' | 'APPLY', path: string, body?: unknown];

export interface Replay {
  readonly sample: string;
  /** Before the position of the request. */
  readonly given?: readonly Step[];
  /** Between that position and the request. */
  readonly since?: readonly Step[];
  /** While the watch is open. */
  readonly meanwhile?: readonly Step[];
  /** Bookmarks come all the time, not once a minute; and after each of them this is done, so that there is something to tell. */
  readonly bookmarked?: Step;
  /** The page whose token the request goes on with. */
  readonly continues?: string;
  readonly fault?: 'expire' | 'throttle' | 'initializing' | 'kill' | 'stop' | 'restore' | 'wrong token' | 'no token';
}

const GROUP = 'lab.example.com';
const HOLD = 'lab.example.com/hold';
const OTHER = 'lab.example.com/other';
const FIRST = { observedGeneration: 1, phase: 'Ready', detail: 'first' };
const because = (type: string, status: string) => ({
  type,
  status,
  reason: 'Because',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const object = (kind: string, name: string, fields: object = { spec: { size: 1 } }, metadata: object = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: { name, ...metadata },
  ...fields,
});
const widget = (name: string, fields?: object, metadata?: object): Step => ['POST', 'widgets', object('Widget', name, fields, metadata)];
const status = (name: string, manager: string, body: object, [plural, kind] = ['widgets', 'Widget']): Step => [
  'APPLY',
  `${plural}/${name}/status?fieldManager=${manager}&force=true`,
  object(String(kind), name, { status: body }),
];
const drop = (name: string): Step => ['DELETE', `widgets/${name}`];
const finalizers = (name: string, list: readonly string[] | null): Step => ['MERGE', `widgets/${name}`, { metadata: { finalizers: list } }];

const f1 = [widget('f1'), status('f1', 'dogwatch', FIRST)];
const b1: readonly Step[] = [
  widget('b1', { spec: { size: 1, blob: 'x', tags: ['a'], tier: 'gold' } }, { labels: { app: 'b' }, finalizers: [HOLD] }),
  status('b1', 'dogwatch', { observedGeneration: 1, phase: 'Ready', conditions: [because('Ready', 'True')] }),
];
const atomics: readonly Step[] = [0, 1, 2, 3, 4, 5, 6].map((n) => [
  'POST',
  'atomics',
  object('Atomic', `d${n}`, { spec: { size: 1, tier: 'x' } }, { labels: { half: n === 0 ? 'first' : 'second' } }),
]);
const page = 'atomics?limit=3';

const THINGS = '/apis/table.lab.example.com/v1/namespaces/default/things';
const thing = (name: string, x: number): Step => [
  'APPLY',
  `${THINGS}/${name}?fieldManager=user`,
  { apiVersion: 'table.lab.example.com/v1', kind: 'Thing', metadata: { name, labels: { team: 'a' } }, spec: { x } },
];
const thingStatus = (name: string, observedGeneration: number, ready: string): Step => [
  'APPLY',
  `${THINGS}/${name}/status?fieldManager=us&force=true`,
  {
    apiVersion: 'table.lab.example.com/v1',
    kind: 'Thing',
    metadata: { name },
    status: { observedGeneration, conditions: [{ type: 'Ready', status: ready }] },
  },
];
const things = [...['a', 'b', 'c'].map((name) => thing(name, 1)), thingStatus('a', 1, 'True')];
const thingMoves = [thing('b', 2), thingStatus('b', 2, 'False')];

export const REPLAYS: readonly Replay[] = [
  { sample: 'apply-create-with-uid' },
  { sample: 'create-already-exists', given: [widget('g1')] },
  { sample: 'create-namespace-missing' },
  { sample: 'create-over-etcd-limit' },
  { sample: 'create-validation-failure' },
  { sample: 'delete-immediate', given: [widget('a3')] },
  { sample: 'delete-pending-finalizer', given: [widget('a2', undefined, { finalizers: [HOLD] })] },
  { sample: 'delete-uid-precondition', given: [widget('g1')] },
  { sample: 'finalizer-add-while-deleting', given: [widget('h1', undefined, { finalizers: [HOLD] }), drop('h1')] },
  {
    sample: 'finalizer-apply-remove',
    given: [
      widget('h2', undefined, { finalizers: [OTHER] }),
      ['APPLY', 'widgets/h2?fieldManager=dogwatch-finalizer', object('Widget', 'h2', {}, { finalizers: [HOLD] })],
      drop('h2'),
    ],
  },
  { sample: 'finalizer-json-patch', given: [widget('h1', undefined, { finalizers: [HOLD, OTHER] })] },
  { sample: 'finalizer-json-patch-test-failed', given: [widget('h1', undefined, { finalizers: [HOLD, OTHER] })] },
  {
    sample: 'finalizer-removed-last',
    given: [widget('a2', undefined, { finalizers: [HOLD] }), drop('a2'), ['MERGE', 'widgets/a2', { spec: { size: 5 } }]],
  },
  { sample: 'forbidden', given: [widget('i1')], fault: 'no token' },
  { sample: 'get-metadata-only', given: b1 },
  { sample: 'get-not-acceptable', given: [widget('a1')] },
  { sample: 'get-object-missing' },
  { sample: 'get-resource-unknown' },
  { sample: 'get-resource-version-invalid', given: [widget('c1')] },
  { sample: 'get-resource-version-too-large', given: [widget('c1')] },
  { sample: 'list-continue-expired', given: atomics, continues: page, fault: 'expire' },
  {
    sample: 'list-continue-inconsistent',
    given: [...atomics, ['DELETE', 'atomics/d5'], ['POST', 'atomics', object('Atomic', 'd9')]],
  },
  { sample: 'list-metadata-only', given: [widget('a1'), ...b1] },
  { sample: 'list-page-first', given: atomics },
  { sample: 'request-too-large' },
  { sample: 'status-apply', given: [widget('f1')] },
  {
    sample: 'status-apply-after-update-same-name',
    given: [widget('f5'), ['MERGE', 'widgets/f5/status?fieldManager=dogwatch', { status: { phase: 'Old' } }]],
  },
  {
    sample: 'status-apply-atomic-conditions-conflict',
    given: [
      ['POST', 'atomics', object('Atomic', 'f4')],
      status('f4', 'one', { conditions: [because('Ready', 'True')] }, ['atomics', 'Atomic']),
    ],
  },
  { sample: 'status-apply-conditions-merge', given: [widget('f4'), status('f4', 'one', { conditions: [because('Ready', 'True')] })] },
  {
    sample: 'status-apply-drops-omitted-field',
    given: [...f1, status('f1', 'third', { phase: 'Bad', detail: 'mine' })],
  },
  {
    sample: 'status-apply-field-manager-conflict',
    given: [...f1, status('f1', 'second', { phase: 'Ready' })],
  },
  { sample: 'status-apply-forbidden', given: [widget('i1')], fault: 'no token' },
  { sample: 'status-apply-no-field-manager', given: [widget('f1')] },
  { sample: 'status-apply-no-op', given: f1 },
  { sample: 'status-apply-no-subresource' },
  { sample: 'status-apply-object-absent' },
  { sample: 'status-apply-resource-version-conflict', given: [widget('f2')] },
  { sample: 'status-apply-unknown-field', given: f1 },
  { sample: 'status-apply-validation-failure', given: [widget('i1')] },
  { sample: 'status-apply-with-managed-fields', given: f1 },
  { sample: 'status-apply-wrong-api-version', given: f1 },
  { sample: 'status-apply-wrong-uid', given: [widget('f2')] },
  { sample: 'table-list', given: things },
  { sample: 'table-list-page-2', given: things, continues: '/apis/table.lab.example.com/v1/things?limit=2' },
  {
    sample: 'table-list-configmaps',
    given: [
      [
        'POST',
        '/api/v1/namespaces/kube-system/configmaps?fieldManager=kube-apiserver',
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking' },
          data: { since: 'x' },
        },
      ],
    ],
  },
  { sample: 'table-watch-expired', given: things },
  {
    sample: 'table-watch-leaves-selector',
    given: [...things, ...thingMoves, ['DELETE', `${THINGS}/a`], ['DELETE', `${THINGS}/c`]],
    meanwhile: [['MERGE', `${THINGS}/b`, { metadata: { labels: { team: 'z' } } }]],
  },
  {
    sample: 'table-watch',
    given: things,
    since: [
      ...thingMoves,
      ['MERGE', `${THINGS}/c`, { metadata: { finalizers: ['lab.example.com/f'] } }],
      ['DELETE', `${THINGS}/c`],
      ['DELETE', `${THINGS}/a`],
      ['MERGE', `${THINGS}/c`, { metadata: { finalizers: [] } }],
    ],
  },
  { sample: 'too-many-requests-fairness', fault: 'throttle' },
  { sample: 'too-many-requests-max-in-flight', fault: 'throttle' },
  { sample: 'unauthorized', fault: 'wrong token' },
  { sample: 'unsupported-media-type', given: [widget('i1')] },
  { sample: 'update-optimistic-lock-conflict', given: [widget('g1')] },
  { sample: 'watch-cache-not-ready', fault: 'initializing' },
  {
    sample: 'watch-after-restore',
    given: [widget('x'), ...[1, 2, 3].map((size): Step => ['MERGE', 'widgets/x', { spec: { size } }])],
    meanwhile: [widget('y')],
    fault: 'restore',
  },
  { sample: 'watch-bookmarks', meanwhile: [widget('x')], bookmarked: drop('x') },
  {
    sample: 'watch-crd-deleted',
    given: [
      ['POST', 'quiets', object('Quiet', 'o1')],
      ['POST', 'quiets', object('Quiet', 'o2')],
      ['MERGE', 'quiets/o1', { spec: { size: 44 } }],
    ],
    meanwhile: [['DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/quiets.lab.example.com']],
  },
  { sample: 'watch-delete-recreate-delete', given: [widget('a3')], since: [drop('a3'), widget('a3'), drop('a3')] },
  {
    sample: 'watch-delete-with-finalizer',
    given: [widget('a2', undefined, { finalizers: [HOLD] })],
    since: [drop('a2'), ['MERGE', 'widgets/a2', { spec: { size: 5 } }], finalizers('a2', null)],
  },
  { sample: 'watch-expired' },
  { sample: 'watch-future', meanwhile: [widget('x')] },
  { sample: 'watch-list-invalid' },
  {
    sample: 'watch-list-metadata-only',
    given: b1,
    meanwhile: [
      status('b1', 'dogwatch', { observedGeneration: 1, phase: 'Other', conditions: [because('Ready', 'True')] }),
      drop('b1'),
      finalizers('b1', null),
    ],
  },
  {
    sample: 'watch-list',
    given: [
      widget('a1', { spec: { size: 2 }, data: 'd' }, { labels: { x: 'y' }, annotations: { n: 'm' } }),
      ['MERGE', 'widgets/a1/status', { status: { phase: 'Sub' } }],
      ['MERGE', 'widgets/a1', { data: 'e' }],
      ['MERGE', 'widgets/a1', { data: 'd' }],
      widget('c1'),
      ...[10, 11, 12, 13].map((size): Step => ['MERGE', 'widgets/c1', { spec: { size } }]),
      widget('e1', { spec: { tier: 'gold' } }, { labels: { pick: 'me' } }),
    ],
  },
  {
    sample: 'watch-selector-leaves-and-returns',
    given: [widget('e1', { spec: { tier: 'gold' } }, { labels: { pick: 'me' } })],
    since: [
      ['MERGE', 'widgets/e1', { metadata: { labels: { pick: 'other' } } }],
      ['MERGE', 'widgets/e1', { metadata: { labels: { pick: 'me' } }, spec: { tier: 'silver' } }],
      drop('e1'),
    ],
  },
  { sample: 'watch-server-killed', given: [widget('x')], since: [['MERGE', 'widgets/x', { spec: { size: 7 } }]], fault: 'kill' },
  {
    sample: 'watch-server-shutdown',
    meanwhile: [['POST', 'quiets', object('Quiet', 'x')]],
    bookmarked: ['DELETE', 'quiets/x'],
    fault: 'stop',
  },
  { sample: 'watch-timeout-seconds', given: [widget('x')] },
];
