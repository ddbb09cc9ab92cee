/** Each verdict once: the facts that lead to it, what it says, and the next step. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain } from '../../../../functions/core/explain/explain.ts';
import type { ExplainFacts, FoundFacts } from '../../../../functions/core/explain/facts.ts';
import { notAsked } from '../../../../functions/core/explain/facts.ts';
import { type PlacedVerdict, tell, tellKind } from '../../../../functions/core/explain/texts.ts';
import type { Told } from '../../../../functions/core/explain/told.ts';
import { exitCodeOf, NEEDS_SOMEBODY, type Verdict, type VerdictKind } from '../../../../functions/core/explain/verdict.ts';
import { cluster, told, untold } from '../doctor/healthy.ts';
import * as given from './facts.ts';
import { agoMs, claim, deletedClaim, found, notReady, object, unsettled, watching } from './facts.ts';

interface Row {
  readonly verdict: VerdictKind;
  readonly where: string;
  readonly facts: ExplainFacts;
  readonly exits: 0 | 1;
  readonly says: RegExp;
  readonly command: RegExp;
}

const nowhere = { clusters: [], namespaces: [], closestName: undefined };
const unknown = { kind: 'unknown-kind', name: 'acme', cluster: 'east', namespace: undefined, ownedBy: [] } as const;
const absent = (elsewhere: object, letters: FoundFacts['letters'] = told([])): ExplainFacts => ({
  ...{ kind: 'absent', place: given.TENANT, elsewhere: { ...nowhere, ...elsewhere }, letters, notes: [] },
});
const unread = (code: string): ExplainFacts => ({ kind: 'unread', place: given.TENANT, code, says: `${code}: so it was` });

const ROWS: readonly Row[] = [
  {
    verdict: 'unknown-kind',
    where: 'no reconciler is for the kind',
    facts: { ...unknown, asked: 'tenat', nearest: 'tenant', known: ['tenants.platform.example'] },
    exits: 1,
    says: /no reconciler is for a kind "tenat"; there are: tenants\.platform\.example/,
    command: /explain tenant\/acme --cluster east$/,
  },
  {
    verdict: 'owned-kind',
    where: 'the kind is that of children',
    facts: { ...unknown, asked: 'namespace', nearest: undefined, known: [], ownedBy: ['Tenant'] },
    exits: 1,
    says: /as a child.*Tenant/,
    command: /^kubectl --context east get namespace acme -o 'jsonpath=.*owner-ref/,
  },
  {
    verdict: 'cluster-unusable',
    where: 'the entry of the cluster cannot be used',
    facts: unread('kubeconfig-unreadable'),
    exits: 1,
    says: /cannot be asked from here/,
    command: /doctor --cluster east$/,
  },
  {
    verdict: 'cluster-unauthorized',
    where: 'the cluster answers 401',
    facts: unread('unauthorized'),
    exits: 1,
    says: /does not accept our credentials/,
    command: /doctor --cluster east$/,
  },
  {
    verdict: 'cluster-unreachable',
    where: 'the cluster does not answer',
    facts: unread('timeout'),
    exits: 1,
    says: /does not answer as it should \(timeout: so it was\)/,
    command: /doctor --cluster east$/,
  },
  {
    verdict: 'may-not-read',
    where: 'whoever asks may not read it',
    facts: unread('forbidden'),
    exits: 1,
    says: /may not get tenants\.platform\.example/,
    command: /doctor --cluster east --for reconcile$/,
  },
  {
    verdict: 'not-served',
    where: 'the cluster has no such kind',
    facts: unread('not-served'),
    exits: 1,
    says: /does not serve tenants\.platform\.example in v1/,
    command: /crds --apply --cluster east$/,
  },
  {
    verdict: 'absent',
    where: 'there is none of that name',
    facts: absent({ closestName: 'acmes' }),
    exits: 1,
    says: /^not there; there is acmes$/,
    command: /explain tenant\/acmes --cluster east$/,
  },
  {
    verdict: 'left-behind',
    where: 'it is gone, and a letter remembers what it left',
    facts: absent({}, told([given.letter({ because: 'gone, and what it left outside is not undone' })])),
    exits: 1,
    says: /what it left outside the cluster is not undone.*author-error/,
    command: /replay plan --cluster east --kind tenant --name acme$/,
  },
  {
    verdict: 'paused',
    where: 'somebody paused it',
    facts: found({ object: unsettled(60, { isPaused: true }) }),
    exits: 1,
    says: /^paused: nothing is done/,
    command: /^kubectl --context east annotate tenants\.platform\.example acme dogwatch\.dev\/paused-$/,
  },
  {
    verdict: 'held-by-former',
    where: 'its deletion waits for a finalizer that nobody takes off any more',
    facts: deletedClaim(60, { isHeld: false, otherFinalizers: ['x.example/old'], formerFinalizers: ['x.example/old'] }),
    exits: 1,
    says: /held by x\.example\/old, which an earlier release/,
    command: /edit queueclaims\.platform\.example jobs -n team$/,
  },
  {
    verdict: 'held-by-others',
    where: 'its deletion waits for others',
    facts: deletedClaim(60, { isHeld: false, otherFinalizers: ['theirs.example/x'] }),
    exits: 1,
    says: /for 60 min, and held by finalizers that are not ours: theirs\.example\/x/,
    command: /get queueclaims\.platform\.example jobs -n team -o/,
  },
  {
    verdict: 'not-selected',
    where: 'its reconciler is not for it',
    facts: found({ object: unsettled(60, { outside: 'its labels do not meet the selector of its reconciler, tier=gold' }) }),
    exits: 1,
    says: /^left alone: .*tier=gold/,
    command: /get tenants\.platform\.example acme --show-labels$/,
  },
  {
    verdict: 'crd-lacks',
    where: 'its CRD cannot keep what a run says',
    facts: found({ object: unsettled(60, { statusFault: 'the cluster dropped status.observedGeneration' }) }),
    exits: 1,
    says: /^never settled: the cluster dropped status\.observedGeneration/,
    command: /crds --apply --cluster east$/,
  },
  {
    verdict: 'namespace-ending',
    where: 'its namespace is being deleted',
    facts: claim({ object: unsettled(60, { isHeld: true }), isNamespaceEnding: told(true) }),
    exits: 1,
    says: /its namespace is being deleted/,
    command: /get namespace team -o/,
  },
  {
    verdict: 'no-right',
    where: 'a run fails for want of a right that is missing',
    facts: found({ object: unsettled(60, { conditions: [notReady('Forbidden')] }), cluster: given.withoutStatusRight() }),
    exits: 1,
    says: /oncall, who was asked for, may not patch tenants\.platform\.example\/status/,
    command: /rbac --for reconcile --cluster east \| kubectl --context east apply -f -$/,
  },
  {
    verdict: 'dead-letter',
    where: 'its message is a dead letter',
    facts: found({ object: unsettled(60, { conditions: [notReady('AuthorError'), given.STALLED] }), letters: told([given.letter()]) }),
    exits: 1,
    says: /a dead letter waits \(author-error: no quota\); not reconciled for its generation/,
    command: /replay plan --cluster east --kind tenant --name acme$/,
  },
  {
    verdict: 'given-up',
    where: 'it was given up, and there is no letter',
    facts: found({ object: unsettled(60, { conditions: [notReady('AuthorError'), given.STALLED] }) }),
    exits: 1,
    says: /given up for its generation \(AuthorError: it said no\), and its letter is not in the queue any more/,
    command: /reconcile tenant\/acme --cluster east$/,
  },
  {
    verdict: 'failing',
    where: 'it is tried, and fails for what somebody has to mend',
    facts: found({ object: unsettled(60, { conditions: [notReady('AuthorError', 'no quota')] }) }),
    exits: 1,
    says: /^failing, and tried again: AuthorError: no quota$/,
    command: /describe tenants\.platform\.example acme$/,
  },
  {
    verdict: 'retrying',
    where: 'it is tried, and fails for what may pass',
    facts: found({ object: unsettled(60, { conditions: [notReady('Throttled', 'wait', 5)] }) }),
    exits: 0,
    says: /^tried again after what may pass by itself: Throttled: wait$/,
    command: /explain tenant\/acme --cluster east$/,
  },
  {
    verdict: 'described',
    where: 'its kind is not ours',
    facts: found({ reconciler: given.described as unknown as FoundFacts['reconciler'], object: unsettled(60) }),
    exits: 0,
    says: /not ours: nothing in the cluster tells/,
    command: /reconcile tenant\/acme/,
  },
  {
    verdict: 'settled',
    where: 'all is well',
    facts: found(),
    exits: 0,
    says: /^reconciled and ready$/,
    command: /reconcile tenant\/acme --cluster east$/,
  },
  {
    verdict: 'not-ready',
    where: 'its author says that it is not ready',
    facts: found({ object: object({ conditions: [notReady('QuotaExceeded', 'ask for more')] }) }),
    exits: 1,
    says: /its reconciler says that it is not ready: QuotaExceeded: ask for more/,
    command: /describe tenants/,
  },
  {
    verdict: 'waiting',
    where: 'it wants to run again later',
    facts: found({ object: object({ nextMs: agoMs(-10) }) }),
    exits: 0,
    says: /^reconciled, and runs again at 2026-03-01T12:10:00Z, in 10 min$/,
    command: /reconcile tenant\/acme/,
  },
  {
    verdict: 'due',
    where: 'its time has just come',
    facts: found({ object: object({ nextMs: agoMs(14) }) }),
    exits: 0,
    says: /due to run again since 14 min/,
    command: /explain tenant\/acme/,
  },
  {
    verdict: 'overdue',
    where: 'its time is long past',
    facts: found({ object: object({ nextMs: agoMs(15) }) }),
    exits: 1,
    says: /overdue: it was to run again 15 min ago/,
    command: /reconcile tenant\/acme/,
  },
  {
    verdict: 'deleting',
    where: 'its deletion has just begun',
    facts: deletedClaim(1),
    exits: 0,
    says: /^being deleted since 60 s, held by platform\.example\/queue/,
    command: /explain queueclaim\/jobs -n team --cluster east$/,
  },
  {
    verdict: 'held-by-us',
    where: 'its deletion waits for us, and nothing is heard of a run',
    facts: deletedClaim(60),
    exits: 1,
    says: /held by our finalizer platform\.example\/queue.*: nothing shows that finalize was tried/,
    command: /reconcile queueclaim\/jobs -n team --cluster east$/,
  },
  {
    verdict: 'other-revision',
    where: 'another revision of its reconciler did the work',
    facts: found({ object: object({ isSettled: false, observedRevision: 2 }) }),
    exits: 1,
    says: /by revision 2 of its reconciler, and here it is 1/,
    command: /reconcile tenant\/acme/,
  },
  {
    verdict: 'on-its-way',
    where: 'it was changed a moment ago',
    facts: found({ object: unsettled(9) }),
    exits: 0,
    says: /^on its way: it was changed 9 min ago$/,
    command: /explain tenant\/acme/,
  },
  {
    verdict: 'watcher-without-cluster',
    where: 'the watcher does not follow its cluster',
    facts: found({ object: unsettled(1), watcher: watching('other-clusters') }),
    exits: 1,
    says: /east is not among the clusters that the watcher follows/,
    command: /logs deploy\/dogwatch-watcher/,
  },
  {
    verdict: 'watcher-without-kind',
    where: 'the watcher does not follow its kind',
    facts: found({ object: unsettled(1), watcher: watching('other-kinds') }),
    exits: 1,
    says: /follows its cluster and not its kind/,
    command: /logs deploy\/dogwatch-watcher/,
  },
  {
    verdict: 'stream-down',
    where: "the watcher's stream is down",
    facts: found({
      object: unsettled(1),
      watcher: watching({ isStreaming: false, phase: 'failing', error: { code: 'forbidden', message: 'may not list' } }),
    }),
    exits: 1,
    says: /stream of its kind is down \(forbidden: may not list\)/,
    command: /doctor --cluster east --for watcher$/,
  },
  {
    verdict: 'not-listed',
    where: 'the watcher does not come to the end of its list',
    facts: found({ object: unsettled(60), watcher: watching({ isStreaming: false, phase: 'listing' }) }),
    exits: 1,
    says: /still reading its kind/,
    command: /logs deploy/,
  },
  {
    verdict: 'stream-silent',
    where: 'the watcher hears nothing',
    facts: found({ object: unsettled(60), watcher: watching({ lastEventAgeSeconds: 316 }) }),
    exits: 1,
    says: /has heard nothing of its kind for 5 min/,
    command: /logs deploy/,
  },
  {
    verdict: 'not-sent',
    where: 'SQS refuses its messages',
    facts: found({ object: unsettled(60), watcher: watching({ refusedCount: 3 }) }),
    exits: 1,
    says: /SQS refused 3 messages/,
    command: /logs deploy/,
  },
  {
    verdict: 'not-run',
    where: 'the watcher sent its message, and nothing is heard of a run',
    facts: found({ object: unsettled(60), watcher: watching() }),
    exits: 1,
    says: /^not reconciled for 60 min: the watcher follows its kind/,
    command: /doctor --stage \$STAGE$/,
  },
  {
    verdict: 'not-seen',
    where: 'nothing is heard of a run, nor of the watcher',
    facts: found({ object: unsettled(60) }),
    exits: 1,
    says: /no run shows itself on it, and nobody says what the watcher sees/,
    command: /reconcile tenant\/acme/,
  },
];

function toldOf(verdict: Verdict, facts: ExplainFacts): Told {
  if (facts.kind === 'unknown-kind') return tellKind(verdict as Exclude<Verdict, PlacedVerdict>, facts);
  return tell(verdict as PlacedVerdict, facts.place);
}

describe('explain', () => {
  for (const { verdict, where, facts, exits, says, command } of ROWS) {
    it(`says ${verdict} where ${where}`, () => {
      const { verdict: found } = explain(facts);
      assert.equal(found.kind, verdict);
      assert.equal(exitCodeOf(found), exits);
      const line = toldOf(found, facts);
      assert.match(line.text, says);
      assert.match(line.command, command);
      for (const text of Object.values(line)) assert.doesNotMatch(text, /undefined|NaN|\n/);
    });
  }

  it('takes no other name to be meant where a letter says that there was one of this', () => {
    const letters = told([given.letter({ needsRun: false, because: 'not in its cluster any more' })]);
    const { verdict } = explain(absent({ closestName: 'acmes' }, letters));
    const { text, command } = tell(verdict as PlacedVerdict, given.TENANT);
    assert.equal(text, 'gone; a dead letter of it is left, which needs nothing');
    assert.match(command, /replay plan --cluster east --kind tenant --name acme$/);
  });

  it('has a row above for each verdict', () => {
    assert.deepEqual(ROWS.map(({ verdict }) => verdict).sort(), Object.keys(NEEDS_SOMEBODY).sort());
  });
});

describe('explain, without answers of others', () => {
  it('still says what the object shows', () => {
    const silent = { letters: untold('queue-unreachable'), watcher: untold('no-answer'), isNamespaceEnding: untold('forbidden') };
    const cold = cluster({ rights: {}, served: new Map(), definitions: new Map(), user: untold('not-served') });
    const stalled = unsettled(60, { conditions: [notReady('AuthorError'), given.STALLED] });
    const { verdict } = explain(claim({ ...silent, cluster: cold, object: stalled }));
    assert.deepEqual(verdict, { kind: 'given-up', failure: { reason: 'AuthorError', message: 'it said no' }, isLooked: false });
    assert.equal(explain(found({ ...silent, cluster: cold, letters: notAsked('no') })).verdict.kind, 'settled');
  });
});
