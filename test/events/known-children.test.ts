import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ChildVerdict, KnownChildren, type ObservedChild } from '../../events/known-children.ts';

/** Child uid1 of owner1 at version 10, all its fields ours. */
function child(overrides: Partial<ObservedChild> = {}): ObservedChild {
  const ownFields = { digest: 5, count: 4 };
  return {
    uid: 'uid1',
    resourceVersion: '10',
    ownerUid: 'owner1',
    isDeleting: false,
    ownFields,
    cells: [7, 8],
    isMarked: true,
    ...overrides,
  };
}

function known(...children: ObservedChild[]): KnownChildren {
  const remembered = new KnownChildren();
  for (const each of children) remembered.remember(each, 'watch');
  return remembered;
}

function text(verdict: ChildVerdict): string {
  return verdict.kind === 'skip' ? `skip ${verdict.reason}` : [`pass ${verdict.news} ${verdict.ownerUid}`, ...verdict.columns].join(' ');
}

describe('a sight of a child', () => {
  const next = (overrides: Partial<ObservedChild>): ObservedChild => child({ resourceVersion: '11', ...overrides });
  const less = { digest: 6, count: 3 };
  const more = { digest: 7, count: 5 };
  const rows: readonly (readonly [name: string, before: ObservedChild | undefined, now: ObservedChild, watch: string, list: string])[] = [
    ['not seen before', undefined, child(), 'skip first-sight', 'skip first-sight'],
    ['not seen before, being deleted', undefined, child({ isDeleting: true }), 'skip first-sight', 'skip first-sight'],
    ['with a copied label', undefined, child({ isMarked: false }), 'skip not-ours', 'skip not-ours'],
    ['at the same version', child(), child(), 'skip not-changed', 'skip not-changed'],
    ['at an older version', child(), child({ resourceVersion: '9', ownFields: less }), 'skip older', 'pass own-fields owner1'],
    ['with another status or foreign fields', child(), next({}), 'skip own-fields-unchanged', 'skip own-fields-unchanged'],
    ['that lost a field of ours', child(), next({ ownFields: less }), 'pass own-fields owner1', 'pass own-fields owner1'],
    ['whose managedFields were wiped', child(), next({ ownFields: undefined }), 'pass own-fields owner1', 'pass own-fields owner1'],
    [
      'that got other fields of ours',
      child(),
      next({ ownFields: { digest: 6, count: 4 } }),
      'pass own-fields owner1',
      'pass own-fields owner1',
    ],
    ['that got more fields of ours', child(), next({ ownFields: more }), 'skip own-fields-grown', 'pass own-fields owner1'],
    ['that is ours again', child({ ownFields: undefined }), next({}), 'skip own-fields-grown', 'pass own-fields owner1'],
    ['whose deletion began', child(), next({ isDeleting: true }), 'pass deleting owner1', 'pass deleting owner1'],
    [
      'that is still being deleted',
      child({ isDeleting: true }),
      next({ isDeleting: true, ownFields: less }),
      'skip deleting',
      'skip deleting',
    ],
    ['with another owner', child(), next({ ownerUid: 'owner2', ownFields: less }), 'pass moved owner1', 'pass moved owner1'],
    ['whose label was put right', child({ ownerUid: 'owner2', ownFields: less }), next({}), 'pass moved owner2', 'pass moved owner2'],
    ['with another cell', child(), next({ cells: [7, 9] }), 'pass cells owner1 1', 'pass cells owner1 1'],
    ['with two other cells', child(), next({ cells: [1, 9] }), 'pass cells owner1 0 1', 'pass cells owner1 0 1'],
    [
      'with another cell beside our own apply',
      child(),
      next({ cells: [7, 9], ownFields: more }),
      'pass cells owner1 1',
      'pass own-fields owner1',
    ],
    ['with no cells for a while', child(), next({ cells: [] }), 'skip own-fields-unchanged', 'skip own-fields-unchanged'],
  ];
  for (const [name, before, now, watch, list] of rows) {
    it(`${name} is ${watch === list ? watch : `${watch} in a watch, ${list} in a list`}`, () => {
      const remembered = before === undefined ? known() : known(before);
      assert.deepEqual([text(remembered.judge(now, 'watch')), text(remembered.judge(now, 'list'))], [watch, list]);
    });
  }

  it('is judged again until it is remembered', () => {
    const remembered = known(child());
    const drifted = next({ ownFields: less });
    assert.equal(text(remembered.judge(drifted, 'watch')), text(remembered.judge(drifted, 'watch')));
    remembered.remember(drifted, 'watch');
    assert.equal(text(remembered.judge(drifted, 'watch')), 'skip not-changed');
  });

  it('that is older is not remembered from a watch, but from a list, which is the truth', () => {
    const remembered = known(child());
    const old = child({ resourceVersion: '9', ownFields: less });
    remembered.remember(old, 'watch');
    assert.equal(text(remembered.judge(old, 'list')), 'pass own-fields owner1');
    remembered.remember(old, 'list');
    assert.equal(text(remembered.judge(next({ ownFields: less }), 'watch')), 'skip own-fields-unchanged');
  });

  it('with nothing but a copied label is not remembered', () => {
    assert.equal(known(child({ isMarked: false })).size, 0);
  });

  it('that lost every mark but the label after it was known is drift', () => {
    assert.equal(text(known(child()).judge(next({ ownFields: undefined, isMarked: false }), 'watch')), 'pass own-fields owner1');
  });
});

describe('the end of a child', () => {
  it('wakes the owner that we knew, not the one that the last label names', () => {
    assert.equal(text(known(child()).judgeRemoved(child({ resourceVersion: '12', ownerUid: 'owner2' }))), 'pass gone owner1');
  });

  it('wakes the owner that the frame names where we never knew the child', () => {
    assert.equal(text(known().judgeRemoved(child())), 'pass gone owner1');
  });

  it('wakes nobody for an object with a copied label, or for a frame that is older', () => {
    assert.equal(text(known().judgeRemoved(child({ isMarked: false }))), 'skip not-ours');
    assert.equal(text(known(child()).judgeRemoved(child({ resourceVersion: '9' }))), 'skip older');
  });
});

describe('a list of children', () => {
  const names = (remembered: KnownChildren) => [...remembered.endList()].map(({ uid, ownerUid }) => `${uid} of ${ownerUid}`);

  it('that is complete tells what it did not show, which is known until it is forgotten', () => {
    const remembered = known(child(), child({ uid: 'uid2', ownerUid: 'owner2' }));
    remembered.beginList();
    remembered.remember(child(), 'list');
    assert.deepEqual(names(remembered), ['uid2 of owner2']);
    assert.equal(remembered.size, 2);
    remembered.forget('uid2');
    assert.equal(remembered.size, 1);
  });

  it('may be emptied of what it tells while it is read', () => {
    const remembered = known(child(), child({ uid: 'uid2' }), child({ uid: 'uid3' }));
    remembered.beginList();
    for (const { uid } of remembered.endList()) remembered.forget(uid);
    assert.equal(remembered.size, 0);
  });

  it('that was given up, or never begun, tells nothing', () => {
    const remembered = known(child());
    assert.deepEqual(names(remembered), []);
    remembered.beginList();
    remembered.abandonList();
    assert.deepEqual(names(remembered), []);
  });

  it('takes a child for shown that an older frame shows meanwhile', () => {
    const remembered = known(child());
    remembered.beginList();
    remembered.remember(child({ resourceVersion: '9' }), 'watch');
    assert.deepEqual(names(remembered), []);
  });
});

describe('a watched child, whatever is written to it', () => {
  type Write = 'own-apply' | 'foreign-take' | 'status' | 'delete';
  const writes = fc.array(fc.constantFrom<Write>('own-apply', 'foreign-take', 'status', 'delete'), { maxLength: 30 });

  it('wakes its owner once for each field that is taken and for its end, and for nothing else', () => {
    fc.assert(
      fc.property(writes, (steps) => {
        const remembered = known(child({ ownFields: { digest: 4, count: 4 } }));
        let count = 4;
        let uid = 1;
        for (const [at, write] of steps.entries()) {
          const before = count;
          if (write === 'own-apply') count = 4;
          if (write === 'foreign-take') count = Math.max(0, count - 1);
          const now = child({ uid: `uid${uid}`, resourceVersion: String(11 + at), ownFields: { digest: count, count } });
          const verdict = write === 'delete' ? remembered.judgeRemoved(now) : remembered.judge(now, 'watch');
          assert.equal(verdict.kind === 'pass', write === 'delete' || count < before, `${write} at ${at}: ${text(verdict)}`);
          if (write !== 'delete') {
            remembered.remember(now, 'watch');
            continue;
          }
          remembered.forget(now.uid);
          uid += 1;
          count = 4;
          remembered.remember(child({ uid: `uid${uid}`, resourceVersion: String(11 + at), ownFields: { digest: 4, count } }), 'watch');
        }
      }),
    );
  });
});
