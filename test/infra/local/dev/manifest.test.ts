import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseManifest, readManifest } from '../../../../infra/local/dev/manifest.ts';

const GOOD = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one, namespace: default }\n';

describe('parseManifest', () => {
  it('gives each document its place, and leaves empty ones out', () => {
    const { entries, problems } = parseManifest(`---\n${GOOD}---\n---\n${GOOD.replace('one', 'two')}`, 'm.yaml');
    assert.deepEqual(problems, []);
    assert.deepEqual(
      entries.map(({ object, where }) => [object.metadata.name, where]),
      [
        ['one', 'm.yaml: document 1'],
        ['two', 'm.yaml: document 3'],
      ],
    );
  });

  it('names the file alone where there is one document, and keeps what the object says', () => {
    const { entries } = parseManifest(`${GOOD}data: { a: "1" }\n`, 'm.yaml');
    assert.equal(entries[0]?.where, 'm.yaml');
    assert.deepEqual(entries[0]?.object['data'], { a: '1' });
  });

  it('takes the items of a list, as kubectl prints it, also in a list or of one kind', () => {
    const item = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    const inner = { apiVersion: 'v1', kind: 'ConfigMapList', items: [item('two'), { kind: 'A' }] };
    const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: [item('one'), inner] };
    const { entries, problems } = parseManifest(`${GOOD}---\n${JSON.stringify(list)}`, 'm.yaml');
    assert.deepEqual(
      entries.map(({ object, where }) => [object.metadata.name, where]),
      [
        ['one', 'm.yaml: document 1'],
        ['one', 'm.yaml: document 2, item 1'],
        ['two', 'm.yaml: document 2, item 2, item 1'],
      ],
    );
    assert.deepEqual(problems, ['m.yaml: document 2, item 2, item 2: apiVersion is missing']);
    assert.deepEqual(parseManifest('apiVersion: v1\nkind: List\nitems: []', 'm.yaml'), { entries: [], problems: [] });
    assert.equal(parseManifest(JSON.stringify({ ...list, items: [item('one')] }), 'm.yaml').entries[0]?.where, 'm.yaml: item 1');
  });

  it('takes an object for one whose kind only ends like a list', () => {
    const checkList = { apiVersion: 'a.example/v1', kind: 'CheckList', metadata: { name: 'one' }, spec: {} };
    assert.deepEqual(parseManifest(JSON.stringify(checkList), 'm.yaml').entries[0]?.object, checkList);
  });

  const faults: readonly [text: string, problem: RegExp][] = [
    ['just text', /^m\.yaml: is no mapping; .*apiVersion/],
    ['- kind: ConfigMap', /^m\.yaml: is no mapping/],
    ['kind: ConfigMap\nmetadata: { name: a }', /^m\.yaml: apiVersion is missing$/],
    ['apiVersion: v1\nmetadata: { name: a }', /^m\.yaml: kind is missing$/],
    ['apiVersion: 1\nkind: A\nmetadata: { name: a }', /^m\.yaml: apiVersion is no text$/],
    ['apiVersion: v1\nkind: A', /^m\.yaml: metadata\.name is missing$/],
    ['apiVersion: v1\nkind: A\nmetadata: a', /^m\.yaml: metadata is no mapping$/],
    ['apiVersion: v1\nkind: A\nmetadata: { name: 5 }', /^m\.yaml: metadata\.name is no text$/],
    ['apiVersion: v1\nkind: A\nmetadata: { name: a, namespace: 5 }', /^m\.yaml: metadata\.namespace is no text$/],
    ['apiVersion: v1\nkind: [', /^m\.yaml:2:\d+: ./],
  ];
  for (const [text, problem] of faults) {
    it(`says what is wrong with ${JSON.stringify(text)}`, () => {
      const { entries, problems } = parseManifest(text, 'm.yaml');
      assert.deepEqual(entries, []);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', problem);
    });
  }

  it('keeps the documents that are right', () => {
    const { entries, problems } = parseManifest(`${GOOD}---\nkind: A\n---\n${GOOD}`, 'm.yaml');
    assert.equal(entries.length, 2);
    assert.deepEqual(problems, ['m.yaml: document 2: apiVersion is missing']);
  });
});

describe('readManifest', () => {
  it('says of a file that is not there that it cannot be read', () => {
    assert.deepEqual(readManifest('/nowhere/m.yaml'), { entries: [], problems: ['/nowhere/m.yaml cannot be read (ENOENT)'] });
  });
});
