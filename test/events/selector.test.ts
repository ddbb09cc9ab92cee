import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from '../../events/selector.ts';

describe('a label selector', () => {
  const gold = { tier: 'gold', 'example.com/zone': 'a', empty: '' };
  const rows: readonly [selector: string, isMet: boolean][] = [
    ['tier', true],
    ['none', false],
    ['!none', true],
    ['! tier', false],
    ['tier=gold', true],
    ['tier == gold', true],
    ['tier=silver', false],
    ['tier!=gold', false],
    ['none!=gold', true],
    ['empty=', true],
    ['none=', false],
    ['tier in (silver, gold)', true],
    ['tier in (silver)', false],
    ['none in (silver)', false],
    ['tier notin (silver,bronze)', true],
    ['tier notin (gold)', false],
    ['none notin (gold)', true],
    ['tier=gold,example.com/zone in (a,b),!none', true],
    ['tier=gold,example.com/zone in (b,c)', false],
    ['toString', false],
  ];
  for (const [selector, isMet] of rows) {
    it(`${selector} is ${isMet ? 'met' : 'not met'}`, () => {
      const parsed = parseLabelSelector(selector);
      assert.ok(parsed.kind === 'parsed');
      assert.equal(matchesLabels(parsed.requirements, gold), isMet);
    });
  }

  it('is held against an object without labels', () => {
    const parsed = parseLabelSelector('!tier');
    assert.ok(parsed.kind === 'parsed' && matchesLabels(parsed.requirements, undefined));
  });

  for (const selector of ['', 'tier,', 'a b', 'tier=a b', 'tier in gold', 'tier in (a', 'x>1', '-a=b', 'a/b/c', 'tier=-', 'A.example/x']) {
    it(`is refused: ${JSON.stringify(selector)}`, () => assert.equal(parseLabelSelector(selector).kind, 'refused'));
  }
});

describe('a field selector', () => {
  const object = { metadata: { name: 'a', namespace: 'team' }, spec: { color: 'a,b=c', size: 3, isOn: false }, type: 'Opaque' };
  const rows: readonly [selector: string, isMet: boolean][] = [
    ['metadata.name=a', true],
    ['metadata.name==b', false],
    ['metadata.namespace!=kube-system', true],
    ['metadata.namespace!=team', false],
    ['spec.color=a\\,b\\=c', true],
    ['spec.size=3,spec.isOn=false', true],
    ['type=Opaque', true],
    ['type=', false],
    ['spec.unschedulable=false', true],
    ['involvedObject.kind=Pod', true],
    ['spec=x', true],
  ];
  for (const [selector, isMet] of rows) {
    it(`${selector} ${isMet ? 'is not known to fail' : 'fails'}`, () => {
      const parsed = parseFieldSelector(selector);
      assert.ok(parsed.kind === 'parsed');
      assert.equal(matchesFields(parsed.requirements, object), isMet);
    });
  }

  for (const selector of ['', 'metadata.name', '=a', 'a=b=c', 'a=b,', 'a=b\\x', 'metadata.name in (a)']) {
    it(`is refused: ${JSON.stringify(selector)}`, () => assert.equal(parseFieldSelector(selector).kind, 'refused'));
  }
});
