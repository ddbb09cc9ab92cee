/** Holds an endpoint of SQS against the rules that we rely on: all of them, save for its known exceptions, which must be so still. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import { createQueue } from '../../../functions/adapters/sqs.ts';
import { createLocalClient, createQueues, type LocalQueues, localAwsEnv } from '../../../infra/local/local-queues.ts';
import { createReceiver } from '../../../infra/local/receive.ts';
import type { Bench, QueueCase } from './case.ts';
import type { Exceptions } from './exceptions.ts';
import { receivingCases } from './receiving-cases.ts';
import { sendingCases } from './sending-cases.ts';

const CASES: readonly QueueCase[] = [...sendingCases, ...receivingCases];

/** Registers the whole suite for one endpoint. */
export function describeQueue(name: string, exceptions: Exceptions, start: () => Promise<LocalQueues>): void {
  describe(`the queue contract on ${name}`, { concurrency: 8 }, () => {
    let endpoint: LocalQueues;
    let client: SQSClient;
    let bench: Bench;
    before(async () => {
      endpoint = await start();
      Object.assign(process.env, localAwsEnv(endpoint.endpoint));
      client = createLocalClient(endpoint.endpoint);
      bench = await createBench(endpoint, client);
    });
    after(async () => {
      client?.destroy();
      await endpoint?.stop();
    });

    for (const { rule, run } of CASES) {
      const exception = exceptions[rule];
      if (exception === undefined) it(rule, () => run(bench));
      else it(`does not hold that it ${rule}: ${exception}`, () => assert.rejects(run(bench), assert.AssertionError));
    }

    it('has no exception for a rule that is none', () => {
      const rules = new Set(CASES.map(({ rule }) => rule));
      assert.deepEqual(
        Object.keys(exceptions).filter((rule) => !rules.has(rule)),
        [],
      );
    });
  });
}

async function createBench({ endpoint, quirks }: LocalQueues, client: SQSClient): Promise<Bench> {
  let count = 0;
  return {
    client,
    queue: await createQueue(),
    async makeQueue(spec = {}) {
      count += 1;
      const name = `contract-${count}`;
      const url = (await createQueues(endpoint, [{ ...spec, name }]))(name);
      const receiver = createReceiver({ client, queueUrl: url, quirks });
      const receive = (waitSeconds = 0): Promise<Message[]> => receiver.receive({ max: 10, waitSeconds });
      return {
        name,
        url,
        receive,
        async receiveAll(wanted) {
          const messages: Message[] = [];
          const endMs = Date.now() + 5_000;
          while (messages.length < wanted && Date.now() < endMs) messages.push(...(await receive(1)));
          return messages;
        },
      };
    },
  };
}
