/** Everything that a watcher sends: on which lane, and what of it must run. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { OWNER_LABEL, OWNER_REF_ANNOTATION, PAUSED_ANNOTATION } from '../../../events/labels.ts';
import { resourceQuotas } from '../../../functions/core/kinds.ts';
import { all, hasLabel, labelChanged, not } from '../../../functions/core/predicates.ts';
import { watchRules } from '../../../functions/core/watch-rules.ts';
import type { WatchedReconciler } from '../../../functions/watcher/cells.ts';
import { envelopeOf } from '../../fakes/queue.ts';
import { COLUMNS, tenants } from './scene.ts';
import { queueUrls, stopAll, WatcherScene } from './watcher-scene.ts';

afterEach(stopAll);

const reconciler: WatchedReconciler = {
  resource: tenants as never,
  revision: 1,
  owns: [resourceQuotas],
  watch: watchRules('Tenant', { predicate: all(not(hasLabel('held')), labelChanged('tier')) }, false),
};

type Draft = Record<string, unknown>;

function edit(scene: WatcherScene, change: (draft: Draft) => void): void {
  scene.cluster('east').edit(tenants, { name: 'a' }, change);
}

function editMetadata(scene: WatcherScene, metadata: object): void {
  edit(scene, (draft) => {
    draft['metadata'] = { ...(draft['metadata'] as object), ...metadata };
  });
}

function create(scene: WatcherScene, status?: object): void {
  scene.cluster('east').create(tenants, { name: 'a' }, { spec: { size: 1 }, ...(status === undefined ? {} : { status }) });
}

const settled = (scene: WatcherScene): void => create(scene, { observedGeneration: 1 });

function wants(inSeconds: number): (scene: WatcherScene) => void {
  return (scene) => {
    const nextReconcileTime = new Date(scene.clock.now().getTime() + inSeconds * 1000).toISOString();
    create(scene, { observedGeneration: 1, nextReconcileTime });
  };
}

/** A child that goes. */
function loseChild(scene: WatcherScene): void {
  const at = { namespace: 'team', name: 'quota' };
  const { uid } = scene.cluster('east').object(tenants, { name: 'a' })?.metadata ?? { uid: '' };
  const annotations = { [OWNER_REF_ANNOTATION]: 'east/platform.example/Tenant//a' };
  scene.cluster('east').create(resourceQuotas, at, { metadata: { labels: { [OWNER_LABEL]: uid }, annotations } });
  scene.cluster('east').delete(resourceQuotas, at);
}

interface Row {
  readonly before?: (scene: WatcherScene) => void;
  readonly cause?: (scene: WatcherScene) => void;
  /** Until it is sent. */
  readonly seconds?: number;
  readonly sent: string;
}

const ROWS: Readonly<Record<string, Row>> = {
  'a new object': { cause: (scene) => create(scene), sent: 'created live' },
  'another spec': {
    before: settled,
    cause: (scene) => edit(scene, (draft) => Object.assign(draft, { spec: {} })),
    sent: 'generation-changed live',
  },
  'a label that the predicate names': {
    before: settled,
    cause: (scene) => editMetadata(scene, { labels: { tier: 'gold' } }),
    sent: 'metadata-changed live must-run',
  },
  'what the predicate admits again': {
    before: settled,
    cause: (scene) => {
      editMetadata(scene, { labels: { held: '' } });
      editMetadata(scene, { labels: {} });
    },
    sent: 'selected live must-run',
  },
  'a pause': { before: settled, cause: (scene) => editMetadata(scene, { annotations: { [PAUSED_ANNOTATION]: '' } }), sent: 'paused live' },
  'the end of a pause': {
    before: (scene) => {
      settled(scene);
      editMetadata(scene, { annotations: { [PAUSED_ANNOTATION]: '' } });
    },
    cause: (scene) => editMetadata(scene, { annotations: {} }),
    sent: 'resumed live must-run',
  },
  'the beginning of a deletion': {
    before: (scene) => {
      settled(scene);
      editMetadata(scene, { finalizers: ['example.com/hold'] });
    },
    cause: (scene) => scene.cluster('east').delete(tenants, { name: 'a' }),
    sent: 'deleting live',
  },
  'a deletion': { before: settled, cause: (scene) => scene.cluster('east').delete(tenants, { name: 'a' }), sent: 'deleted live' },
  'a child that is gone': { before: settled, cause: loseChild, seconds: 1, sent: 'child-changed live must-run' },
  'what a start finds unsettled': { before: (scene) => create(scene), sent: 'sweep bulk' },
  'what is overdue at a start': { before: wants(-301), seconds: 10, sent: 'sweep bulk must-run' },
  'what becomes overdue': { before: wants(60), seconds: 365, sent: 'sweep bulk must-run' },
  'what is late by less than five minutes': { before: wants(60), seconds: 355, sent: '' },
  'the turn of a settled object': { before: settled, seconds: 36_000, sent: 'resync bulk must-run' },
};

describe('a watcher', () => {
  for (const [name, { before, cause, seconds = 0, sent }] of Object.entries(ROWS)) {
    it(`sends ${sent === '' ? 'nothing' : sent} for ${name}`, async () => {
      const scene = new WatcherScene('east');
      const next = { name: 'Next', jsonPath: '.status.nextReconcileTime' };
      scene.cluster('east').serve(tenants, [...COLUMNS, next]);
      before?.(scene);
      await scene.start([reconciler], { heartbeatSeconds: 1e8 });
      cause?.(scene);
      await scene.clock.advance(seconds * 1000);
      const lines = scene.queue.accepted.map(({ queueUrl, message }) => {
        const { reason, mustRun, attempt } = envelopeOf(message).data;
        assert.deepEqual([message.delaySeconds, attempt], [0, 1]);
        return `${reason} ${queueUrl === queueUrls.bulk ? 'bulk' : 'live'}${mustRun ? ' must-run' : ''}`;
      });
      assert.deepEqual(lines, sent === '' ? [] : [sent]);
    });
  }
});
