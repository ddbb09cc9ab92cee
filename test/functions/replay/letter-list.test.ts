/** Which letters are meant, and how they are grouped. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from '../../../functions/core/errors.ts';
import { type FilterWords, letterFilter } from '../../../functions/replay/letter-filter.ts';
import { groupLetters } from '../../../functions/replay/letter-groups.ts';
import type { LetterRecord } from '../../../functions/replay/letter-record.ts';
import { after } from '../core/example-data.ts';
import { record, TARGET } from './letters.ts';

const NAMESPACED = { ...TARGET, namespace: 'team', kind: 'QueueClaim', plural: 'queueclaims' };
const NOWHERE: Partial<LetterRecord> = { kind: 'foreign', target: undefined, cluster: undefined, code: 'foreign' };

describe('letterFilter', () => {
  const rows: readonly [words: FilterWords, letter: Partial<LetterRecord>, isMeant: boolean][] = [
    [{}, {}, true],
    [{}, NOWHERE, true],
    [{ cluster: 'east' }, {}, true],
    [{ cluster: 'west' }, {}, false],
    [{ cluster: 'east' }, NOWHERE, false],
    [{ cluster: 'east' }, { ...NOWHERE, cluster: 'east' }, true],
    [{ kind: 'Tenant' }, {}, true],
    [{ kind: 'tenants.platform.example' }, {}, true],
    [{ kind: 'tenants.other.example' }, {}, false],
    [{ kind: 'tenant' }, NOWHERE, false],
    [{ kind: 'tenant' }, { target: NAMESPACED }, false],
    [{ namespace: 'team' }, { target: NAMESPACED }, true],
    [{ namespace: 'team' }, {}, false],
    [{ name: 't' }, {}, true],
    [{ name: 'T' }, {}, false],
    [{ code: 'invalid' }, {}, true],
    [{ code: 'foreign' }, NOWHERE, true],
    [{ code: 'invalid', cluster: 'west' }, {}, false],
    [{ since: '2026-03-01T12:00:00Z' }, {}, true],
    [{ since: '2026-03-01T12:00:01Z' }, {}, false],
    [{ since: '2026-03-01T13:00+01:00' }, {}, true],
    [{ since: '2026-03-01' }, {}, true],
    [{ since: '60m' }, {}, true],
    [{ since: '59m' }, {}, false],
    [{ since: '1d', until: '1h' }, {}, true],
    [{ until: '61m' }, {}, false],
    [{ until: '2026-03-01T12:00:00Z' }, {}, true],
    [{ since: '1d' }, { firstSeenMs: undefined }, false],
  ];
  for (const [words, letter, isMeant] of rows) {
    it(`${JSON.stringify(words)} ${isMeant ? 'means' : 'leaves out'} ${JSON.stringify(letter)}`, () => {
      assert.equal(letterFilter(words, after(3600))(record(letter)), isMeant);
    });
  }

  const faults: readonly [words: FilterWords, says: RegExp][] = [
    [{ since: 'yesterday' }, /--since "yesterday" is no time/],
    [{ until: '2026-13-01' }, /--until "2026-13-01" is no time/],
    [{ since: '2026-03-01T10:00' }, /is no time/],
    [{ since: '1h', until: '2h' }, /--since is later than --until/],
    [{ cluster: '' }, /--cluster is empty/],
  ];
  for (const [words, says] of faults) {
    it(`refuses ${JSON.stringify(words)}`, () => {
      assert.throws(
        () => letterFilter(words, after(0)),
        (error) => error instanceof ConfigError && error.code === 'usage' && says.test(error.message),
      );
    });
  }
});

describe('groupLetters', () => {
  it('groups by cluster, kind and code, and counts objects once', () => {
    const other = { ...TARGET, name: 'u' };
    const groups = groupLetters([record(), record(), record({ target: other }), record({ code: 'forbidden' }), record(NOWHERE)], 3600);
    assert.deepEqual(
      groups.map(({ cluster, kind, code, letterCount, objectCount }) => [cluster, kind, code, letterCount, objectCount]),
      [
        [undefined, undefined, 'foreign', 1, 0],
        ['east', 'Tenant', 'forbidden', 1, 1],
        ['east', 'Tenant', 'invalid', 3, 2],
      ],
    );
  });

  it('puts first what SQS deletes first, by the first send and not by when a letter came (B43)', () => {
    const sent = (seconds: number) => after(seconds).getTime();
    const letters = [
      record({ code: 'new', sentMs: sent(500) }),
      // Moved by SQS: its clock has run since its first send.
      record({ code: 'moved', kind: 'undiagnosed', sentMs: sent(-3000) }),
      record({ code: 'unknown', sentMs: undefined }),
    ];
    const groups = groupLetters(letters, 3600);
    assert.deepEqual(
      groups.map(({ code }) => code),
      ['moved', 'new', 'unknown'],
    );
    assert.deepEqual(
      groups.map(({ expiresMs }) => expiresMs),
      [sent(600), sent(4100), undefined],
    );
  });

  it('knows the oldest and the newest by when a change was first seen, and sorts by it next', () => {
    const seen = (code: string, ...seconds: number[]) => seconds.map((one) => record({ code, firstSeenMs: after(one).getTime() }));
    const groups = groupLetters([...seen('b', 50, 10, 90), ...seen('a', 20), ...seen('c', 5)], 3600);
    assert.deepEqual(
      groups.map(({ code }) => code),
      ['c', 'b', 'a'],
    );
    assert.deepEqual([groups[1]?.oldestMs, groups[1]?.newestMs], [after(10).getTime(), after(90).getTime()]);
  });
});
