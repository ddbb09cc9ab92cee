import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { confirm, isProduction } from '../../../../functions/cli/replay/confirm.ts';
import type { Terminal } from '../../../../functions/cli/replay/terminal.ts';
import { ConfigError } from '../../../../functions/core/errors.ts';

const DEV = 'https://sqs.eu-west-1.amazonaws.com/0/dogwatch-dev-dead-letters';
const PROD = 'https://sqs.eu-west-1.amazonaws.com/0/dogwatch-prod-dead-letters';

/** Somebody at a terminal who types this; undefined for the end of the input. */
class Person implements Terminal {
  readonly isInteractive: boolean = true;
  readonly asked: string[] = [];
  readonly #answer: string | undefined;

  constructor(answer: string | undefined) {
    this.#answer = answer;
  }

  async ask(question: string): Promise<string | undefined> {
    this.asked.push(question);
    return this.#answer;
  }
}
const nobody: Terminal = { isInteractive: false, ask: () => assert.fail('nobody is there') };

async function ask(terminal: Terminal, { queueUrl = DEV, yes = false, letterCount = 30, stop = new AbortController() } = {}) {
  const said: string[] = [];
  const goesOn = await confirm(
    { queueUrl, lines: ['30 letters'], letterCount },
    { yes, terminal, stop: stop.signal, say: (line) => void said.push(line) },
  );
  return { goesOn, said };
}

describe('confirm', () => {
  const answers = [
    [DEV, 'y', true],
    [DEV, ' Yes ', true],
    [DEV, '', false],
    [DEV, 'n', false],
    [DEV, 'yep', false],
    [DEV, '30', false],
    [DEV, undefined, false],
    [PROD, '30', true],
    [PROD, ' 30\r', true],
    [PROD, 'y', false],
    [PROD, '3', false],
    [PROD, '30.0', false],
    [PROD, '', false],
    [PROD, undefined, false],
  ] as const;
  for (const [queueUrl, answer, goesOn] of answers) {
    it(`${goesOn ? 'goes on' : 'does nothing'} after ${JSON.stringify(answer)} for 30 letters of ${queueUrl.split('/').at(-1)}`, async () => {
      const person = new Person(answer);
      const result = await ask(person, { queueUrl });
      assert.equal(result.goesOn, goesOn);
      assert.deepEqual(result.said, goesOn ? ['30 letters'] : ['30 letters', 'nothing was done']);
      assert.match(
        person.asked.join(),
        queueUrl === PROD ? /production stage: type the number of letters \(30\)/ : /go on with 30 letters\? \(y\/N\)/,
      );
    });
  }

  it('does nothing where the signal comes with the answer', async () => {
    const stop = new AbortController();
    stop.abort();
    assert.equal((await ask(new Person('y'), { stop })).goesOn, false);
  });

  it('says what will happen and asks nobody with --yes, on a production stage too', async () => {
    assert.deepEqual(await ask(nobody, { yes: true, queueUrl: PROD }), { goesOn: true, said: ['30 letters'] });
  });

  it('asks nobody where nothing will happen', async () => {
    assert.equal((await ask(nobody, { letterCount: 0 })).goesOn, true);
  });

  it('refuses where nobody can be asked', async () => {
    await assert.rejects(ask(nobody), (error) => error instanceof ConfigError && /so nothing was done; add --yes/.test(error.message));
  });
});

describe('isProduction', () => {
  const rows = [
    ['dogwatch-prod-dead-letters', true],
    ['dogwatch-production-dead-letters', true],
    ['dogwatch-prd_eu-dead-letters', true],
    ['PROD-dead-letters', true],
    ['dogwatch-eu.prod', true],
    ['dogwatch-preprod-dead-letters', false],
    ['dogwatch-products-dead-letters', false],
    ['dogwatch-dev-dead-letters', false],
    ['reproduction', false],
  ] as const;
  for (const [name, is] of rows) it(`is ${is} of ${name}`, () => assert.equal(isProduction(`https://sqs.prod.example/prod/${name}`), is));
});
