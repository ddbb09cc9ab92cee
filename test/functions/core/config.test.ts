import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { budgetsOf, type Environment, readConfig } from '../../../functions/core/config.ts';
import { ConfigError } from '../../../functions/core/errors.ts';
import type { Unit } from '../../../functions/core/settings.ts';

const QUEUES = 'https://sqs.eu-west-1.amazonaws.com/123456789012';
const ENV: Environment = {
  DOGWATCH_CLUSTERS: 'clusters.yaml',
  DOGWATCH_QUEUE_URL: `${QUEUES}/dogwatch`,
  DOGWATCH_BULK_QUEUE_URL: `${QUEUES}/dogwatch-bulk`,
  DOGWATCH_DEAD_LETTER_QUEUE_URL: `${QUEUES}/dogwatch-dead`,
};

/** The one line that is said of an environment that cannot be used. */
function problemOf(env: Environment, unit: Unit = 'reconcile'): string {
  try {
    readConfig({ ...ENV, ...env }, unit);
  } catch (error) {
    assert.ok(error instanceof ConfigError && error.code === 'bad-configuration');
    assert.ok(!error.message.includes('\n'));
    return error.message;
  }
  return 'nothing';
}

describe('readConfig', () => {
  it('has a default for everything but clusters and queues', () => {
    assert.deepEqual(readConfig({ ...ENV, PATH: '/bin', AWS_REGION: 'eu-west-1' }, 'reconcile'), {
      clusters: 'clusters.yaml',
      queueUrls: { live: `${QUEUES}/dogwatch`, bulk: `${QUEUES}/dogwatch-bulk` },
      deadLetterQueueUrl: `${QUEUES}/dogwatch-dead`,
      httpAddress: { host: '127.0.0.1', port: 8080 },
      watchTimeoutSeconds: 300,
      watchGraceSeconds: 15,
      probeSeconds: 300,
      healAfterSeconds: 600,
      resyncSeconds: 36_000,
      holdMaxSeconds: 60,
      heartbeatSeconds: 60,
      circuitOpenSeconds: 10,
      circuitOpenMaxSeconds: 300,
      retryBaseSeconds: 2,
      maxAgeSeconds: 21_600,
      recordDeadlineSeconds: 20,
      functionTimeoutSeconds: 30,
      maxAttempts: 10,
      overtakenMaxAttempts: 20,
    });
  });

  it('does without a dead-letter queue in the watcher', () => {
    const { DOGWATCH_DEAD_LETTER_QUEUE_URL: _none, ...env } = ENV;
    assert.equal(readConfig(env, 'watcher').deadLetterQueueUrl, undefined);
    assert.throws(() => readConfig(env, 'reconcile'), /DOGWATCH_DEAD_LETTER_QUEUE_URL is not set/);
  });

  it('takes what is set', () => {
    const config = readConfig(
      { ...ENV, DOGWATCH_MAX_AGE_SECONDS: '60', DOGWATCH_HTTP_ADDRESS: '[::1]:0', DOGWATCH_MAX_ATTEMPTS: '3' },
      'reconcile',
    );
    assert.deepEqual(config.httpAddress, { host: '::1', port: 0 });
    assert.deepEqual(budgetsOf(config), { retryBaseSeconds: 2, maxAgeSeconds: 60, maxAttempts: 3, overtakenMaxAttempts: 20 });
  });

  it('names everything that is missing at once, with what it is for', () => {
    assert.throws(
      () => readConfig({}, 'watcher'),
      (error: Error) =>
        ['DOGWATCH_CLUSTERS is not set: the cluster registry', 'DOGWATCH_QUEUE_URL is not set', 'DOGWATCH_BULK_QUEUE_URL is not set'].every(
          (text) => error.message.includes(text),
        ) && !error.message.includes('DEAD_LETTER'),
    );
  });

  it('names every problem in one line', () => {
    const line = problemOf({ DOGWATCH_PROBE_SECONDS: 'soon', DOGWATCH_MAX_ATTEMPTS: '0' });
    assert.match(
      line,
      /^DOGWATCH_PROBE_SECONDS "soon" is not .*; DOGWATCH_MAX_ATTEMPTS "0" is not a whole number of attempts from 1 to 1000$/,
    );
  });

  for (const text of ['300s', ' 5 ', '5.0', '1e3', '0x10', '-5', '+5', '007', '٣', '0', '604801', '9'.repeat(400)]) {
    it(`does not guess what ${JSON.stringify(text.slice(0, 10))} seconds are`, () => {
      const line = problemOf({ DOGWATCH_MAX_AGE_SECONDS: text });
      assert.ok(line.startsWith(`DOGWATCH_MAX_AGE_SECONDS ${JSON.stringify(text).slice(0, 50)}`), line);
      assert.match(line, /is not a whole number of seconds from 1 to 604800$/);
    });
  }

  it('takes an empty value for a mistake', () => {
    assert.equal(problemOf({ DOGWATCH_PROBE_SECONDS: '' }), 'DOGWATCH_PROBE_SECONDS is empty: unset it, or give it a value');
    assert.match(problemOf({ DOGWATCH_CLUSTERS: '' }), /^DOGWATCH_CLUSTERS is empty/);
  });

  const unknown: readonly [typed: string, meant: string][] = [
    ['DOGWATCH_QUEUE', 'DOGWATCH_QUEUE_URL'],
    ['DOGWATCH_MAXATTEMPTS', 'DOGWATCH_MAX_ATTEMPTS'],
    ['DOGWATCH_DLQ_URL', 'DOGWATCH_QUEUE_URL'],
    ['DOGWATCH_WATCH_TIMEOUT', 'DOGWATCH_WATCH_TIMEOUT_SECONDS'],
    ['DOGWATCH_HEAL_AFTER_SECOND', 'DOGWATCH_HEAL_AFTER_SECONDS'],
  ];
  for (const [typed, meant] of unknown) {
    it(`asks whether ${typed} was meant to be ${meant}, without its value`, () => {
      assert.equal(problemOf({ [typed]: 'hunter2' }), `${typed} is no variable of ours: did you mean ${meant}?`);
    });
  }

  it('does not mind a variable that is not ours, or one that is unset', () => {
    assert.equal(problemOf({ DOG: '1', dogwatch_x: '1', DOGWATCH_UNSET: undefined }), 'nothing');
  });

  const badUrls: readonly [url: string, problem: RegExp][] = [
    ['dogwatch', /"dogwatch" is no http or https URL/],
    ['arn:aws:sqs:eu-west-1:123456789012:dogwatch', /is no http or https URL/],
    [`${QUEUES}/dogwatch `, /is no http or https URL/],
    ['https://sqs.example', /does not end in the name of a queue/],
    ['https://sqs.example/', /does not end in the name of a queue/],
    [`${QUEUES}/dogwatch/`, /does not end in the name of a queue/],
    [`${QUEUES}/dogwatch?x=1`, /does not end in the name of a queue/],
    [`${QUEUES}/dogwatch.fifo`, /is a FIFO queue/],
    [`${QUEUES}/dogwatch-bulk`, /^DOGWATCH_QUEUE_URL and DOGWATCH_BULK_QUEUE_URL name one queue \("dogwatch-bulk"\); they must differ$/],
    ['https://elsewhere.example/dogwatch-dead', /^DOGWATCH_QUEUE_URL and DOGWATCH_DEAD_LETTER_QUEUE_URL name one queue/],
  ];
  for (const [url, problem] of badUrls) {
    it(`refuses ${JSON.stringify(url)} as the live queue`, () => assert.match(problemOf({ DOGWATCH_QUEUE_URL: url }), problem));
  }

  it('does not repeat a URL with credentials', () => {
    const line = problemOf({ DOGWATCH_QUEUE_URL: 'https://user:hunter2@sqs.example/dogwatch' });
    assert.match(line, /^DOGWATCH_QUEUE_URL has credentials in it/);
    assert.ok(!line.includes('hunter2'));
  });

  const addresses: readonly [text: string, expected: { host: string; port: number } | undefined][] = [
    ['0.0.0.0:8080', { host: '0.0.0.0', port: 8080 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::]:65535', { host: '::', port: 65_535 }],
    ['127.0.0.1', undefined],
    [':8080', undefined],
    ['::1:8080', undefined],
    ['[::zz]:80', undefined],
    ['[1:2]:80', undefined],
    ['host:65536', undefined],
    ['http://host:80', undefined],
    ['999.1.1.1:80', undefined],
  ];
  for (const [text, expected] of addresses) {
    it(`${expected === undefined ? 'refuses' : 'reads'} ${text} as an address`, () => {
      const env = { ...ENV, DOGWATCH_HTTP_ADDRESS: text };
      if (expected === undefined) assert.match(problemOf(env), /^DOGWATCH_HTTP_ADDRESS ".*" is not host:port/);
      else assert.deepEqual(readConfig(env, 'watcher').httpAddress, expected);
    });
  }

  const crossed: readonly [env: Environment, units: readonly Unit[], line: string][] = [
    [
      { DOGWATCH_CIRCUIT_OPEN_SECONDS: '301' },
      ['watcher', 'reconcile'],
      'DOGWATCH_CIRCUIT_OPEN_SECONDS (301) must not be over DOGWATCH_CIRCUIT_OPEN_MAX_SECONDS (300)',
    ],
    [{ DOGWATCH_MAX_AGE_SECONDS: '599' }, ['watcher'], 'DOGWATCH_HEAL_AFTER_SECONDS (600) must not be over DOGWATCH_MAX_AGE_SECONDS (599)'],
    [
      { DOGWATCH_WATCH_TIMEOUT_SECONDS: '14' },
      ['watcher'],
      'DOGWATCH_WATCH_GRACE_SECONDS (15) must not be over DOGWATCH_WATCH_TIMEOUT_SECONDS (14)',
    ],
    [
      { DOGWATCH_MAX_AGE_SECONDS: '700', DOGWATCH_RECORD_DEADLINE_SECONDS: '800', DOGWATCH_FUNCTION_TIMEOUT_SECONDS: '800' },
      ['reconcile'],
      'DOGWATCH_RECORD_DEADLINE_SECONDS (800) must not be over DOGWATCH_MAX_AGE_SECONDS (700)',
    ],
    [
      { DOGWATCH_RECORD_DEADLINE_SECONDS: '31' },
      ['reconcile'],
      'DOGWATCH_RECORD_DEADLINE_SECONDS (31) must not be over DOGWATCH_FUNCTION_TIMEOUT_SECONDS (30)',
    ],
  ];
  for (const [env, units, line] of crossed) {
    it(`says that ${line}`, () => {
      for (const unit of ['watcher', 'reconcile'] as const) assert.equal(problemOf(env, unit), units.includes(unit) ? line : 'nothing');
    });
  }
});
