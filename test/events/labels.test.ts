import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isLabelValue,
  isQualifiedName,
  OWNER_LABEL,
  OWNER_REF_ANNOTATION,
  PAUSED_ANNOTATION,
  RESERVED_PREFIX,
} from '../../events/labels.ts';

describe('names that Dogwatch puts on objects', () => {
  // They are in every cluster that Dogwatch ever ran in: another spelling would disown all children and resume all pauses.
  it('stay as they are', () => {
    assert.deepEqual(
      [OWNER_LABEL, OWNER_REF_ANNOTATION, PAUSED_ANNOTATION],
      ['dogwatch.dev/owner', 'dogwatch.dev/owner-ref', 'dogwatch.dev/paused'],
    );
  });

  it('are all under the reserved prefix', () => {
    for (const name of [OWNER_LABEL, OWNER_REF_ANNOTATION, PAUSED_ANNOTATION]) assert.ok(name.startsWith(RESERVED_PREFIX));
  });

  it('are valid label names', () => {
    for (const name of [OWNER_LABEL, OWNER_REF_ANNOTATION, PAUSED_ANNOTATION]) {
      assert.match(name, /^[a-z0-9.-]{1,253}\/[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
    }
  });
});

describe('isQualifiedName', () => {
  const rows: [string, boolean][] = [
    ['app', true],
    ['app.kubernetes.io/name', true],
    ['A_b.c-9', true],
    ['a'.repeat(64), false],
    ['/name', false],
    ['Domain.io/name', false],
    ['a/b/c', false],
    ['', false],
    ['-a', false],
  ];
  for (const [key, expected] of rows) it(`${key.slice(0, 24)} is ${expected}`, () => assert.equal(isQualifiedName(key), expected));
});

describe('isLabelValue', () => {
  const rows: [string, boolean][] = [
    ['', true],
    ['A.b_c-9', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['a@b', false],
    ['a-', false],
  ];
  for (const [value, expected] of rows) it(`${value.slice(0, 9)} is ${expected}`, () => assert.equal(isLabelValue(value), expected));
});
