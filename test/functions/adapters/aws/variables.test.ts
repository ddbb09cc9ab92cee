/** Variables of AWS that the SDK would take as they are: what is wrong is told before a call, by whoever would make one. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openDeployment } from '../../../../functions/adapters/aws/deployment.ts';
import { openEks } from '../../../../functions/adapters/aws/eks.ts';
import { openStores } from '../../../../functions/adapters/aws/stores.ts';
import { checkAwsEndpoint, checkAwsRegion } from '../../../../functions/adapters/aws/variables.ts';
import { createSqsClient } from '../../../../functions/adapters/sqs.ts';

const REGION_TEXT = 'AWS_REGION is "eu west 1!", which is no region; write one such as eu-west-1';
const ENDPOINT_TEXT = 'AWS_ENDPOINT_URL is "localhost:4566", which is no http(s) address; write http://localhost:4566';

describe('checkAwsEndpoint', () => {
  const rows: [what: string, env: Record<string, string>, says: string | undefined][] = [
    ['none', {}, undefined],
    ['an empty one', { AWS_ENDPOINT_URL: '' }, undefined],
    ['a good one', { AWS_ENDPOINT_URL: 'http://localhost:4566' }, undefined],
    ['one without scheme', { AWS_ENDPOINT_URL: 'localhost:4566' }, ENDPOINT_TEXT],
    [
      'an address without scheme and with a path',
      { AWS_ENDPOINT_URL_SQS: '10.0.0.1:9324/sqs' },
      'AWS_ENDPOINT_URL_SQS is "10.0.0.1:9324/sqs", which is no http(s) address; write http://10.0.0.1:9324/sqs',
    ],
    [
      'another scheme',
      { AWS_ENDPOINT_URL: 'tcp://localhost:4566' },
      'AWS_ENDPOINT_URL is "tcp://localhost:4566", which is no http(s) address; write one such as http://localhost:4566',
    ],
    ['a bad one that one of the service goes before', { AWS_ENDPOINT_URL: 'a', AWS_ENDPOINT_URL_SQS: 'https://a' }, undefined],
    ['a bad one of another service', { AWS_ENDPOINT_URL_SSM: 'a' }, undefined],
    [
      'what is no host, cut short',
      { AWS_ENDPOINT_URL: `${' x'.repeat(300)}` },
      `AWS_ENDPOINT_URL is "${' x'.repeat(49)} …", which is no http(s) address; write one such as http://localhost:4566`,
    ],
  ];
  for (const [what, env, says] of rows) {
    it(`${says === undefined ? 'takes' : 'refuses'} ${what}`, () => {
      const check = (): void => checkAwsEndpoint('SQS', env);
      if (says === undefined) check();
      else assert.throws(check, { name: 'ConfigError', code: 'aws-variable', message: says });
    });
  }
});

describe('checkAwsRegion', () => {
  for (const region of [undefined, 'eu-west-1', 'us-gov-west-1', 'elasticmq']) {
    it(`takes ${region}`, () => checkAwsRegion(region === undefined ? {} : { AWS_REGION: region }));
  }

  it('refuses what can be no part of a host name', () => {
    assert.throws(() => checkAwsRegion({ AWS_REGION: 'eu west 1!' }), { name: 'ConfigError', code: 'aws-variable', message: REGION_TEXT });
  });
});

describe('whoever calls AWS', () => {
  const kept = { ...process.env };
  beforeEach(() => {
    process.env = { ...kept, AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
  });
  afterEach(() => {
    process.env = kept;
  });

  const role = 'arn:aws:iam::123456789012:role/dogwatch';
  const eks = { kind: 'eks', cluster: 'a', region: 'eu-west-1' } as const;
  const throwing: [who: string, call: () => Promise<unknown>, prefix: string, ofRegion: boolean][] = [
    ['for queues', () => createSqsClient(), '', true],
    ['for a parameter', () => openStores().read('ssm:/a'), 'ssm:/a: cannot be read: ', true],
    ['for a secret', () => openStores().read('secretsmanager:a'), 'secretsmanager:a: cannot be read: ', true],
    ['for a cluster', () => openEks(eks, Date.now).describe(), 'EKS cluster a in eu-west-1: cannot be described: ', false],
    [
      'for a role',
      () => openEks({ ...eks, role }, Date.now).issuer.issue(),
      `EKS cluster a in eu-west-1: the role ${role} cannot be assumed: `,
      false,
    ],
  ];
  for (const [who, call, prefix, ofRegion] of throwing) {
    it(`${who} says which variable is wrong`, async () => {
      process.env['AWS_ENDPOINT_URL'] = 'localhost:4566';
      await assert.rejects(call(), { name: 'ConfigError', code: 'aws-variable', message: prefix + ENDPOINT_TEXT });
      if (!ofRegion) return;
      process.env['AWS_REGION'] = 'eu west 1!';
      delete process.env['AWS_ENDPOINT_URL'];
      await assert.rejects(call(), { name: 'ConfigError', code: 'aws-variable', message: prefix + REGION_TEXT });
    });
  }

  it('for a function and for queues answers doctor with it', async () => {
    const untold = (says: string) => ({ kind: 'untold', code: 'aws-variable', says, by: 'aws' });
    const ask = async () => {
      const aws = openDeployment(new AbortController().signal);
      const found = await Promise.all([aws.configuration('a'), aws.queueUrl('a')]);
      aws.close();
      return found;
    };
    process.env['AWS_ENDPOINT_URL'] = 'localhost:4566';
    assert.deepEqual(await ask(), [untold(ENDPOINT_TEXT), untold(ENDPOINT_TEXT)]);
    process.env['AWS_REGION'] = 'eu west 1!';
    delete process.env['AWS_ENDPOINT_URL'];
    assert.deepEqual(await ask(), [untold(REGION_TEXT), untold(REGION_TEXT)]);
  });
});
