import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps, deployments } from '../../../functions/core/kinds.ts';
import { ownedKind } from '../../../functions/core/owned-kind.ts';
import { tickets } from './tickets.ts';

describe('wakeOn', () => {
  it('names columns of a built-in kind, and leaves that kind as it was', () => {
    assert.deepEqual(deployments.wakeOn('Available', 'Ready'), {
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
      plural: 'deployments',
      scope: 'Namespaced',
      wakeOnColumns: ['Available', 'Ready'],
    });
    assert.equal('wakeOnColumns' in deployments, false);
  });

  it('names columns of any other kind', () => {
    const { kind, group, wakeOnColumns } = ownedKind(tickets).wakeOn('Ready');
    assert.deepEqual([kind, group, wakeOnColumns], [tickets.kind, tickets.group, ['Ready']]);
  });

  const refused: readonly (readonly [what: string, columns: string[]])[] = [
    ['no column', []],
    ['an empty name', ['']],
    ['a column twice', ['Data', 'Data']],
    ['the name, which never changes', ['Name']],
    ['the age, which always does', ['Age']],
  ];
  for (const [what, columns] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(() => configMaps.wakeOn(...columns), { name: 'ConfigError', code: 'bad-wake-on', message: /^ConfigMap\.wakeOn: / });
    });
  }
});
