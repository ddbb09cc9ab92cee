/** Reading at a position, and in pages. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { assertDone, assertRefused, type Lab } from './lab.ts';

const NO_NUMBERS = ['abc', '-1', 'undefined'];
const TOO_LARGE = {
  status: 504,
  reason: 'Timeout',
  message: /^Timeout: Too large resource version: \d+, current: \d+$/,
  causes: ['ResourceVersionTooLarge undefined'],
  details: { retryAfterSeconds: 1 },
};

/** So far ahead that no test gets there. */
const future = async (lab: Lab): Promise<string> => String(BigInt(await lab.position('widgets')) + 100_000n);

async function labelled(lab: Lab, count: number): Promise<{ readonly selector: string; readonly names: string[] }> {
  const label = lab.name('pages');
  const names: string[] = [];
  for (let i = 0; i < count; i += 1) {
    names.push((await lab.create('atomics', {}, { name: `${label}-${i}`, labels: { pages: label } })).metadata.name);
  }
  return { selector: `labelSelector=pages%3D${label}`, names };
}

const at: readonly ContractCase[] = [
  {
    name: 'GET and LIST at a version that is reached answer at once',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const query = `?resourceVersion=${metadata.resourceVersion}`;
      assert.deepEqual(assertDone(await lab.send('GET', lab.path('widgets', metadata.name) + query)).metadata, metadata);
      assertDone(await lab.send('GET', lab.path('widgets') + query));
    },
  },
  {
    name: 'GET of a version that comes soon waits for it',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const version = BigInt(await lab.position('widgets')) + 1n;
      const reading = lab.send('GET', `${lab.path('widgets', metadata.name)}?resourceVersion=${version}`);
      await lab.merge('widgets', metadata.name, { spec: { size: 4 } });
      await lab.create('widgets');
      const body = assertDone(await reading);
      assert.equal(body.metadata.name, metadata.name);
    },
  },
  {
    name: 'GET, LIST and an exact LIST of a version far ahead are told so after three seconds',
    async run(lab) {
      const version = await future(lab);
      const { metadata } = await lab.create('widgets');
      const begin = Date.now();
      const answers = await Promise.all(
        [`/${metadata.name}?`, '?', '?resourceVersionMatch=Exact&'].map((rest) =>
          lab.send('GET', `${lab.path('widgets')}${rest}resourceVersion=${version}`),
        ),
      );
      assert.ok(Date.now() - begin >= 2500, 'did not wait');
      for (const answer of answers) {
        assertRefused(answer, { ...TOO_LARGE, causes: undefined as never, details: undefined as never });
        assert.equal(answer.body.details.causes[0].reason, 'ResourceVersionTooLarge');
        assert.deepEqual([answer.body.details.retryAfterSeconds, answer.headers['retry-after']], [1, '1']);
      }
    },
  },
  {
    name: 'an absent object is absent at a version that is reached, too',
    async run(lab) {
      const version = await lab.position('widgets');
      assertRefused(await lab.send('GET', `${lab.path('widgets', 'none')}?resourceVersion=${version}`), {
        status: 404,
        reason: 'NotFound',
      });
    },
  },
  ...['0', '1', '0001'].map(
    (version): ContractCase => ({
      name: `GET and LIST at version ${version} are served`,
      async run(lab) {
        const { metadata } = await lab.create('widgets');
        assertDone(await lab.send('GET', `${lab.path('widgets')}?resourceVersion=${version}`));
        assert.ok((await lab.send('GET', `${lab.path('widgets', metadata.name)}?resourceVersion=${version}`)).status < 500);
      },
    }),
  ),
  ...NO_NUMBERS.map(
    (version): ContractCase => ({
      name: `a version of ${version} is a server error without a reason for GET and WATCH, and a bad request for LIST`,
      async run(lab) {
        const { metadata } = await lab.create('widgets');
        for (const path of [`/${metadata.name}?`, '?watch=true&']) {
          const answer = await lab.send('GET', `${lab.path('widgets')}${path}resourceVersion=${version}`);
          assertRefused(answer, { status: 500, message: /^resourceVersion: Invalid value: / });
        }
        const listed = await lab.send('GET', `${lab.path('widgets')}?resourceVersion=${version}`);
        const message = /^invalid resource version: resourceVersion: Invalid value: /;
        assertRefused(listed, { status: 400, reason: 'BadRequest', message });
      },
    }),
  ),
  {
    name: 'an exact LIST shows the state of that version, and is at it',
    async run(lab) {
      const { selector, names } = await labelled(lab, 2);
      const version = await lab.position('atomics');
      await lab.merge('atomics', String(names[0]), { spec: { size: 8 } });
      await lab.send('DELETE', lab.path('atomics', names[1]));
      const body = assertDone(
        await lab.send('GET', `${lab.path('atomics')}?${selector}&resourceVersion=${version}&resourceVersionMatch=Exact`),
      );
      assert.equal(body.metadata.resourceVersion, version);
      assert.deepEqual(
        body.items.map(({ metadata, spec }: { metadata: { name: string }; spec?: { size?: number } }) => [metadata.name, spec?.size]),
        names.map((name) => [name, undefined]),
      );
    },
  },
  {
    name: 'a LIST not older than a write has it',
    async run(lab) {
      const { metadata } = await lab.create('widgets');
      const query = `?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3D${metadata.name}`;
      for (const more of ['', '&limit=5']) {
        const { items } = assertDone(await lab.send('GET', lab.path('widgets') + query + more));
        assert.deepEqual([items.length, items[0].metadata.name], [1, metadata.name]);
      }
    },
  },
];

const pages: readonly ContractCase[] = [
  {
    name: 'pages are of one version, in the order of names, whatever happens in between',
    async run(lab) {
      const { selector, names } = await labelled(lab, 5);
      const path = `${lab.path('atomics')}?limit=2&${selector}`;
      const first = assertDone(await lab.send('GET', path));
      await lab.send('DELETE', lab.path('atomics', names[3]));
      await lab.create('atomics', {}, { name: `${names[2]}-later`, labels: { pages: names[0]?.replace(/-0$/, '') } });
      const second = assertDone(await lab.send('GET', `${path}&continue=${first.metadata.continue}`));
      const third = assertDone(await lab.send('GET', `${path}&continue=${second.metadata.continue}`));
      const seen = [first, second, third].flatMap(({ items }) =>
        items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      );
      assert.deepEqual(seen, names);
      assert.deepEqual([second.metadata.resourceVersion, third.metadata.resourceVersion], Array(2).fill(first.metadata.resourceVersion));
    },
  },
  {
    name: 'a page tells how many are left, unless there is a selector',
    async run(lab) {
      // A namespace that no other case lists.
      const path = lab.path('atomics', '', '', 'default');
      for (const name of ['a', 'b', 'c']) {
        const body = lab.object('atomics', name, {}, { labels: { pages: 'left' } });
        assert.equal((await lab.send('POST', path, { body })).status, 201);
      }
      const first = assertDone(await lab.send('GET', `${path}?limit=2`));
      assert.deepEqual([typeof first.metadata.continue, first.metadata.remainingItemCount], ['string', 1]);
      const selected = assertDone(await lab.send('GET', `${path}?limit=2&labelSelector=pages%3Dleft`));
      assert.deepEqual([selected.items.length, selected.metadata.remainingItemCount], [2, undefined]);
    },
  },
  {
    name: 'the whole kind is walked by pages, over all namespaces as well',
    async run(lab) {
      await labelled(lab, 2);
      for (const path of [lab.path('atomics'), lab.path('atomics', '', '', '')]) {
        let [count, token, version] = [0, '', ''];
        do {
          const { items, metadata } = assertDone(await lab.send('GET', `${path}?limit=2${token === '' ? '' : `&continue=${token}`}`));
          count += items.length;
          token = metadata.continue;
          version = metadata.resourceVersion;
        } while (token !== '');
        const exact = await lab.send('GET', `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`);
        assert.equal(count, assertDone(exact).items.length);
      }
    },
  },
  {
    name: 'a limit below zero is none',
    async run(lab) {
      await labelled(lab, 2);
      const { items, metadata } = assertDone(await lab.send('GET', `${lab.path('atomics')}?limit=-1`));
      assert.ok(items.length >= 2);
      assert.equal(metadata.continue, '');
    },
  },
  {
    name: 'a list of one name is one page',
    async run(lab) {
      const { names } = await labelled(lab, 2);
      const { items, metadata } = assertDone(
        await lab.send('GET', `${lab.path('atomics')}?limit=1&fieldSelector=metadata.name%3D${names[0]}`),
      );
      assert.deepEqual([items.length, metadata.continue], [1, '']);
    },
  },
  {
    name: 'a token that is none is refused',
    async run(lab) {
      const answer = await lab.send('GET', `${lab.path('atomics')}?limit=1&continue=garbage`);
      assertRefused(answer, { status: 400, reason: 'BadRequest', message: /continue/ });
    },
  },
  {
    name: 'a token beside a version is refused, beside version 0 it is not',
    async run(lab) {
      await labelled(lab, 2);
      const { metadata } = assertDone(await lab.send('GET', `${lab.path('atomics')}?limit=1`));
      const path = `${lab.path('atomics')}?limit=1&continue=${metadata.continue}`;
      assertRefused(await lab.send('GET', `${path}&resourceVersion=${metadata.resourceVersion}`), { status: 400, reason: 'BadRequest' });
      assertDone(await lab.send('GET', `${path}&resourceVersion=0`));
    },
  },
];

const BAD_OPTIONS: readonly (readonly [query: string, causes: readonly string[]])[] = [
  ['resourceVersionMatch=NotOlderThan', ['FieldValueForbidden resourceVersionMatch']],
  ['resourceVersionMatch=Exact&resourceVersion=0', ['FieldValueForbidden resourceVersionMatch']],
  ['resourceVersionMatch=Nonsense&resourceVersion=1', ['FieldValueNotSupported resourceVersionMatch']],
  ['continue=x&resourceVersionMatch=Exact&resourceVersion=1', ['FieldValueForbidden resourceVersionMatch']],
  ['sendInitialEvents=true', ['FieldValueForbidden sendInitialEvents']],
  ['watch=true&resourceVersionMatch=NotOlderThan', ['FieldValueForbidden resourceVersionMatch']],
  ['watch=true&sendInitialEvents=true', ['FieldValueForbidden resourceVersionMatch']],
  [
    'watch=true&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1',
    ['FieldValueForbidden resourceVersionMatch', 'FieldValueNotSupported resourceVersionMatch'],
  ],
];

const options: readonly ContractCase[] = [
  ...BAD_OPTIONS.map(
    ([query, causes]): ContractCase => ({
      name: `refuses the options ${query}`,
      async run(lab) {
        const details = { group: 'meta.k8s.io', kind: 'ListOptions' };
        assertRefused(await lab.send('GET', `${lab.path('widgets')}?${query}`), { status: 422, reason: 'Invalid', causes, details });
      },
    }),
  ),
  {
    name: 'refuses a field selector that the kind does not have, and a label selector that is none',
    async run(lab) {
      for (const query of [
        'fieldSelector=spec.size%3D1',
        'labelSelector=a%3D%3D%3Db',
        'labelSelector=a%20in%20b',
        'watch=true&fieldSelector=spec.size%3D1',
      ]) {
        assertRefused(await lab.send('GET', `${lab.path('widgets')}?${query}`), { status: 400, reason: 'BadRequest' });
      }
    },
  },
  ...(
    [
      ['pick=a', 'a'],
      ['pick==a', 'a'],
      ['pick!=a', 'bc'],
      ['pick in (a,b)', 'ab'],
      ['pick notin (a, b)', 'c'],
      ['pick', 'abc'],
      ['!pick', ''],
      ['pick,pick!=b', 'ac'],
    ] as const
  ).map(
    ([selector, expected]): ContractCase => ({
      name: `selects by ${selector}`,
      async run(lab) {
        const run = lab.name('select');
        for (const pick of ['a', 'b', 'c']) await lab.create('widgets', {}, { labels: { run, pick } });
        const path = `${lab.path('widgets')}?labelSelector=${encodeURIComponent(`run=${run},${selector}`)}`;
        const { items } = assertDone(await lab.send('GET', path));
        const found = items.map(({ metadata }: { metadata: { labels: { pick: string } } }) => metadata.labels.pick);
        assert.equal(found.sort().join(''), expected);
      },
    }),
  ),
  {
    name: 'selects by a field that the definition names, by name and by namespace',
    async run(lab) {
      const tier = lab.name('tier');
      const { metadata } = await lab.create('widgets', { spec: { tier } });
      for (const selector of [
        `spec.tier=${tier}`,
        `metadata.name=${metadata.name},spec.tier!=x`,
        `metadata.namespace=wire,spec.tier=${tier}`,
      ]) {
        const path = `${lab.path('widgets', '', '', '')}?fieldSelector=${encodeURIComponent(selector)}`;
        assert.deepEqual(
          assertDone(await lab.send('GET', path)).items.map((item: { metadata: { name: string } }) => item.metadata.name),
          [metadata.name],
        );
      }
    },
  },
];

export const readingCases: readonly ContractCase[] = [...at, ...pages, ...options];
