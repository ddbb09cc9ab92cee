/** Positions whose history is gone. They come last and for themselves: what the server forgets, it forgets for all. */
import assert from 'node:assert/strict';
import type { ContractCase } from './case.ts';
import { assertDone, assertRefused, eventually } from './lab.ts';
import type { Body } from './wire.ts';

const namesOf = ({ items }: Body): string[] => items.map(({ metadata }: Body) => metadata.name);

export const historyCases: readonly ContractCase[] = [
  {
    name: 'an old version is Expired for an exact list and for a page of it, but not for a list that may be newer',
    async run(lab) {
      const { resourceVersion } = (await lab.create('plains')).metadata;
      const newest = (await lab.create('plains')).metadata;
      await lab.forgetHistory();
      const at = `${lab.path('plains')}?resourceVersion=${resourceVersion}`;
      // A real server answers from what it has in memory until it has heard that etcd forgot.
      await eventually('the server has forgotten', async () => (await lab.send('GET', `${at}&resourceVersionMatch=Exact`)).status === 410);
      for (const query of ['&resourceVersionMatch=Exact', '&limit=1&resourceVersionMatch=Exact', '&limit=1']) {
        const answer = await lab.send('GET', at + query);
        assertRefused(answer, { status: 410, reason: 'Expired' });
        assert.equal(answer.body.metadata.continue, undefined);
      }
      const newer = assertDone(await lab.send('GET', `${at}&limit=500&resourceVersionMatch=NotOlderThan`));
      assert.ok(namesOf(newer).includes(newest.name));
    },
  },
  {
    name: 'a token of an old version is Expired, and comes with one that goes on behind the same name at the newest version',
    async run(lab) {
      const label = lab.name('walk');
      const make = (letter: string) => lab.create('plains', {}, { name: `${label}-${letter}`, labels: { walk: label } });
      for (const letter of ['a', 'c', 'e']) await make(letter);
      const path = `${lab.path('plains')}?labelSelector=walk%3D${label}&limit=1`;
      const first = assertDone(await lab.send('GET', path));
      const next = `${path}&continue=${first.metadata.continue}`;
      await lab.send('DELETE', lab.path('plains', `${label}-c`));
      await make('b');
      await lab.forgetHistory();
      await eventually('the server has forgotten', async () => (await lab.send('GET', next)).status === 410);
      const expired = await lab.send('GET', next);
      assertRefused(expired, { status: 410, reason: 'Expired' });
      const rest = assertDone(await lab.send('GET', `${path.replace('limit=1', 'limit=9')}&continue=${expired.body.metadata.continue}`));
      assert.deepEqual([namesOf(first), namesOf(rest)], [[`${label}-a`], [`${label}-b`, `${label}-e`]]);
      assert.ok(BigInt(rest.metadata.resourceVersion) > BigInt(first.metadata.resourceVersion));
    },
  },
];
