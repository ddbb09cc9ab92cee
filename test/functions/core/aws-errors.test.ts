import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { awsCodeOf, bareAwsCode, isDenied, isThrottling } from '../../../functions/core/aws-errors.ts';

describe('bareAwsCode', () => {
  for (const [code, bare] of [
    ['AWS.SimpleQueueService.BatchRequestTooLong', 'BatchRequestTooLong'],
    ['AWS.SimpleQueueService.NonExistentQueue', 'QueueDoesNotExist'],
    ['com.amazonaws.sqs#OverLimit', 'OverLimit'],
    ['com.amazonaws.sts#ExpiredTokenException', 'ExpiredTokenException'],
    ['KMS.ThrottlingException', 'KMS.ThrottlingException'],
    ['ECONNRESET', 'ECONNRESET'],
  ] as const) {
    it(`makes ${bare} of ${code}`, () => assert.equal(bareAwsCode(code), bare));
  }
});

describe('awsCodeOf', () => {
  const named = (name: string, code?: unknown) => Object.assign(new Error('text'), { name }, code === undefined ? {} : { code });

  for (const [name, error, code] of [
    ['takes the name of the error', named('AWS.SimpleQueueService.OverLimit'), 'OverLimit'],
    ['prefers the code of the network', named('TimeoutError', 'ETIMEDOUT'), 'ETIMEDOUT'],
    ['takes no number for a code', named('TimeoutError', 23), 'TimeoutError'],
    ['knows nothing of what is no error', 'a string', 'unknown'],
  ] as const) {
    it(name, () => assert.equal(awsCodeOf(error), code));
  }
});

describe('a code of AWS', () => {
  const kindOf = (code: string): string => [isThrottling(code) ? 'throttling' : '', isDenied(code) ? 'denied' : ''].join('');

  for (const [kind, codes] of [
    ['throttling', ['Throttling', 'ThrottlingException', 'RequestThrottled', 'KmsThrottled', 'TooManyRequestsException', 'OverLimit']],
    ['throttling', ['RequestLimitExceeded', 'SlowDown', 'ProvisionedThroughputExceededThrottle', 'LimitExceededException']],
    ['denied', ['AccessDenied', 'AccessDeniedException', 'ExpiredToken', 'ExpiredTokenException', 'RequestExpired', 'OptInRequired']],
    ['denied', ['InvalidClientTokenId', 'UnrecognizedClientException', 'SignatureDoesNotMatch', 'InvalidSecurity']],
    ['denied', ['CredentialsProviderError', 'MissingAuthenticationToken']],
    ['', ['InvalidAttributeValue', 'QueueDoesNotExist', 'InternalFailure', 'LimitExceededExceptionally', 'ECONNRESET']],
  ] as const) {
    for (const code of codes) it(`${code} is ${kind || 'neither'}`, () => assert.equal(kindOf(code), kind));
  }
});
