/** `dogwatch explain` on fakes: which object is meant, what is asked about it, and what is printed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExplainOptions } from '../../../functions/cli/explain.ts';
import { ConfigError, TransientError } from '../../../functions/core/errors.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';
import { LETTERS_URL } from '../../fakes/letter-queue.ts';
import { after } from '../core/example-data.ts';
import { letterBody } from '../replay/letters.ts';
import { ExplainScene } from './explain-scene.ts';

const DONE = {
  observedGeneration: 1,
  observedRevision: 1,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Reconciled',
      message: 'done',
      observedGeneration: 1,
      lastTransitionTime: '2026-03-01T12:00:01Z',
    },
  ],
};
const ACME = { name: 'acme' };
const spec = { owner: 'a@b.example' };

describe('dogwatch explain', () => {
  it('prints the verdict, the next step as a command, and then what was found', async () => {
    using scene = new ExplainScene(['east']);
    const { metadata } = scene.east.create(tenant.resource, ACME, {
      spec,
      status: DONE,
      metadata: { annotations: { 'dogwatch.dev/paused': '' } },
    });
    scene.queue.add(letterBody({ name: 'acme', uid: metadata.uid }));
    assert.equal(await scene.explain('tenant/acme', { queue: LETTERS_URL }), 1);
    assert.deepEqual(scene.printed, [
      'east: Tenant.platform.example acme: paused: nothing is done for it until the annotation goes',
      'next: resume it, if whoever set it agrees',
      '    kubectl --context east annotate tenants.platform.example acme dogwatch.dev/paused-',
      '',
      `object        uid ${metadata.uid}`,
      'generations   generation 1, observed 1, attempted 1, revision 1 (here 1)',
      'spec changed  2026-03-01T12:00:00Z, or before that',
      'condition     Ready=True Reconciled, generation 1, since 2026-03-01T12:00:01Z: done',
      'paused        yes',
      'filter        a watcher that starts skips it: paused',
      'letter        message-1, invalid, given up at 2026-03-01T12:01:00Z: reconciled since',
      'asked as      dogwatch, who need not be whom the function or the watcher comes as',
      'rights        has all that the function needs for this kind',
      'rights        has all that the watcher needs for this kind',
      'watcher       not known: nobody named its metrics, by --metrics',
    ]);
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('prints one line of JSON, and ends with 0 where nobody has to act', async () => {
    using scene = new ExplainScene(['east']);
    scene.east.create(tenant.resource, ACME, { spec, status: DONE });
    assert.equal(await scene.explain('tenants.platform.example/acme', { json: true }), 0);
    assert.equal(scene.printed.length, 1);
    const told = JSON.parse(scene.printed[0] ?? '') as Record<string, unknown>;
    const { cluster, kind, name, verdict, needsSomebody, command } = told;
    assert.deepEqual(
      { cluster, kind, name, verdict, needsSomebody, command },
      {
        ...{ cluster: 'east', kind: 'Tenant', name: 'acme', verdict: 'settled', needsSomebody: false },
        command: 'npm run -s dogwatch -- reconcile tenant/acme --cluster east',
      },
    );
  });

  it('shows nothing of a cluster that could move a cursor', async () => {
    using scene = new ExplainScene(['east']);
    const [condition] = DONE.conditions;
    scene.east.create(tenant.resource, ACME, {
      spec,
      status: { ...DONE, conditions: [{ ...condition, status: 'False', reason: 'X', message: 'a\u001b[2Jb' }] },
    });
    await scene.explain('tenant/acme');
    assert.match(scene.printed[0] ?? '', /not ready: X: a\ufffd\[2Jb/);
    assert.ok(!scene.printed.join('').includes('\u001b'));
  });
});

describe('dogwatch explain without --cluster', () => {
  it('means the one cluster that has the object, and says which others did not answer', async () => {
    using scene = new ExplainScene();
    scene.west.create(tenant.resource, ACME, { spec, status: DONE });
    scene.east.fault({ verb: 'get' }, { throw: new TransientError('timeout', 'no answer') });
    const told = await scene.json('tenant/acme');
    assert.deepEqual([told['cluster'], told['verdict']], ['west', 'settled']);
    assert.match(JSON.stringify(told['evidence']), /east was asked as well and did not answer \(timeout/);
  });

  it('names the clusters where several have it', async () => {
    using scene = new ExplainScene();
    for (const one of scene.clusters) one.create(tenant.resource, ACME, { spec });
    await assert.rejects(
      scene.explain('tenant/acme'),
      (error: ConfigError) => error.code === 'usage' && /it is in: east, west$/.test(error.message),
    );
  });

  it('does not say that it is gone while a cluster that may have it does not answer', async () => {
    using scene = new ExplainScene();
    scene.west.fault({ verb: 'get' }, { throw: new TransientError('unreachable', 'no way') });
    const told = await scene.json('tenant/acme');
    assert.deepEqual([told['cluster'], told['verdict']], ['west', 'cluster-unreachable']);
  });

  it('says where it looked', async () => {
    using scene = new ExplainScene();
    assert.equal(await scene.explain('tenant/acme'), 1);
    assert.match(scene.printed.join('\n'), /note +it was looked for in east, west/);
  });
});

describe('dogwatch explain of an object that is not there', () => {
  it('names the cluster that has it', async () => {
    using scene = new ExplainScene();
    scene.west.create(tenant.resource, ACME, { spec });
    assert.equal(await scene.explain('tenant/acme', { cluster: 'east' }), 1);
    assert.match(scene.printed[0] ?? '', /not there; there is one of that name in cluster west$/);
    assert.match(scene.printed[2] ?? '', /explain tenant\/acme --cluster west$/);
  });

  it('names the namespace that has it', async () => {
    using scene = new ExplainScene(['east']);
    scene.east.create(queueClaim.resource, { namespace: 'team', name: 'jobs' }, { spec: {} });
    await scene.explain('queueclaim/jobs');
    assert.match(scene.printed[0] ?? '', /default\/jobs: not there; there is one of that name in namespace team$/);
  });

  it('names the nearest of its namespace, or none, and goes on where it may not list', async () => {
    using scene = new ExplainScene(['east']);
    scene.east.create(queueClaim.resource, { namespace: 'team', name: 'jobs' }, { spec: {} });
    scene.east.create(queueClaim.resource, { namespace: 'other', name: 'jubs' }, { spec: {} });
    await scene.explain('queueclaim/jibs', { namespace: 'team' });
    assert.match(scene.printed[0] ?? '', /not there; there is jobs$/);
    await scene.explain('queueclaim/mails', { namespace: 'team' });
    assert.match(scene.printed[0] ?? '', /: not there$/);
    scene.east.fault({ verb: 'list' }, { throw: new TransientError('forbidden', 'no') }, 2);
    await scene.explain('queueclaim/jibs', { namespace: 'team' });
    assert.match(scene.printed.join('\n'), /: not there\n.*could not be listed \(forbidden/s);
  });

  it('tells of a letter that remembers what it left', async () => {
    using scene = new ExplainScene(['east']);
    const data = { kind: 'QueueClaim', plural: 'queueclaims', namespace: 'team', name: 'jobs', uid: 'u-9', reason: 'deleted' } as const;
    scene.queue.add(letterBody(data));
    assert.equal(await scene.verdict('queueclaim/jobs', { namespace: 'team', queue: LETTERS_URL }), 'left-behind');
    scene.queue.stored.length = 0;
    assert.equal(await scene.verdict('queueclaim/jobs', { namespace: 'team', queue: LETTERS_URL }), 'absent');
  });
});

describe('dogwatch explain of what it may not see', () => {
  const rows: readonly [code: string, verdict: string][] = [
    ['unauthorized', 'cluster-unauthorized'],
    ['forbidden', 'may-not-read'],
    ['not-served', 'not-served'],
    ['unreachable', 'cluster-unreachable'],
  ];
  for (const [code, verdict] of rows) {
    it(`says ${verdict} where the cluster answers ${code}`, async () => {
      using scene = new ExplainScene(['east']);
      scene.east.fault({ verb: 'get' }, { throw: new TransientError(code, 'no', { facts: { serverMessage: 'not you' } }) });
      const told = await scene.json('tenant/acme');
      assert.equal(told['verdict'], verdict);
    });
  }

  it('says cluster-unusable where the entry of the cluster is wrong', async () => {
    using scene = new ExplainScene(['east']);
    scene.unusable.add('east');
    assert.equal(await scene.verdict('tenant/acme'), 'cluster-unusable');
  });

  it('goes on where it may not read the namespace', async () => {
    using scene = new ExplainScene(['east']);
    scene.east.create(queueClaim.resource, { namespace: 'team', name: 'jobs' }, { spec: {}, status: DONE });
    scene.east.fault({ verb: 'getMetadata' }, { throw: new TransientError('forbidden', 'no') });
    assert.equal(await scene.explain('queueclaim/jobs', { namespace: 'team' }), 0);
    assert.match(scene.printed.join('\n'), /not checked +its namespace: forbidden: no/);
  });

  it('says that its namespace is being deleted', async () => {
    using scene = new ExplainScene(['east']);
    const namespaces = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', scope: 'Cluster' } as const;
    scene.east.create(namespaces, { name: 'team' }, { metadata: { finalizers: ['x.example/y'] } });
    scene.east.delete(namespaces, { name: 'team' });
    scene.east.create(queueClaim.resource, { namespace: 'team', name: 'jobs' }, { spec: {} });
    assert.equal(await scene.verdict('queueclaim/jobs', { namespace: 'team' }), 'namespace-ending');
  });
});

describe('dogwatch explain and dead letters', () => {
  it('takes those of the very object, judges them by it, and gives all back', async () => {
    using scene = new ExplainScene(['east']);
    const { metadata } = scene.east.create(tenant.resource, ACME, { spec });
    for (const over of [{ name: 'other' }, { cluster: 'west' }, { uid: 'u-before' }])
      scene.queue.add(letterBody({ name: 'acme', ...over }));
    assert.equal(await scene.verdict('tenant/acme', { queue: LETTERS_URL }), 'not-seen');
    scene.queue.add(letterBody({ name: 'acme', uid: metadata.uid }), { sentAtMs: after(60).getTime() });
    const told = await scene.json('tenant/acme', { queue: LETTERS_URL });
    assert.equal(told['verdict'], 'dead-letter');
    assert.match(String(told['command']), / --queue https:\/\/sqs\./);
    assert.equal(scene.queue.hiddenCount, 0);
  });

  it('looks at the queue of the environment, unless told not to, and at none where none is named', async () => {
    using scene = new ExplainScene(['east']);
    scene.east.create(tenant.resource, ACME, { spec, status: DONE });
    await scene.explain('tenant/acme');
    assert.match(
      scene.printed.join('\n'),
      /letters +not known: no dead-letter queue is named, by --queue or DOGWATCH_DEAD_LETTER_QUEUE_URL/,
    );
    scene.env = { ...scene.env, DOGWATCH_DEAD_LETTER_QUEUE_URL: LETTERS_URL };
    await scene.explain('tenant/acme', { letters: false });
    assert.match(scene.printed.join('\n'), /letters +not known: left out by --no-letters/);
    assert.equal(scene.queue.receiveCalls, 0);
    await scene.explain('tenant/acme');
    assert.match(scene.printed.join('\n'), /letters +none/);
    assert.ok(scene.queue.receiveCalls > 0);
  });

  it('tells the rest where the queue cannot be looked at', async () => {
    using scene = new ExplainScene(['east']);
    scene.east.create(tenant.resource, ACME, { spec, status: DONE });
    scene.queueFault = new ConfigError('aws-refused', 'sqs:ReceiveMessage is not allowed');
    assert.equal(await scene.explain('tenant/acme', { queue: LETTERS_URL }), 0);
    assert.match(scene.printed.join('\n'), /letters +not known: sqs:ReceiveMessage is not allowed/);
  });
});

describe('dogwatch explain, used wrongly', () => {
  const rows: readonly [name: string, words: string, options: ExplainOptions, says: RegExp][] = [
    ['no kind', 'acme', {}, /"acme" is not KIND\/NAME, such as tenant\/acme/],
    ['two slashes', 'tenant/a/b', {}, /is not KIND\/NAME/],
    ['a name that is none', 'tenant/Acme', {}, /"Acme" is not a DNS subdomain/],
    ['a namespace that is none', 'queueclaim/jobs', { namespace: '' }, /"" is no name of a namespace/],
    ['a namespace for a kind that is in none', 'tenant/acme', { namespace: 'team' }, /a Tenant is in no namespace/],
    ['a cluster that is not there', 'tenant/acme', { cluster: 'north' }, /no cluster is named north; there are: east, west/],
    ['metrics that are no URL', 'tenant/acme', { metrics: 'watcher:8080' }, /--metrics is no http or https URL/],
  ];
  for (const [name, words, options, says] of rows) {
    it(`is refused with ${name}`, async () => {
      using scene = new ExplainScene();
      await assert.rejects(scene.explain(words, options), (error: ConfigError) => error instanceof ConfigError && says.test(error.message));
      assert.equal(scene.east.requests.length, 0);
    });
  }

  it('is refused with a queue that is no URL of one', async () => {
    using scene = new ExplainScene(['east']);
    scene.east.create(tenant.resource, ACME, { spec });
    scene.queueFault = new ConfigError('usage', '--queue is no http or https URL');
    await assert.rejects(scene.explain('tenant/acme', { queue: 'x' }), /--queue is no http/);
  });

  it('says which kinds there are for one that no reconciler is for', async () => {
    using scene = new ExplainScene();
    assert.equal(await scene.verdict('tenat/acme'), 'unknown-kind');
    assert.equal(await scene.verdict('namespaces/acme'), 'owned-kind');
    assert.equal(scene.east.requests.length, 0);
  });
});
