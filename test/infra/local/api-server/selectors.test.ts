import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiFault } from '../../../../infra/local/api-server/api-fault.ts';
import type { KubeObject } from '../../../../infra/local/api-server/api-object.ts';
import { BUILT_IN_KINDS } from '../../../../infra/local/api-server/built-in-kinds.ts';
import { matcherOf } from '../../../../infra/local/api-server/selectors.ts';

const secrets = BUILT_IN_KINDS.find(({ plural }) => plural === 'secrets');
assert.ok(secrets !== undefined);

const secret = (labels: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1', creationTimestamp: '', labels },
});
const selects = (parameter: string, selector: string, labels: Record<string, string> = {}): boolean =>
  matcherOf(new URLSearchParams({ [parameter]: selector }), secrets)(secret(labels));

describe('selectors', () => {
  const LABELS: readonly (readonly [selector: string, labels: Record<string, string>, isChosen: boolean])[] = [
    ['', {}, true],
    ['a=1', { a: '1' }, true],
    ['a=1', { a: '2' }, false],
    ['a=1', {}, false],
    ['a = 1 , b==2', { a: '1', b: '2' }, true],
    ['a=1,b=2', { a: '1', b: '3' }, false],
    ['a!=1', {}, true],
    ['a!=1', { a: '1' }, false],
    ['a=', { a: '' }, true],
    ['x.io/a_b in (1,2),c notin (3)', { 'x.io/a_b': '2' }, true],
    ['a notin (1)', {}, true],
    ['a in (1)', {}, false],
    ['a', { a: '' }, true],
    ['!a', { a: '' }, false],
    ['! a', {}, true],
    ['a>5', { a: '10' }, true],
    ['a<5', { a: '10' }, false],
    ['a>5', { a: 'x' }, false],
    ['constructor', {}, false],
  ];
  for (const [selector, labels, isChosen] of LABELS) {
    it(`${isChosen ? 'chooses' : 'leaves out'} ${JSON.stringify(labels)} by ${JSON.stringify(selector)}`, () => {
      assert.equal(selects('labelSelector', selector, labels), isChosen);
    });
  }

  for (const selector of ['a==b=c', 'a in 1', '=', 'a,,b', 'a in (', '-a']) {
    it(`refuses the label selector ${selector}`, () => {
      assert.throws(
        () => selects('labelSelector', selector),
        (error) => error instanceof ApiFault && error.code === 400,
      );
    });
  }

  const FIELDS: readonly (readonly [selector: string, isChosen: boolean])[] = [
    ['metadata.name=a', true],
    ['metadata.name==a,metadata.namespace=b', true],
    ['metadata.name!=a', false],
    ['type=Opaque', true],
    ['type!=Opaque', false],
  ];
  for (const [selector, isChosen] of FIELDS) {
    it(`${isChosen ? 'chooses' : 'leaves out'} by the field selector ${selector}`, () => {
      assert.equal(selects('fieldSelector', selector), isChosen);
    });
  }

  it('refuses a field that the kind does not select by', () => {
    for (const selector of ['data.x=1', 'metadata.uid=u', 'nonsense']) {
      assert.throws(
        () => selects('fieldSelector', selector),
        (error) => error instanceof ApiFault && error.code === 400,
      );
    }
  });
});
