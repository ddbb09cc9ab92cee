/** Which of several cases is told first, and what is told beside it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain } from '../../../../functions/core/explain/explain.ts';
import type { FoundFacts, ObjectFacts } from '../../../../functions/core/explain/facts.ts';
import { type PlacedVerdict, tell } from '../../../../functions/core/explain/texts.ts';
import type { VerdictKind } from '../../../../functions/core/explain/verdict.ts';
import { answered, cluster, storedCrds, told } from '../doctor/healthy.ts';
import * as given from './facts.ts';
import { agoMs, claim, deletedClaim, found, letter, notReady, object, ready, unsettled, watching } from './facts.ts';

/** The verdict, and then what else is so. */
function kinds(facts: FoundFacts): VerdictKind[] {
  const { verdict, also } = explain(facts);
  return [verdict.kind, ...also.map(({ kind }) => kind)];
}

/** An identity that may do all but one thing. */
const onlyWithout = (verb: string) => (right: { readonly verb: string }) => told(right.verb !== verb);
const stalled = [notReady('AuthorError'), given.STALLED];
const noCrdStatus = cluster({
  definitions: new Map([...storedCrds()].map(([name]) => [name, told<unknown>({ spec: { versions: [] } })])),
});

describe('explain, where several cases hold', () => {
  it('tells everything that stops an object, in the order in which it has to be mended', () => {
    const all = claim({
      object: unsettled(60, { isPaused: true, outside: 'left out', conditions: [notReady('Forbidden'), given.STALLED], isHeld: true }),
      cluster: cluster({
        definitions: noCrdStatus.definitions,
        rights: { reconcile: answered('reconcile', onlyWithout('patch')), watcher: answered('watcher') },
      }),
      isNamespaceEnding: told(true),
      letters: told([letter({ code: 'forbidden' })]),
    });
    const order: VerdictKind[] = ['paused', 'not-selected', 'crd-lacks', 'namespace-ending', 'no-right', 'dead-letter'];
    assert.deepEqual(kinds(all), order);
    const mended: ((facts: FoundFacts) => FoundFacts)[] = [
      (facts) => ({ ...facts, object: { ...facts.object, isPaused: false } }),
      (facts) => ({ ...facts, object: { ...facts.object, outside: undefined } }),
      (facts) => ({ ...facts, cluster: { ...facts.cluster, definitions: storedCrds() } }),
      (facts) => ({ ...facts, isNamespaceEnding: told(false) }),
      (facts) => ({ ...facts, cluster: { ...facts.cluster, rights: {} } }),
      (facts) => ({ ...facts, letters: told([]) }),
    ];
    let facts = all;
    for (const [at, mend] of mended.entries()) {
      assert.equal(kinds(facts)[0], order[at]);
      facts = mend(facts);
    }
    assert.deepEqual(kinds(facts), ['given-up']);
  });

  it('does not ask selection, CRD and namespace for an object that is being deleted', () => {
    const facts = deletedClaim(60, { outside: 'left out' }, { isNamespaceEnding: told(true), cluster: noCrdStatus });
    assert.deepEqual(kinds(facts), ['held-by-us']);
  });

  it('tells of a failure beside a pause, and once where a letter tells of it', () => {
    const failing = unsettled(60, { conditions: [notReady('AuthorError')] });
    assert.deepEqual(kinds(found({ object: { ...failing, isPaused: true } })), ['paused', 'failing']);
    assert.deepEqual(kinds(found({ object: { ...failing, isPaused: true }, letters: told([letter()]) })), ['paused', 'dead-letter']);
  });

  it('infers nothing from silence of an object that is left alone', () => {
    assert.deepEqual(kinds(found({ object: unsettled(600, { isPaused: true }) })), ['paused']);
  });

  it('holds what would stop a run against nothing that is done', () => {
    assert.deepEqual(kinds(claim({ cluster: noCrdStatus, isNamespaceEnding: told(true) })), ['settled']);
    assert.deepEqual(kinds(found({ cluster: given.withoutStatusRight() })), ['settled']);
  });
});

describe('explain, by letters', () => {
  it('leaves aside those that ask for nothing any more', () => {
    assert.deepEqual(kinds(found({ letters: told([letter({ needsRun: false })]) })), ['settled']);
  });

  it('tells of one that asks for a run of a settled object, and of the newest of several', () => {
    const old = letter({ code: 'old', deadLetteredMs: agoMs(90) });
    const { verdict } = explain(
      found({ letters: told([old, letter({ code: 'newest' }), letter({ code: 'unknown', deadLetteredMs: undefined })]) }),
    );
    assert.ok(verdict.kind === 'dead-letter');
    assert.deepEqual([verdict.code, verdict.count], ['newest', 3]);
  });

  it('leaves aside one of a generation that is over while the present one is on its way, or fails by itself', () => {
    const letters = told([letter({ generation: 2 })]);
    assert.deepEqual(kinds(found({ object: unsettled(9), letters })), ['on-its-way']);
    assert.deepEqual(kinds(found({ object: unsettled(60, { conditions: [notReady('Invalid')] }), letters })), ['failing']);
    assert.deepEqual(kinds(found({ object: unsettled(60), letters })), ['dead-letter']);
    assert.deepEqual(kinds(found({ object: unsettled(9, { conditions: stalled }), letters })), ['dead-letter']);
  });

  it('takes what a letter says of the CRD for the case, since it would come back', () => {
    assert.deepEqual(kinds(found({ object: unsettled(60), letters: told([letter({ code: 'status-field-missing' })]) })), [
      'crd-lacks',
      'dead-letter',
    ]);
  });
});

describe('explain, by rights', () => {
  const cold = given.withoutStatusRight();
  const rows: readonly [where: string, object: ObjectFacts, first: VerdictKind][] = [
    ['the failure is another one', unsettled(60, { conditions: [notReady('AuthorError')] }), 'failing'],
    ['its message may still be on its way', unsettled(9), 'on-its-way'],
    ['nothing is heard of a run, which needs them to tell', unsettled(10), 'no-right'],
  ];
  for (const [where, one, first] of rows) {
    it(`says ${first} where rights are missing to whoever asks and ${where}`, () => {
      assert.equal(kinds(found({ object: one, cluster: cold }))[0], first);
    });
  }

  it('does not hold against the function what somebody may not do who can only look', () => {
    const isAllowed = ({ verb }: { readonly verb: string }) => told(verb === 'get' || verb === 'list');
    const looking = cluster({ rights: { reconcile: answered('reconcile', isAllowed), watcher: answered('watcher') } });
    assert.deepEqual(kinds(found({ object: unsettled(60), cluster: looking })), ['not-seen']);
    assert.deepEqual(kinds(found({ object: unsettled(60, { conditions: [notReady('Forbidden')] }), cluster: looking })), ['failing']);
  });

  it('names the process that lacks them', () => {
    const unitOf = (rights: FoundFacts['cluster']['rights']): unknown => {
      const { verdict } = explain(found({ object: unsettled(60), cluster: cluster({ rights }) }));
      return verdict.kind === 'no-right' ? verdict.unit : verdict.kind;
    };
    const none = { reconcile: answered('reconcile', onlyWithout('patch')), watcher: answered('watcher', onlyWithout('get')) };
    assert.equal(unitOf(none), 'reconcile');
    assert.equal(unitOf({ ...none, reconcile: answered('reconcile') }), 'watcher');
  });

  it('says failing where a run lacks a right that whoever asks has', () => {
    assert.deepEqual(kinds(found({ object: unsettled(60, { conditions: [notReady('Forbidden')] }) })), ['failing']);
  });
});

describe('explain, by what an object shows', () => {
  it('counts the changes of one that never comes to rest, since it was reconciled', () => {
    const textOf = (observedGeneration: number | undefined): string => {
      const { verdict } = explain(found({ object: unsettled(1, { generation: 9, observedGeneration }) }));
      assert.equal(verdict.kind, 'on-its-way');
      return tell(verdict as PlacedVerdict, given.TENANT).text;
    };
    assert.equal(textOf(2), 'on its way: it was changed 60 s ago, 7 times since it was reconciled');
    for (const observed of [8, undefined, 12]) assert.equal(textOf(observed), 'on its way: it was changed 60 s ago');
  });

  const rows: readonly [where: string, facts: FoundFacts, first: VerdictKind][] = [
    [
      'a failure of a generation that is over',
      found({ object: unsettled(5, { conditions: [ready({ status: 'False', reason: 'AuthorError', observedGeneration: 2 })] }) }),
      'on-its-way',
    ],
    [
      'Stalled of a generation that is over',
      found({ object: unsettled(5, { conditions: [{ ...given.STALLED, observedGeneration: 2 }] }) }),
      'on-its-way',
    ],
    ['a failure of ours after it was settled', found({ object: object({ conditions: [notReady('Forbidden')] }) }), 'failing'],
    [
      'what may pass, for an hour already',
      found({ object: unsettled(90, { conditions: [notReady('Throttled', 'wait', 60)] }) }),
      'failing',
    ],
    [
      "an author's own code while it is not settled",
      found({ object: unsettled(60, { conditions: [notReady('QuotaExceeded')] }) }),
      'failing',
    ],
    [
      'observedGeneration ahead of the generation, as after a restore',
      found({ object: unsettled(60, { observedGeneration: 9 }) }),
      'not-seen',
    ],
    ['no time at all at which it changed', found({ object: unsettled(undefined) }), 'not-seen'],
    ['not ready, and when it looks again', found({ object: object({ conditions: [notReady('NotYet')], nextMs: agoMs(-1) }) }), 'waiting'],
    ['a deletion whose finalize looks again later', deletedClaim(60, { nextMs: agoMs(-1) }), 'waiting'],
    ['a deletion whose finalize fails', deletedClaim(60, { conditions: [notReady('AuthorError')] }), 'failing'],
    ['a deletion that was given up', deletedClaim(60, { conditions: stalled }), 'given-up'],
    [
      'a deletion that has just begun, and others that hold it',
      deletedClaim(9, { isHeld: false, otherFinalizers: ['x.example/y'] }),
      'deleting',
    ],
    ['a deletion that the watcher does not see', deletedClaim(60, {}, { watcher: watching('other-clusters') }), 'watcher-without-cluster'],
    ['a deletion without any finalizer', deletedClaim(60, { isHeld: false }), 'deleting'],
  ];
  for (const [where, facts, first] of rows) it(`says ${first} where it shows ${where}`, () => assert.equal(kinds(facts)[0], first));

  it('takes for no fault of the watcher what passes within the time that a message may take', () => {
    const starting = watching({ isStreaming: false, phase: 'listing', lastEventAgeSeconds: undefined });
    assert.deepEqual(kinds(found({ object: unsettled(9), watcher: starting })), ['on-its-way']);
    assert.deepEqual(kinds(found({ object: unsettled(9), watcher: watching({ isStreaming: false, phase: undefined }) })), ['on-its-way']);
    assert.deepEqual(kinds(found({ object: unsettled(10), watcher: watching({ isStreaming: false, phase: undefined }) })), ['stream-down']);
    assert.deepEqual(kinds(found({ object: unsettled(10), watcher: watching({ outboxCount: 900 }) })), ['not-run']);
  });
});
