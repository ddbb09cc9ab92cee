/** What doctor makes of answers that are not those of AWS: an emulator's, a proxy's, half of one. None of them is judged. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Deployment, openDeployment } from '../../../../functions/adapters/aws/deployment.ts';

const WORK = { QueueArn: 'arn:aws:sqs:eu-west-1:1:live', VisibilityTimeout: '180', MessageRetentionPeriod: '345600' };
const QUEUE_URL = 'https://sqs.eu-west-1.amazonaws.com/1/live';

describe('openDeployment', () => {
  const kept = { ...process.env };
  const limit = new AbortController();
  let server: Server;
  let aws: Deployment;
  let body = '';
  before(async () => {
    server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    process.env = {
      ...kept,
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      ...{ AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
    };
    aws = openDeployment(limit.signal);
  });
  after(async () => {
    process.env = kept;
    limit.abort();
    aws.close();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  it('takes a queue without a redrive policy as one that has none', async () => {
    body = JSON.stringify({ Attributes: WORK });
    const asked = await aws.queue(QUEUE_URL);
    assert.deepEqual(asked, {
      kind: 'told',
      value: { arn: WORK.QueueArn, visibilitySeconds: 180, retentionSeconds: 345_600, redrive: undefined, redriveAllow: undefined },
    });
  });

  const attributes: readonly [what: string, attributes: Record<string, string> | null | undefined][] = [
    ['no attributes', undefined],
    ['null for attributes', null],
    ['no visibility', { ...WORK, VisibilityTimeout: '' }],
    ['a retention that is no number', { ...WORK, MessageRetentionPeriod: 'long' }],
    ['no ARN', { VisibilityTimeout: '180', MessageRetentionPeriod: '345600' }],
    ['a redrive policy that is no JSON', { ...WORK, RedrivePolicy: 'PASSWORD' }],
    ['a redrive policy that is null', { ...WORK, RedrivePolicy: 'null' }],
    ['a redrive policy without a target', { ...WORK, RedrivePolicy: '{"maxReceiveCount":5}' }],
    ['a redrive allow policy that is a list', { ...WORK, RedriveAllowPolicy: '[]' }],
  ];
  for (const [what, given] of attributes) {
    it(`judges no queue by an answer with ${what}`, async () => {
      body = JSON.stringify({ Attributes: given });
      assertStrange(await aws.queue(QUEUE_URL));
    });
  }

  const calls: readonly [what: string, body: string, call: () => Promise<unknown>][] = [
    ['the URL of a queue', '{}', () => aws.queueUrl('live')],
    ['a function', '{}', () => aws.configuration('f')],
    [
      'a function without a time-out',
      '{"FunctionArn":"arn:aws:lambda:eu-west-1:1:function:f","Timeout":null}',
      () => aws.configuration('f'),
    ],
    ['event sources', '{}', () => aws.mappings('f')],
    ['an event source', '{"EventSourceMappings":[null]}', () => aws.mappings('f')],
    ['recursion', '{}', () => aws.recursiveLoop('f')],
    ['a queue, which a proxy answers', '<html>PASSWORD</html>', () => aws.queue(QUEUE_URL)],
    ['a function, which a proxy answers', '<html>PASSWORD</html>', () => aws.configuration('f')],
  ];
  for (const [what, answer, call] of calls) {
    it(`does not know ${what} by an answer of another form`, async () => {
      body = answer;
      assertStrange(await call());
    });
  }

  it('takes pages of event sources that never end for no answer', { timeout: 10_000 }, async () => {
    body = '{"EventSourceMappings":[],"NextMarker":"same"}';
    assertStrange(await aws.mappings('f'));
  });
});

function assertStrange(asked: unknown): void {
  const { kind, code, by, says } = asked as Record<string, string>;
  assert.deepEqual({ kind, code, by }, { kind: 'untold', code: 'bad-answer', by: 'aws' });
  assert.match(says ?? '', /not what AWS sends/);
  assert.doesNotMatch(says ?? '', /PASSWORD/);
}
