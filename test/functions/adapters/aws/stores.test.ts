import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { openStores } from '../../../../functions/adapters/aws/stores.ts';
import { AwsStub } from '../../../fakes/aws-stub.ts';

let aws: AwsStub;
const kept = { ...process.env };
before(async () => {
  aws = await AwsStub.start();
  Object.assign(process.env, aws.environment);
});
after(async () => {
  process.env = kept;
  await aws.close();
});
afterEach(() => aws.reset());

const ARN = 'arn:aws:secretsmanager:eu-north-1:123456789012:secret:dogwatch/east-AbCdEf';
const SECRET = 'hunter2';

describe('openStores', () => {
  it('reads a parameter, decrypted', async () => {
    aws.parameters.set('/dogwatch/clusters', 'clusters: []');
    assert.equal(await openStores().read('ssm:/dogwatch/clusters'), 'clusters: []');
    assert.deepEqual(aws.calls[0]?.input, { Name: '/dogwatch/clusters', WithDecryption: true });
  });

  it('reads a secret: its text, its bytes as text, or the value of a key', async () => {
    aws.secrets
      .set('east', 'text')
      .set('bytes', Buffer.from('käse'))
      .set('json', JSON.stringify({ east: 'one', west: 'two' }));
    const { read } = openStores();
    const found = [];
    for (const reference of ['east', 'bytes', 'json#west']) found.push(await read(`secretsmanager:${reference}`));
    assert.deepEqual(found, ['text', 'käse', 'two']);
  });

  it('asks the region that an ARN names', async () => {
    aws.secrets.set(ARN, 'text');
    delete process.env['AWS_REGION'];
    try {
      assert.equal(await openStores().read(`secretsmanager:${ARN}`), 'text');
    } finally {
      Object.assign(process.env, aws.environment);
    }
  });

  const faults: [what: string, reference: string, message: RegExp][] = [
    ['a parameter that is not there', 'ssm:/none', /^ssm:\/none: cannot be read: ParameterNotFound: .*; look at name, account and region$/],
    ['a secret that is not there', 'secretsmanager:none', /^secretsmanager:none: cannot be read: ResourceNotFoundException: /],
    ['a key that is not there', 'secretsmanager:json#north', /^secretsmanager:json#north: has no text under the key north$/],
    ['a key whose value is no text', 'secretsmanager:json#list', /^secretsmanager:json#list: has no text under the key list$/],
    ['a key that every object has', 'secretsmanager:json#constructor', /has no text under the key constructor$/],
    ['a key of what is no JSON', 'secretsmanager:text#east', /^secretsmanager:text#east: is no JSON, so it has no keys; leave #KEY out$/],
    ['an empty secret of bytes', 'secretsmanager:empty', /^secretsmanager:empty: holds no text$/],
  ];
  for (const [what, reference, message] of faults) {
    it(`says where ${what} was looked for, and nothing of what is stored`, async () => {
      aws.secrets
        .set('json', JSON.stringify({ list: [SECRET], east: SECRET }))
        .set('text', SECRET)
        .set('empty', new Uint8Array());
      const error = await openStores()
        .read(reference)
        .catch((caught: unknown) => caught);
      assert.ok(error instanceof Error);
      assert.deepEqual([error.name, message.test(error.message)], ['ConfigError', true], error.message);
      assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /hunter2/);
    });
  }

  it('says what right is missing, in the words of AWS', async () => {
    const message = 'User: arn:aws:sts::1:assumed-role/x is not authorized to perform: ssm:GetParameter on resource: y';
    aws.refusals.set('GetParameter', { status: 400, code: 'AccessDeniedException', message });
    await assert.rejects(openStores().read('ssm:/east'), {
      name: 'ConfigError',
      code: 'aws-refused',
      message: `ssm:/east: cannot be read: AccessDeniedException: ${message}; grant it`,
    });
  });

  it('has no more to say than AWS, which often has a code and no words', async () => {
    aws.refusals.set('GetParameter', { status: 400, code: 'ParameterNotFound', message: '' });
    await assert.rejects(openStores().read('ssm:/east'), {
      message: 'ssm:/east: cannot be read: ParameterNotFound; look at name, account and region',
    });
  });

  it('tries again where AWS throttles or cannot be reached, three times in all', async () => {
    aws.refusals.set('GetParameter', { status: 400, code: 'ThrottlingException', message: 'Rate exceeded' });
    await assert.rejects(openStores().read('ssm:/east'), { name: 'ConfigError', message: /ThrottlingException: Rate exceeded/ });
    assert.equal(aws.count('GetParameter'), 3);
    process.env['AWS_ENDPOINT_URL_SSM'] = 'http://127.0.0.1:1';
    try {
      await assert.rejects(openStores().read('ssm:/east'), { name: 'ConfigError', message: /^ssm:\/east: cannot be read: .*ECONNREFUSED/ });
    } finally {
      delete process.env['AWS_ENDPOINT_URL_SSM'];
    }
  });
});
