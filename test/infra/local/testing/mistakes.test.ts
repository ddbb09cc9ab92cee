/** What the bench says to whoever made a mistake. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownedKind } from '../../../../functions/core/owned-kind.ts';
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
  });

  it('knows what may be meant by a kind that is not there', async () => {
    await using bench = await startBench({ reconcilers: [greetingWith()] });
    await assert.rejects(bench.get('Greting', 'hello'), /serves no kind Greting; did you mean Greeting\?/);
    await assert.rejects(bench.list('Starship'), /serves no kind Starship; give its CustomResourceDefinition/);
    await assert.rejects(bench.get('Namespace', 'a/b'), /Namespace is cluster-scoped/);
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
});
