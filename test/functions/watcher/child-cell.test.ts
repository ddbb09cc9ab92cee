import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OWNER_LABEL, PAUSED_ANNOTATION } from '../../../events/labels.ts';
import { TransientError } from '../../../functions/core/errors.ts';
import { configMaps, deployments, resourceQuotas } from '../../../functions/core/kinds.ts';
import { APP, Family, QUOTA, watched } from './family.ts';
import { tenants } from './scene.ts';

const HARD = { spec: { hard: { pods: '5', cpu: '1' } } };
const projects = { ...tenants, kind: 'Project', plural: 'projects' };

/** A running family: owner `a` with a quota that a run has applied; nothing is due. */
async function started(family = new Family()): Promise<{ family: Family; uid: string }> {
  const uid = family.owner('a');
  await family.apply(resourceQuotas, QUOTA, uid, HARD);
  await family.start();
  assert.deepEqual(await family.later(), []);
  return { family, uid };
}

describe('the cells of a cluster', () => {
  it('are one for each kind with a reconciler and one for each kind that any of them owns', async () => {
    const family = new Family([watched(tenants, [resourceQuotas, configMaps]), watched(projects, [configMaps, resourceQuotas, projects])]);
    await family.start();
    assert.deepEqual(
      family.cells.map((cell) => cell.status()).map(({ kind, role, phase }) => `${kind} ${role} ${phase}`),
      [
        'Tenant.platform.example primary streaming',
        'Project.platform.example primary streaming',
        'ResourceQuota child streaming',
        'ConfigMap child streaming',
        'Project.platform.example child streaming',
      ],
    );
    await family.stop();
  });

  it('ask for children by the presence of our label, with own fields, as metadata; as a Table where a column is named', async () => {
    const { family } = await started();
    for (const verb of ['list', 'watch'] as const) {
      const asked = (kind: string) => family.cluster.requestsOf(verb, kind)[0]?.detail;
      const quota = asked('ResourceQuota');
      assert.deepEqual([quota?.['form'], quota?.['labelSelector'], quota?.['ownFields']], ['metadata', OWNER_LABEL, true]);
      assert.equal(asked('Deployment.apps')?.['form'], 'table');
      assert.deepEqual(
        [asked('Tenant.platform.example')?.['labelSelector'], asked('Tenant.platform.example')?.['ownFields']],
        [undefined, undefined],
      );
    }
    await family.stop();
  });
});

describe('a child cell', () => {
  it('wakes nobody for what it sees first, at its start or later', async () => {
    const { family, uid } = await started();
    await family.apply(resourceQuotas, { namespace: 'team', name: 'new' }, uid, HARD);
    assert.deepEqual([await family.later(), family.status('ResourceQuota', 'child')?.objectCount], [[], 2]);
    await family.stop();
  });

  it('wakes the owner once when somebody changes a field of ours, and not for the repair', async () => {
    const { family, uid } = await started();
    await family.edit(resourceQuotas, QUOTA, { spec: { hard: { pods: '99', cpu: '1' } } });
    assert.deepEqual([family.due(), await family.later()], [[], ['child-changed a']]);
    await family.apply(resourceQuotas, QUOTA, uid, HARD);
    assert.deepEqual(await family.later(), []);
    await family.stop();
  });

  it('sends what the owner is known by: a run that must, on the live lane, at the version of the owner', async () => {
    const { family, uid } = await started();
    await family.edit(resourceQuotas, QUOTA, { spec: {} });
    await family.clock.advance(1_000);
    const [mark, ...others] = family.dueMarks();
    const owner = family.cluster.object(tenants, { name: 'a' })?.metadata;
    assert.deepEqual(
      [others, mark?.uid, mark?.name, mark?.resourceVersion, mark?.generation, mark?.mustRun, mark?.lane],
      [[], uid, 'a', owner?.resourceVersion, 1, true, 'live'],
    );
    await family.stop();
  });

  it('wakes nobody for status, foreign annotations and our own values, however many', async () => {
    const { family, uid } = await started();
    for (let used = 0; used < 300; used += 1) await family.edit(resourceQuotas, QUOTA, { status: { used: { pods: String(used) } } });
    for (let round = 0; round < 20; round += 1) {
      family.cluster.edit(resourceQuotas, QUOTA, (draft) => {
        const { metadata } = draft as { metadata: { annotations: object } };
        draft['metadata'] = { ...metadata, annotations: { ...metadata.annotations, 'example.com/note': String(round) } };
      });
      await family.apply(resourceQuotas, QUOTA, uid, { spec: { hard: { pods: String(round), cpu: '1' } } });
    }
    assert.deepEqual(await family.later(), []);
    await family.stop();
  });

  it('makes at most one echo of a run that applies fewer fields, and none of one that applies more', async () => {
    const { family, uid } = await started();
    await family.apply(resourceQuotas, QUOTA, uid, { spec: { hard: { pods: '5', cpu: '1', memory: '1Gi' } } });
    assert.deepEqual(await family.later(), []);
    await family.apply(resourceQuotas, QUOTA, uid, { spec: { hard: { pods: '5' } } });
    assert.deepEqual([await family.later(), await family.later()], [['child-changed a'], []]);
    await family.stop();
  });

  it('wakes the owner of a child that is deleted, and gathers what happens to its children for a second', async () => {
    const { family, uid } = await started();
    const other = { namespace: 'team', name: 'other' };
    await family.apply(resourceQuotas, other, uid, HARD);
    family.cluster.delete(resourceQuotas, QUOTA);
    await family.clock.advance(500);
    family.cluster.delete(resourceQuotas, other);
    await family.clock.advance(499);
    assert.deepEqual(family.due(), []);
    await family.clock.advance(1);
    assert.deepEqual([family.due(), family.status('ResourceQuota', 'child')?.objectCount], [['child-changed a'], 0]);
    await family.stop();
  });

  it('tells of a deletion that a finalizer holds back when it begins and when it is over', async () => {
    const { family } = await started();
    family.cluster.edit(resourceQuotas, QUOTA, (draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), finalizers: ['example.com/hold'] };
    });
    family.cluster.delete(resourceQuotas, QUOTA);
    assert.deepEqual(await family.later(), ['child-changed a']);
    family.cluster.edit(resourceQuotas, QUOTA, (draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), finalizers: [] };
    });
    assert.deepEqual(await family.later(), ['child-changed a']);
    await family.stop();
  });

  it('wakes the owner of a child whose label is taken off or names another (B11)', async () => {
    for (const label of [undefined, 'somebody-else']) {
      const { family } = await started();
      family.cluster.edit(resourceQuotas, QUOTA, (draft) => {
        draft['metadata'] = { ...(draft['metadata'] as object), labels: label === undefined ? {} : { [OWNER_LABEL]: label } };
      });
      assert.deepEqual(await family.later(), ['child-changed a'], label);
      await family.stop();
    }
  });

  it('finds by its list what drifted and what went while nobody watched', async () => {
    const { family, uid } = await started();
    const other = { namespace: 'team', name: 'other' };
    const second = family.owner('b');
    await family.apply(resourceQuotas, other, second, HARD);
    await family.apply(resourceQuotas, { namespace: 'team', name: 'same' }, uid, HARD);
    for (const watch of family.cluster.openWatches()) watch.paused = true;
    family.cluster.edit(resourceQuotas, QUOTA, (draft) => Object.assign(draft, { spec: {} }));
    family.cluster.delete(resourceQuotas, other);
    family.cluster.restart();
    await family.clock.advance(5_000);
    assert.deepEqual(family.due().sort(), ['child-changed a', 'child-changed b']);
    assert.equal(family.status('ResourceQuota', 'child')?.objectCount, 2);
    await family.stop();
  });

  it('infers nothing from a list that broke off', async () => {
    const { family } = await started();
    const unreachable = new TransientError('unreachable', 'the API server cannot be reached; it is tried again');
    family.cluster.fault({ verb: 'list', kind: 'ResourceQuota' }, { throw: unreachable }, 3);
    family.cluster.restart();
    await family.clock.advance(60_000);
    assert.deepEqual([family.due(), family.status('ResourceQuota', 'child')?.phase], [[], 'streaming']);
    await family.stop();
  });

  it('tells again by a list what could not be passed on', async () => {
    const { family } = await started();
    const [marks] = family.marks;
    assert.ok(marks !== undefined);
    marks.mark = () => {
      throw new RangeError('no mark');
    };
    await family.edit(resourceQuotas, QUOTA, { spec: {} });
    Reflect.deleteProperty(marks, 'mark');
    await family.clock.advance(30_000);
    assert.deepEqual(family.due(), ['child-changed a']);
    await family.stop();
  });
});

describe('a column named in wakeOn', () => {
  async function withApp(): Promise<{ family: Family; uid: string }> {
    const { family, uid } = await started();
    await family.apply(deployments, APP, uid, { spec: { replicas: 1 } });
    return { family, uid };
  }

  it('wakes the owner when its cell changes, and for nothing else in the row', async () => {
    const { family } = await withApp();
    await family.edit(deployments, APP, { status: { ready: 1 } });
    assert.deepEqual(await family.later(), []);
    await family.edit(deployments, APP, { status: { ready: 1, available: 1 } });
    assert.deepEqual(await family.later(), ['child-changed a']);
    await family.edit(deployments, APP, { status: { ready: 2, available: 1 } });
    assert.deepEqual(await family.later(), []);
    await family.stop();
  });

  it('that is not there is told of once, and drift is seen all the same', async () => {
    const family = new Family([watched(tenants, [deployments.wakeOn('Availble')])]);
    const uid = family.owner('a');
    await family.apply(deployments, APP, uid, { spec: { replicas: 1 } });
    await family.start();
    family.cluster.restart();
    await family.clock.advance(5_000);
    const [line, ...others] = family.log.lines.filter(({ level }) => level === 'warn');
    assert.deepEqual([line?.fields['columns'], line?.fields['known'], others], [['Availble'], ['Name', 'Available'], []]);
    await family.edit(deployments, APP, { spec: { replicas: 3 } });
    assert.deepEqual(await family.later(), ['child-changed a']);
    await family.stop();
  });

  it('wakes only owners of the kind that asked for it', async () => {
    const family = new Family([watched(tenants, [deployments]), watched(projects, [deployments.wakeOn('Available')])]);
    const other = { namespace: 'team', name: 'other' };
    await family.apply(deployments, APP, family.owner('t'), { spec: { replicas: 1 } });
    await family.apply(deployments, other, family.owner('p', projects), { spec: { replicas: 1 } });
    await family.start();
    for (const at of [APP, other]) await family.edit(deployments, at, { status: { available: 1 } });
    assert.deepEqual(await family.later(), ['child-changed p']);
    await family.stop();
  });
});

describe('the owner of a changed child', () => {
  it('is found in the cell of its kind, whichever reconcilers own the kind of the child', async () => {
    const family = new Family([watched(tenants, [resourceQuotas]), watched(projects, [resourceQuotas])]);
    await family.apply(resourceQuotas, QUOTA, family.owner('p', projects), HARD);
    await family.start();
    await family.edit(resourceQuotas, QUOTA, { spec: {} });
    assert.deepEqual([await family.later(), family.marks.map(({ inFlightCount }) => inFlightCount)], [['child-changed p'], [0, 0]]);
    await family.stop();
  });

  it('is not woken when it is gone, being deleted, paused, or of a kind that does not own such children', async () => {
    const gone = await started();
    gone.family.cluster.delete(tenants, { name: 'a' });
    assert.deepEqual(await gone.family.later(), ['deleted a']);
    await gone.family.edit(resourceQuotas, QUOTA, { spec: {} });
    assert.deepEqual(await gone.family.later(), []);
    await gone.family.stop();

    for (const metadata of [{ finalizers: ['example.com/hold'] }, { annotations: { [PAUSED_ANNOTATION]: '' } }]) {
      const { family } = await started();
      family.cluster.edit(tenants, { name: 'a' }, (draft) => {
        draft['metadata'] = { ...(draft['metadata'] as object), ...metadata };
      });
      if ('finalizers' in metadata) family.cluster.delete(tenants, { name: 'a' });
      assert.equal((await family.later()).length, 1);
      await family.edit(resourceQuotas, QUOTA, { spec: {} });
      assert.deepEqual(await family.later(), [], JSON.stringify(metadata));
      await family.stop();
    }

    const family = new Family([watched(tenants, [resourceQuotas]), watched(projects)]);
    await family.apply(resourceQuotas, QUOTA, family.owner('p', projects), HARD);
    await family.start();
    await family.edit(resourceQuotas, QUOTA, { spec: {} });
    assert.deepEqual(await family.later(), []);
    await family.stop();
  });

  it('is woken once its kind was listed, where a child drifts before that', async () => {
    const family = new Family();
    const uid = family.owner('a');
    await family.apply(resourceQuotas, QUOTA, uid, HARD);
    const unreachable = new TransientError('unreachable', 'the API server cannot be reached; it is tried again');
    family.cluster.fault({ verb: 'list', kind: 'Tenant.platform.example' }, { throw: unreachable }, 3);
    await family.start();
    await family.edit(resourceQuotas, QUOTA, { spec: {} });
    assert.deepEqual([family.status('ResourceQuota', 'child')?.phase, await family.later()], ['streaming', []]);
    await family.clock.advance(60_000);
    assert.deepEqual(family.due(), ['child-changed a']);
    await family.stop();
  });
});
