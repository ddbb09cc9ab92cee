import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseReference, readCalmly, referenceProblem } from '../../../functions/adapters/remote-text.ts';

const ARN = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:dogwatch/east-AbCdEf';

describe('parseReference', () => {
  const cases: [text: string, reference: ReturnType<typeof parseReference>][] = [
    ['ssm:/dogwatch/clusters', { store: 'ssm', id: '/dogwatch/clusters', key: undefined }],
    ['ssm:clusters:3', { store: 'ssm', id: 'clusters:3', key: undefined }],
    ['secretsmanager:dogwatch/east', { store: 'secretsmanager', id: 'dogwatch/east', key: undefined }],
    ['secretsmanager:dogwatch#east', { store: 'secretsmanager', id: 'dogwatch', key: 'east' }],
    [`secretsmanager:${ARN}#a#b`, { store: 'secretsmanager', id: ARN, key: 'a#b' }],
    ['./ssm:/x', undefined],
    ['SSM:/x', undefined],
    ['/etc/secretsmanager:x', undefined],
  ];
  for (const [text, reference] of cases) {
    it(`takes ${text} for ${reference === undefined ? 'a path' : `a name in ${reference.store}`}`, () => {
      assert.deepEqual([parseReference(text), referenceProblem(text)], [reference, undefined]);
    });
  }

  for (const text of ['ssm:', 'ssm:/a b', 'ssm:/a#b', 'secretsmanager:', 'secretsmanager:#a', 'secretsmanager:a#', 'ssm:/a\n']) {
    it(`finds fault with ${JSON.stringify(text)}`, () => {
      assert.match(referenceProblem(text) ?? '', /names no/);
    });
  }
});

class StoreScene {
  nowMs = 0;
  readonly asked: number[] = [];
  content: string | Error = 'one';
  readonly read = readCalmly(
    async () => {
      this.asked.push(this.nowMs / 60_000);
      if (this.content instanceof Error) throw this.content;
      return this.content;
    },
    () => this.nowMs,
  );

  /** What is read every five seconds until so many minutes have gone by. */
  async until(minutes: number): Promise<(string | undefined)[]> {
    const found = new Set<string | undefined>();
    for (; this.nowMs <= minutes * 60_000; this.nowMs += 5_000) found.add(await this.read('ssm:/x').catch(() => undefined));
    return [...found];
  }
}

describe('readCalmly', () => {
  it('fetches a text once a minute, however often it is asked for', async () => {
    const scene = new StoreScene();
    assert.deepEqual([await scene.until(3), scene.asked], [['one'], [0, 1, 2, 3]]);
    scene.content = 'two';
    assert.deepEqual(await scene.until(4), ['one', 'two']);
  });

  it('asks ever more seldom while it fails, once a quarter of an hour at last, and is itself again after a success', async () => {
    const scene = new StoreScene();
    scene.content = new Error('throttled');
    assert.deepEqual([await scene.until(62), scene.asked], [[undefined], [0, 1, 3, 7, 15, 30, 45, 60]]);
    scene.content = 'one';
    scene.asked.length = 0;
    await scene.until(77);
    assert.deepEqual(scene.asked, [75, 76, 77]);
  });

  it('fetches each text by itself, and one once for all who ask at the same time', async () => {
    const asked: string[] = [];
    const read = readCalmly(
      async (reference) => {
        asked.push(reference);
        return reference;
      },
      () => 0,
    );
    assert.deepEqual(await Promise.all([read('ssm:/a'), read('ssm:/b'), read('ssm:/a')]), ['ssm:/a', 'ssm:/b', 'ssm:/a']);
    assert.deepEqual(asked, ['ssm:/a', 'ssm:/b']);
  });
});
