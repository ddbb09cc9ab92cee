/** What the bench says to whoever made a mistake. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeResource } from '../../../../functions/core/described-resource.ts';
import { configMaps } from '../../../../functions/core/kinds.ts';
import { ownedKind } from '../../../../functions/core/owned-kind.ts';
import { defineReconciler } from '../../../../functions/core/reconciler.ts';
import { type BenchOptions, startBench } from '../../../../infra/local/testing/index.ts';
import { greetingObject, greetingWith } from './greeting.ts';

const deployments = ownedKind({ group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', scope: 'Namespaced' });

describe('a bench that cannot start', () => {
  const faults: readonly [name: string, options: BenchOptions, message: RegExp][] = [
    ['two reconcilers of one kind', { reconcilers: [greetingWith(), greetingWith()] }, /Greeting\.platform\.example has two reconcilers/],
    [
      'a kind that is not there',
      { reconcilers: [greetingWith({ owns: [deployments] })] },
      /owns or reads Deployment\.apps, .*give its Custom.* in crds/,
    ],
    ['a setting out of bounds', { reconcilers: [], settings: { maxAttempts: 0 } }, /DOGWATCH_MAX_ATTEMPTS "0" is not a whole number/],
    [
      'what is no reconciler',
      { reconcilers: [undefined as never] },
      /reconcilers\[0\] is no reconciler; give what defineReconciler returned/,
    ],
    ['a cluster that is named twice', { reconcilers: [], clusters: ['a', 'b', 'a'] }, /clusters names a twice/],
    ['a name that no cluster can have', { reconcilers: [], clusters: ['East'] }, /East/],
    ['no cluster', { reconcilers: [], clusters: [] }, /clusters is empty/],
    ['a CRD that is no YAML', { reconcilers: [], crds: ['a: ['] }, /manifest:1:/],
    ['no list of reconcilers', {} as never, /reconcilers is no list; give what defineReconciler returned, in an array/],
  ];
  for (const [name, options, message] of faults) {
    it(`says so of ${name}`, () => assert.rejects(startBench(options), { message }));
  }
});

describe('a bench', () => {
  it('names the field of a manifest that the schema refuses', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    await assert.rejects(bench.apply(greetingObject('')), /cluster test refuses Greeting hello: .*spec\.text: Invalid value/);
    const text = 'apiVersion: platform.example/v1\nkind: Greeting\nmetadata: {name: hello}\nspec: {text: hi, size: 3}\n';
    await assert.rejects(bench.apply(text), /\.spec\.size: field not declared in schema|spec\.size/);
    await assert.rejects(bench.apply('kind: Greeting'), /manifest: apiVersion is missing/);
    await assert.rejects(bench.apply({} as never), { code: 'bad-manifest', message: 'manifest: apiVersion is missing' });
    await assert.rejects(bench.apply(undefined as never), { code: 'bad-manifest' });
  });

  it('knows what may be meant by a kind that is not there', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    await assert.rejects(bench.get('Greting', 'hello'), /serves no kind Greting; did you mean Greeting\?/);
    await assert.rejects(bench.list('Starship'), /serves no kind Starship; give its CustomResourceDefinition/);
    await assert.rejects(bench.get('Namespace', 'a/b'), /Namespace is cluster-scoped/);
    await assert.rejects(bench.get('Greeting', 'a/b/c'), /a\/b\/c is no name of a Greeting: it is hello, or team\/hello/);
    await assert.rejects(bench.get('Greeting', ''), { code: 'bad-name' });
  });

  it('shows a Plan that is refused as a dead letter that says why', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith({ owns: [] })], settings: { maxAttempts: 1 } });
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.match(bench.deadLetters[0]?.message ?? '', /ConfigMap/);
  });

  it('says what keeps it busy: object, reasons, branch, attempt and error', async () => {
    const reconcile = async (): Promise<never> => {
      throw new Error('not yet');
    };
    await using bench = await startBench({ reconcilers: [greetingWith({ reconcile })] });
    await bench.apply(greetingObject('hi'));
    await assert.rejects(bench.settle({ maxRuns: 3 }), (error: Error) => {
      assert.deepEqual(error.message.split('\n'), [
        'Greeting default/hello in test has run 3 times and is not at rest',
        '  Greeting default/hello in test: runs by reason: created 1, retry 3; the last one: author-error, attempt 3 (author-error: not yet)',
      ]);
      return true;
    });
    await assert.rejects(
      bench.settle({ withinSeconds: 1 }),
      /the bench is not quiet after 1 s of virtual time\n {2}Greeting default\/hello/,
    );
  });

  it('does one thing at a time', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    const first = bench.settle();
    await assert.rejects(bench.settle(), /settle or advance is running already/);
    await first;
  });

  it('takes no time that does not pass, and no bound that is none', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    for (const seconds of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      await assert.rejects(bench.advance(seconds), { code: 'bad-number', message: `seconds is ${seconds}; give a number, 0 or more` });
    await assert.rejects(bench.settle({ maxRuns: Number.NaN }), { message: 'maxRuns is NaN; give a number, 0 or more' });
    const tooLong = 'advance is asked for 60 s, and withinSeconds allows 30';
    await assert.rejects(bench.advance(60, { withinSeconds: 30 }), { code: 'bad-number', message: tooLong });
    await bench.advance(200_000); // more than what settle may let pass
    await assert.rejects(bench.settle({ withinSeconds: -1 }), { message: 'withinSeconds is -1; give a number, 0 or more' });
  });

  it('says that objects make objects, each of which makes the next', async () => {
    const endless = defineReconciler({
      resource: describeResource(configMaps),
      owns: [configMaps],
      async reconcile({ object: { metadata } }) {
        const { namespace = '', name } = metadata;
        const next = `next-${Number(name.replace('next-', '')) + 1}`;
        return { apply: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: next, namespace } }] };
      },
    });
    await using bench = await startBench({ reconcilers: [endless] });
    await bench.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'next-0' } });
    await assert.rejects(
      bench.settle(),
      /^BenchError: ConfigMap default\/next-100 in test is the last of more than 100 objects, each made by a run of the one before, with no end in sight\n/,
    );
  });

  it('says that it is closed, for an await that is missing', async () => {
    const bench = await startBench({ reconcilers: [greetingWith()] });
    await bench.close();
    await bench.close();
    for (const ask of [
      () => bench.settle(),
      () => bench.advance(1),
      () => bench.get('Greeting', 'hello'),
      () => bench.apply(greetingObject('hi')),
    ])
      await assert.rejects(ask(), { code: 'closed', message: 'the bench is closed; await what is asked of it before the test ends' });
  });
});
