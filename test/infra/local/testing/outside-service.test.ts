import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { BenchError, type OutsideService, startBench, startOutsideService } from '../../../../infra/local/testing/index.ts';
import { greetingObject, greetingWith } from './greeting.ts';

describe('a service outside of the cluster', () => {
  /** What the real one was asked for. */
  const asked: string[] = [];
  let real: Server;
  let things: OutsideService;
  before(async () => {
    real = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      asked.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`);
      response.writeHead(201, { 'content-type': 'text/plain', 'x-kind': 'thing' }).end('made');
    });
    await new Promise<void>((resolve) => real.listen(0, '127.0.0.1', resolve));
    things = await startOutsideService({ name: 'things', to: `http://127.0.0.1:${(real.address() as AddressInfo).port}` });
  });
  after(async () => {
    await things.close();
    real.closeAllConnections();
    await new Promise((resolve) => real.close(resolve));
  });

  const ask = async (method: string, signal?: AbortSignal, headers: Record<string, string> = {}): Promise<string> => {
    const body = method === 'GET' ? {} : { body: 'x' };
    const answer = await fetch(`${things.url}/a?b=c`, { method, headers, ...body, ...(signal === undefined ? {} : { signal }) });
    return `${answer.status} ${answer.headers.get('x-kind')} ${await answer.text()}`;
  };

  it('is asked as if nobody stood between, while no bench is attached', async () => {
    assert.deepEqual([await ask('POST'), await ask('GET')], ['201 thing made', '201 thing made']);
    assert.deepEqual(asked.splice(0), ['POST /a?b=c x', 'GET /a?b=c ']);
  });

  it('has its changes among the effects of a run, by the name of the operation, and its reads not', async () => {
    const reconciler = greetingWith({
      async reconcile({ signal }) {
        await ask('GET', signal);
        await ask('POST', signal, { 'x-amz-target': 'AmazonSQS.GetQueueUrl' });
        await ask('POST', signal, { 'x-amz-target': 'AmazonSQS.CreateQueue' });
        return { status: { configMap: await ask('PUT', signal) } };
      },
    });
    await using bench = await startBench({ reconcilers: [reconciler] });
    things.attach(bench);
    await bench.apply(greetingObject('hi'));
    await bench.settle();
    assert.deepEqual(
      bench.effectTexts.filter((text) => text.startsWith('things')),
      ['things CreateQueue', 'things PUT /a'],
    );
    assert.equal((await bench.get('Greeting', 'hello'))?.status?.['configMap'], '201 thing made');
    assert.equal(asked.splice(0).length, 4);
  });

  it('is not asked for what the function dies before, nor by a process that is dead', async () => {
    const late = Promise.withResolvers<string>();
    const reconciler = greetingWith({
      async reconcile({ signal }) {
        await ask('POST', signal).catch((error: unknown) => {
          // Code that does not keep to its signal.
          late.resolve(ask('PUT').catch(() => 'refused'));
          throw error;
        });
        return { status: { configMap: '' } };
      },
    });
    await using bench = await startBench({ reconcilers: [reconciler] });
    things.attach(bench);
    bench.crash({ before: 'things POST' });
    await bench.apply(greetingObject('hi'));
    await bench.advance(1);
    assert.equal(await late.promise, 'refused');
    assert.deepEqual(asked.splice(0), []);
    await bench.settle();
    assert.deepEqual(asked.splice(0), ['POST /a?b=c x']);
  });

  it('is refused where it cannot be stood in front of', async () => {
    for (const to of ['https://sqs.us-east-1.amazonaws.com', 'localhost:4566', 'nonsense'])
      await assert.rejects(startOutsideService({ name: 'things', to }), {
        name: 'BenchError',
        code: 'bad-address',
        message: new RegExp(to),
      });
  });

  it('keeps to the service, and to the path that it is at', async () => {
    const below = await startOutsideService({ name: 'things', to: `http://127.0.0.1:${(real.address() as AddressInfo).port}/v1/` });
    await Promise.all(['/a', '//elsewhere.example/a'].map((path) => fetch(`${below.url}${path}`)));
    assert.deepEqual(asked.splice(0).sort(), ['GET /v1//elsewhere.example/a ', 'GET /v1/a ']);
    await below.close();
  });

  it('tells a test that asks by way of the bench to ask without', async () => {
    await using bench = await startBench({ reconcilers: [] });
    await assert.rejects(
      bench.effect('make thing', async () => 1),
      (error) =>
        error instanceof BenchError && /make thing is not done.*the test, which has to do it without the bench/.test(error.message),
    );
  });
});
