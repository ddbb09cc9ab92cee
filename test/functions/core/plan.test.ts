import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import * as z from 'zod';
import { TerminalError } from '../../../functions/core/errors.ts';
import { configMaps, namespaces } from '../../../functions/core/kinds.ts';
import { checkPlan, childrenToPrune, classifyChild, invalidPlan, type ListedChild } from '../../../functions/core/plan.ts';
import { defineReconciler, type Reconciler } from '../../../functions/core/reconciler.ts';
import { defineResource } from '../../../functions/core/resource-definition.ts';
import { REQUEUE_MAX_SECONDS } from '../../../functions/core/wake-time.ts';
import { boardOwner, boardReconciler, declaration, metadataOf, ticketOwner, ticketReconciler } from './tickets.ts';

const status = { phase: 'Open' };
const configMap = (name: string, namespace = 'team') => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const OWNER_REF = 'east/lab.example/Ticket/team/one';

function refusal(plan: unknown, reconciler: Reconciler = ticketReconciler, owner = ticketOwner): TerminalError {
  try {
    checkPlan(reconciler, owner, plan);
  } catch (error) {
    assert.ok(error instanceof TerminalError);
    assert.equal(error.code, 'invalid-plan');
    return error;
  }
  return assert.fail('the Plan was accepted');
}

describe('checkPlan', () => {
  it('puts owner reference, label and annotation on each child, beside what the author set', () => {
    const planned = { ...configMap('a'), metadata: { ...configMap('a').metadata, labels: { app: 'x' }, annotations: { note: 'y' } } };
    const { children } = checkPlan(ticketReconciler, ticketOwner, { apply: [planned], status });
    assert.deepEqual(children, [
      {
        type: configMaps,
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: {
            name: 'a',
            namespace: 'team',
            labels: { app: 'x', 'dogwatch.dev/owner': 'uid-1' },
            annotations: { note: 'y', 'dogwatch.dev/owner-ref': OWNER_REF },
            ownerReferences: [
              { apiVersion: 'lab.example/v1', kind: 'Ticket', name: 'one', uid: 'uid-1', controller: true, blockOwnerDeletion: true },
            ],
          },
        },
      },
    ]);
  });

  it('takes a Plan of status alone', () => {
    const plan = checkPlan(ticketReconciler, ticketOwner, { status: { ...status, count: undefined } });
    assert.deepEqual([plan.children, plan.waves, plan.conditions, plan.status], [[], [], [], { phase: 'Open' }]);
  });

  it('puts cluster-scoped children into the first wave and keeps the order in each', () => {
    const apply = [configMap('b', 'n'), namespace('n'), configMap('a', 'n'), namespace('m')];
    const { waves, children } = checkPlan(boardReconciler, boardOwner, { apply, status });
    const names = waves.map((wave) => wave.map(({ body }) => body.metadata.name));
    assert.deepEqual(names, [
      ['n', 'm'],
      ['b', 'a'],
    ]);
    assert.deepEqual(children, waves.flat());
  });

  it('keeps nothing of the author’s: a later change of what was returned changes nothing', () => {
    const planned = { ...configMap('a'), data: { key: 'value' } };
    const { children } = checkPlan(ticketReconciler, ticketOwner, { apply: [planned], status });
    planned.data.key = 'other';
    assert.deepEqual(children[0]?.body['data'], { key: 'value' });
  });

  it('has the defaults of the status schema', () => {
    const resource = defineResource({ ...declaration, status: z.object({ phase: z.string().default('New') }) });
    const reconciler = defineReconciler({ resource, reconcile: () => Promise.resolve({ status: { phase: 'x' } }) });
    assert.deepEqual(checkPlan(reconciler, ticketOwner, { status: {} }).status, { phase: 'New' });
  });

  const ready = { type: 'Ready', status: 'True', reason: 'Good' };
  const refused: { name: string; plan: unknown; says: RegExp }[] = [
    { name: 'undefined', plan: undefined, says: /no Plan/ },
    { name: 'null', plan: null, says: /no Plan/ },
    { name: 'a list', plan: [], says: /no Plan/ },
    { name: 'a text', plan: 'done', says: /no Plan/ },
    { name: 'an unknown field', plan: { status, aply: [] }, says: /aply/ },
    { name: 'no status', plan: { apply: [] }, says: /no status/ },
    { name: 'a status of null', plan: { status: null }, says: /no status/ },
    { name: 'a status that does not fit', plan: { status: { phase: 1 } }, says: /status\.phase/ },
    { name: 'a status with an unknown field', plan: { status: { ...status, fase: 'x' } }, says: /fase/ },
    { name: 'conditions that are no list', plan: { status, conditions: {} }, says: /not a list/ },
    { name: 'a condition twice', plan: { status, conditions: [ready, { ...ready, status: 'False' }] }, says: /Ready twice/ },
    { name: 'Stalled', plan: { status, conditions: [{ ...ready, type: 'Stalled' }] }, says: /conditions\[0\]\.type .*Stalled/ },
    { name: 'a malformed reason', plan: { status, conditions: [{ ...ready, reason: 'not so good' }] }, says: /conditions\[0\]\.reason/ },
    { name: 'a condition that is no object', plan: { status, conditions: ['Ready'] }, says: /conditions\[0\] is not an object/ },
    { name: 'an apply that is no list', plan: { status, apply: {} }, says: /not a list/ },
    { name: 'a child that is no object', plan: { status, apply: [configMap('a'), undefined] }, says: /apply\[1\]/ },
    { name: 'a child twice', plan: { status, apply: [configMap('a'), configMap('a')] }, says: /ConfigMap team\/a: .*twice/ },
    {
      name: 'a child elsewhere',
      plan: { status, apply: [configMap('a', 'other')] },
      says: /ConfigMap other\/a: metadata\.namespace .*owner/,
    },
    {
      name: 'a cluster-scoped child of a namespaced owner',
      plan: { status, apply: [namespace('n')] },
      says: /Namespace n: kind is cluster-scoped/,
    },
  ];
  for (const { name, plan, says } of refused) {
    it(`refuses ${name}`, () => assert.match(refusal(plan).message, says));
  }

  it('refuses a status that JSON cannot say, although its schema can', () => {
    const resource = defineResource({ ...declaration, status: z.object({ any: z.unknown() }) });
    const reconciler = defineReconciler({ resource, reconcile: () => Promise.resolve({ status: { any: 1 } }) });
    assert.match(refusal({ status: { any: [Number.NaN] } }, reconciler).message, /status\.any\[0\] is NaN/);
  });

  it('refuses the object that the Plan is for as its own child', () => {
    const self = { apiVersion: 'lab.example/v1', kind: 'Board', metadata: { name: 'one' } };
    assert.match(
      refusal({ status, apply: [self] }, boardReconciler, boardOwner).message,
      /Board one: .*is the object that the Plan is for/,
    );
  });

  it('takes a namespaced object of the same name as a cluster-scoped owner', () => {
    const other = { apiVersion: 'lab.example/v1', kind: 'Ticket', metadata: { name: 'one', namespace: 'team' } };
    assert.equal(checkPlan(boardReconciler, boardOwner, { status, apply: [other] }).children.length, 1);
  });

  it('never fails with anything but its own error, whatever comes back', () => {
    const anything = fc.anything({ withDate: true, withMap: true, withBigInt: true, withNullPrototype: true });
    const plans = fc.oneof(anything, fc.record({ apply: fc.oneof(anything, fc.array(anything)), status: anything, conditions: anything }));
    fc.assert(
      fc.property(plans, (plan) => {
        try {
          checkPlan(ticketReconciler, ticketOwner, plan);
        } catch (error) {
          assert.ok(error instanceof TerminalError, String(error));
        }
      }),
    );
  });

  it('names child and field as facts, and fits into a condition however long the name is', () => {
    const { facts, message } = refusal({ status, apply: [configMap('A'.repeat(100_000))] });
    assert.equal(facts['field'], 'metadata.name');
    assert.ok(message.length < 1024);
  });
});

describe('the digest of a Plan', () => {
  const digest = (apply: unknown) => checkPlan(boardReconciler, boardOwner, { status, apply }).digest;

  it('depends on the set of children alone', () => {
    const [a, b] = [configMap('a'), configMap('b')];
    assert.match(digest([a, b]), /^[0-9a-f]{32}$/);
    assert.equal(digest([b, { ...a, data: { key: 'other' } }]), digest([a, b]));
  });

  it('differs for another name, namespace or kind, and for one child more or less', () => {
    const sets = [[], [configMap('a')], [configMap('b')], [configMap('a', 'n')], [namespace('a')], [configMap('a'), configMap('b')]];
    assert.equal(new Set(sets.map(digest)).size, sets.length);
  });
});

describe('classifyChild', () => {
  const owner = { key: ticketOwner.key, uid: 'uid-1' };
  const reference = (uid: string, more: object = {}) => [{ apiVersion: 'lab.example/v1', kind: 'Ticket', name: 'one', uid, ...more }];
  const rows = [
    { name: 'our label', metadata: { labels: { 'dogwatch.dev/owner': 'uid-1' } }, expected: 'ours' },
    { name: 'our reference, the label taken off', metadata: { ownerReferences: reference('uid-1') }, expected: 'ours' },
    {
      name: 'our label, being deleted',
      metadata: { labels: { 'dogwatch.dev/owner': 'uid-1' }, deletionTimestamp: '2026-01-01T00:00:00Z' },
      expected: 'predecessor',
    },
    {
      name: 'the label of another uid with our key',
      metadata: {
        labels: { 'dogwatch.dev/owner': 'uid-0' },
        annotations: { 'dogwatch.dev/owner-ref': OWNER_REF },
        ownerReferences: reference('uid-0'),
      },
      expected: 'predecessor',
    },
    {
      name: 'the label of another uid with our key, orphaned (kubectl delete --cascade=orphan)',
      metadata: { labels: { 'dogwatch.dev/owner': 'uid-0' }, annotations: { 'dogwatch.dev/owner-ref': OWNER_REF } },
      expected: 'unowned',
    },
    {
      name: 'the label of another owner',
      metadata: {
        labels: { 'dogwatch.dev/owner': 'uid-9' },
        annotations: { 'dogwatch.dev/owner-ref': 'east/lab.example/Ticket/team/two' },
      },
      expected: 'unowned',
    },
    { name: 'no mark at all', metadata: {}, expected: 'unowned' },
    { name: 'another owner’s reference', metadata: { ownerReferences: reference('uid-9') }, expected: 'unowned' },
    {
      name: 'another controller',
      metadata: { ownerReferences: [...reference('uid-8'), ...reference('uid-9', { controller: true })] },
      expected: 'foreign',
    },
    { name: 'no mark at all, being deleted', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, expected: 'predecessor' },
  ];
  for (const { name, metadata, expected } of rows) {
    it(`calls a child with ${name} ${expected}`, () => assert.equal(classifyChild(metadataOf({ uid: 'c', ...metadata }), owner), expected));
  }
});

describe('checkPlan, when to run again and whom to adopt', () => {
  const check = (fields: object) => checkPlan(ticketReconciler, ticketOwner, { status, ...fields });

  it('wants neither unless the Plan says so', () => {
    const { requeueAfterSeconds, adopt } = check({ requeueAfterSeconds: undefined, adopt: undefined });
    assert.deepEqual([requeueAfterSeconds, adopt], [undefined, false]);
  });

  for (const requeueAfterSeconds of [1, 1.5, 300, REQUEUE_MAX_SECONDS])
    it(`runs again after ${requeueAfterSeconds} s`, () =>
      assert.equal(check({ requeueAfterSeconds }).requeueAfterSeconds, requeueAfterSeconds));

  for (const requeueAfterSeconds of [0, -1, 0.4, Number.NaN, Number.POSITIVE_INFINITY, '5', 1e12, null, true, {}])
    it(`refuses to run again after ${JSON.stringify(requeueAfterSeconds)} (${typeof requeueAfterSeconds})`, () => {
      assert.match(refusal({ status, requeueAfterSeconds }).message, /requeueAfterSeconds/);
    });

  it('adopts where it is true, and takes nothing else for true', () => {
    assert.equal(check({ adopt: true }).adopt, true);
    for (const adopt of ['true', 1, null]) assert.match(refusal({ status, adopt }).message, /adopt/);
  });
});

describe('childrenToPrune', () => {
  const owner = { key: ticketOwner.key, uid: 'uid-1' };
  const plan = checkPlan(ticketReconciler, ticketOwner, { status, apply: [configMap('kept')] });
  const listed = (name: string, overrides: object = {}): ListedChild => ({
    type: configMaps,
    metadata: {
      ...metadataOf({ name, uid: `uid-of-${name}` }),
      labels: { 'dogwatch.dev/owner': 'uid-1' },
      annotations: { 'dogwatch.dev/owner-ref': OWNER_REF },
      ...overrides,
    },
  });
  const pruned = (...children: ListedChild[]) => childrenToPrune(children, plan, owner).map(({ metadata }) => metadata.name);

  it('names what is ours and not planned any more', () => {
    assert.deepEqual(pruned(listed('kept'), listed('old'), { ...listed('kept'), type: namespaces }), ['old', 'kept']);
  });

  it('goes by namespace as well as by name', () => assert.deepEqual(pruned(listed('kept', { namespace: 'other' })), ['kept']));

  it('leaves what is being deleted already', () => {
    assert.deepEqual(pruned(listed('old', { deletionTimestamp: '2026-01-01T00:00:00Z' })), []);
  });

  it('leaves what has another owner, or no label', () => {
    assert.deepEqual(pruned(listed('old', { labels: { 'dogwatch.dev/owner': 'uid-0' } }), listed('bare', { labels: {} })), []);
  });

  it('leaves what has only a copied label, but goes by the reference where the annotation is gone', () => {
    const ownerReferences = [{ apiVersion: 'lab.example/v1', kind: 'Ticket', name: 'one', uid: 'uid-1' }];
    assert.deepEqual(pruned(listed('copy', { annotations: {} }), listed('old', { annotations: {}, ownerReferences })), ['old']);
  });
});

describe('invalidPlan', () => {
  it('is the error an author throws, and ends where a refused Plan ends', () => {
    const error = invalidPlan('name too long', { name: 'x' });
    assert.deepEqual([error.code, error.message, error.facts], ['invalid-plan', 'name too long', { name: 'x' }]);
  });
});
