import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { type Environment, readConfig } from '../../../functions/core/config.ts';
import { functionEnvironment } from '../../../infra/local/run-function.ts';

const queue = (name: string): string => `https://sqs.eu-central-1.amazonaws.com/111122223333/${name}`;
const env: Environment = {
  DOGWATCH_CLUSTERS: 'clusters.yml',
  DOGWATCH_QUEUE_URL: queue('live'),
  DOGWATCH_BULK_QUEUE_URL: queue('bulk'),
  DOGWATCH_DEAD_LETTER_QUEUE_URL: queue('dead'),
};
const environmentOf = (more: Environment = {}): Record<string, string> =>
  functionEnvironment(readConfig({ ...env, ...more }, 'reconcile'), { ...env, ...more });

describe('functionEnvironment', () => {
  it('hands on what is the function’s, with the registry where it is for everybody', () => {
    const found = environmentOf({ HOME: '/root', LOG_LEVEL: 'DEBUG', AWS_REGION: 'eu-central-1', AWS_PROFILE: 'mine' });
    assert.equal(found['DOGWATCH_CLUSTERS'], resolve('clusters.yml'));
    assert.deepEqual(
      [found['LOG_LEVEL'], found['AWS_REGION'], found['HOME'], found['AWS_PROFILE']],
      ['DEBUG', 'eu-central-1', undefined, undefined],
    );
    assert.equal(environmentOf({ DOGWATCH_CLUSTERS: 'ssm:/clusters' })['DOGWATCH_CLUSTERS'], 'ssm:/clusters');
  });

  it('has no metrics among the lines for people, unless they are asked for', () => {
    assert.equal(environmentOf()['POWERTOOLS_METRICS_DISABLED'], 'true');
    assert.equal(environmentOf({ POWERTOOLS_METRICS_DISABLED: 'false' })['POWERTOOLS_METRICS_DISABLED'], 'false');
  });
});
