/** A fault of one object or body: another object settles meanwhile, and the faulty one becomes a letter that says why. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { crdYaml } from '../../functions/cli/crds.ts';
import { type ApiObject, until } from './api.ts';
import { connectQueues, queueUrlOf } from './depth.ts';
import { type Letter, readLetters } from './letters.ts';
import { faultyResource } from './reconcilers/faulty.ts';
import { type System, startSystem } from './system.ts';
import { conditionOf, isSettled } from './tenants.ts';

const PATH = '/apis/test.dogwatch.dev/v1/namespaces/default/faulties';

describe('with one faulty object', () => {
  let system: System;
  const letters: Letter[] = [];

  before(async () => {
    system = await startSystem({
      reconcilers: 'test/real/reconcilers/faulty.ts',
      crds: crdYaml(faultyResource),
      visibilitySeconds: 6,
      maxReceiveCount: 2,
      env: { DOGWATCH_RETRY_BASE_SECONDS: '1', DOGWATCH_MAX_ATTEMPTS: '3' },
    });
    await until('the kind is served', async () => (await system.api.get(PATH)).status === 200 || undefined);
  });
  after(async () => {
    await system?.stop();
  });

  const create = async (name: string, mode: string): Promise<void> => {
    const answer = await system.api.post(PATH, {
      apiVersion: 'test.dogwatch.dev/v1',
      kind: 'Faulty',
      metadata: { name },
      spec: { mode },
    });
    assert.equal(answer.status, 201, answer.body.message);
  };
  const read = async (name: string): Promise<ApiObject> => (await system.api.get(`${PATH}/${name}`)).body;
  const letterOf = (name: string, withinMs = 120_000): Promise<Letter> =>
    until(
      `a letter about ${name}`,
      async () => {
        letters.push(...(await readLetters(system.lab)));
        return letters.find((letter) => letter.attributes['name'] === name || letter.name === name);
      },
      withinMs,
      500,
    );
  /** Makes the faulty object and a good one, and waits until the good one is settled. */
  const besideGoodOne = async (mode: string): Promise<string> => {
    await create(`bad-${mode}`, mode);
    await create(`good-beside-${mode}`, 'ok');
    await until(`the good object settles beside ${mode}`, async () => isSettled(await read(`good-beside-${mode}`)) || undefined);
    assert.ok(!isSettled(await read(`bad-${mode}`)));
    return `bad-${mode}`;
  };

  for (const [mode, reason, text] of [
    ['throw', 'AuthorError', /the author was wrong/],
    ['throw-string', 'AuthorError', /not even an Error/],
    ['nonsense', 'InvalidPlan', /Plan/],
    ['bad-status', 'InvalidPlan', /size/],
    ['mutate', 'AuthorError', /read only|read-only|object is not extensible/],
  ] as const) {
    it(`ends a reconciler that does ${mode} as a letter, with Ready=False and Stalled on the object`, async () => {
      const name = await besideGoodOne(mode);
      const ready = await until('Ready=False', async () => {
        const found = conditionOf(await read(name), 'Ready');
        return found?.status === 'False' ? found : undefined;
      });
      assert.equal(ready.reason, reason);
      assert.match(ready.message, text);
      const letter = await letterOf(name);
      assert.match(letter.diagnosis?.message ?? '', text);
      assert.equal(letter.diagnosis?.attempts.length, 3);
      await until('Stalled=True', async () => conditionOf(await read(name), 'Stalled')?.status === 'True' || undefined);
    });
  }

  it('ends a reconciler that never ends in the dead-letter queue by redrive, and the others go on', async () => {
    const name = await besideGoodOne('hang');
    const letter = await letterOf(name);
    assert.equal(letter.diagnosis, undefined, 'the queue moved it, so it has no diagnosis');
  });

  it('makes a letter of a body that is no envelope, unchanged, with the reason in its attributes', async () => {
    const client = connectQueues(system.lab);
    await client.send(
      new SendMessageCommand({ QueueUrl: queueUrlOf(system.lab, 'live'), MessageBody: '{"oops": 1}', MessageGroupId: 'east' }),
    );
    client.destroy();
    const letter = await until('the letter', async () => {
      letters.push(...(await readLetters(system.lab)));
      return letters.find((one) => one.body === '{"oops": 1}');
    });
    assert.equal(letter.attributes['code'], 'bad-envelope');
    await create('good-beside-body', 'ok');
    await until('the good object settles', async () => isSettled(await read('good-beside-body')) || undefined);
  });
});
