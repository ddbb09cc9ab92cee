import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  apiVersionOf,
  clusterName,
  formatResourceKey,
  groupKind,
  isDnsLabel,
  parseResourceKey,
  type ResourceKey,
} from '../../events/resource.ts';

describe('isDnsLabel', () => {
  const rows: readonly [text: string, expected: boolean][] = [
    ['east', true],
    ['a', true],
    ['0', true],
    ['eu-west-1', true],
    ['x'.repeat(63), true],
    ['x'.repeat(64), false],
    ['', false],
    ['-east', false],
    ['east-', false],
    ['East', false],
    ['east.1', false],
    ['east_1', false],
    ['east\n', false],
    ['öst', false],
    ['a/b', false],
  ];
  for (const [text, expected] of rows) {
    it(`is ${expected} for ${JSON.stringify(text.slice(0, 20))} of ${text.length} characters`, () =>
      assert.equal(isDnsLabel(text), expected));
  }
});

describe('clusterName', () => {
  it('takes a DNS label and throws for anything else, quoting it', () => {
    assert.equal(clusterName('east'), 'east');
    assert.throws(() => clusterName('East\n'), { name: 'RangeError', message: /"East\\n"/ });
  });
});

describe('names of a kind', () => {
  it('leave out an empty group', () => {
    assert.equal(apiVersionOf({ group: '', version: 'v1' }), 'v1');
    assert.equal(apiVersionOf({ group: 'platform.example', version: 'v1' }), 'platform.example/v1');
    assert.equal(groupKind({ group: '', kind: 'Namespace' }), 'Namespace');
    assert.equal(groupKind({ group: 'platform.example', kind: 'Tenant' }), 'Tenant.platform.example');
  });
});

describe('a resource key as text', () => {
  it('has five segments, also where some are empty', () => {
    const key = { cluster: clusterName('east'), group: '', kind: 'Namespace', name: 'acme' };
    assert.equal(formatResourceKey(key), 'east//Namespace//acme');
  });

  it('parses to what it was written from, and tells any two keys apart', () => {
    const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    // Names of RBAC objects hold colons and capitals; the API server refuses slashes in all of them.
    const name = fc.stringMatching(/^[A-Za-z0-9:._-]{1,12}$/);
    const key: fc.Arbitrary<ResourceKey> = fc
      .record({
        cluster: label,
        group: fc.oneof(fc.constant(''), label),
        kind: name,
        namespace: fc.option(label, { nil: undefined }),
        name,
      })
      .map(({ cluster, namespace, ...rest }) => ({
        ...rest,
        cluster: clusterName(cluster),
        ...(namespace === undefined ? {} : { namespace }),
      }));
    fc.assert(
      fc.property(key, key, (a, b) => {
        assert.deepEqual(parseResourceKey(formatResourceKey(a)), a);
        if (formatResourceKey(a) === formatResourceKey(b)) assert.deepEqual(a, b);
      }),
    );
  });

  const noKeys = [
    '',
    'east',
    'east/g/K/ns',
    'east/g/K/ns/n/more',
    'East/g/K/ns/n',
    '/g/K/ns/n',
    'east/g//ns/n',
    'east/g/K/ns/',
    'a/b/c/d/e/',
  ];
  for (const text of noKeys) {
    it(`is none: ${JSON.stringify(text)}`, () => assert.equal(parseResourceKey(text), undefined));
  }

  it('parses without a throw, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const key = parseResourceKey(text);
        if (key !== undefined) assert.equal(formatResourceKey(key), text);
      }),
    );
  });
});
