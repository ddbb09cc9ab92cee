/** The checks of `dogwatch doctor` on queues and function, passing and failing: each thing that may be wrong, alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeploymentFacts, EventSourceMapping, FunctionConfiguration, FunctionFacts } from '../../../../functions/core/doctor/facts.ts';
import { findingsOf } from '../../../../functions/core/doctor/findings.ts';
import { ARN, configuration, deployment, environment, lambda, mapping, queue, queues, told, untold } from './healthy.ts';
import { holds, neverBroken, type Row } from './rows.ts';

const withQueues = (change: Partial<DeploymentFacts['queues']>): DeploymentFacts => deployment({ queues: queues(change) });
const withFunction = (change: Partial<FunctionFacts>): DeploymentFacts => deployment({ function: lambda(change) });
const configured = (change: Partial<FunctionConfiguration>): DeploymentFacts =>
  withFunction({ configuration: told(configuration(change)) });
const mapped = (change: Partial<EventSourceMapping>): DeploymentFacts =>
  withFunction({ mappings: told([mapping('live', change), mapping('bulk')]) });

const QUEUES: readonly Row[] = [
  {
    name: 'a queue that is not there',
    facts: withQueues({
      live: { url: 'https://sqs.eu-west-1.amazonaws.com/1/dogwatch-dev-live', attributes: untold('QueueDoesNotExist') },
    }),
    finds: ['failure live queue, found', 'not-checked function, live: event source'],
    says: /there is no https:.*dogwatch-dev-live/,
    fix: /DOGWATCH_QUEUE_URL/,
  },
  {
    name: 'a dead-letter queue that is not there',
    facts: withQueues({ 'dead-letters': { url: 'dogwatch-dev-dead-letters', attributes: untold('QueueDoesNotExist') } }),
    finds: ['failure dead-letter queue, found'],
    says: /there is no dogwatch-dev-dead-letters/,
    fix: /DOGWATCH_DEAD_LETTER_QUEUE_URL/,
  },
  {
    name: 'a variable that is no URL of a queue',
    facts: withQueues({ bulk: { url: undefined, attributes: untold('bad-configuration') } }),
    finds: ['failure bulk queue, found', 'not-checked function, bulk: event source'],
    says: /bad-configuration/,
    fix: /DOGWATCH_BULK_QUEUE_URL/,
  },
  {
    name: 'queues that nobody named',
    facts: deployment({
      queues: queues({ bulk: { url: undefined, attributes: untold('unnamed') } }),
      function: undefined,
    }),
    finds: ['not-checked bulk queue, found', 'not-checked function, found'],
    says: /nobody named it/,
    fix: /--stage/,
  },
  {
    name: 'a queue that may not be asked',
    facts: withQueues({ live: { ...queue('live'), attributes: untold('AccessDenied', 'aws') } }),
    finds: ['not-checked live queue, attributes', 'not-checked function, live: event source'],
    says: /AccessDenied/,
    fix: /sqs:GetQueueAttributes/,
  },
  {
    name: 'a visibility below six time-outs',
    facts: withQueues({ live: queue('live', { visibilitySeconds: 179 }) }),
    finds: ['failure live queue, visibility'],
    says: /179 s .*\(30 s\)/,
    fix: /to 180 s/,
  },
  {
    name: 'a visibility that forgets the window',
    facts: withFunction({ mappings: told([mapping('live'), mapping('bulk', { windowSeconds: 20 })]) }),
    finds: ['failure bulk queue, visibility'],
    says: /window \(20 s\)/,
    fix: /to 200 s/,
  },
  {
    name: 'messages that are kept as long as letters',
    facts: withQueues({ bulk: queue('bulk', { retentionSeconds: 1_209_600 }) }),
    finds: ['failure bulk queue, retention'],
    says: /14 d is not less/,
    fix: /Lower it/,
  },
  {
    name: 'messages that are kept for an hour',
    facts: withQueues({ live: queue('live', { retentionSeconds: 3600 }) }),
    finds: ['warning live queue, retention'],
    says: /^1 h:/,
    fix: /a day/,
  },
  {
    name: 'no redrive policy',
    facts: withQueues({ live: queue('live', { redrive: undefined }) }),
    finds: ['failure live queue, redrive'],
    says: /no redrive policy/,
    fix: /Set one/,
  },
  {
    name: 'letters that go elsewhere',
    facts: withQueues({ bulk: queue('bulk', { redrive: { targetArn: `${ARN}-other`, maxReceiveCount: 5 } }) }),
    finds: ['failure bulk queue, redrive'],
    says: /-other/,
    fix: /Point it there/,
  },
  {
    name: 'letters after too few receives',
    facts: withQueues({ live: queue('live', { redrive: { targetArn: `${ARN}-dead-letters`, maxReceiveCount: 3 } }) }),
    finds: ['failure live queue, redrive'],
    says: /3 receives/,
    fix: /to 5/,
  },
  {
    name: 'letters that are deleted early',
    facts: withQueues({ 'dead-letters': queue('dead-letters', { retentionSeconds: 864_000 }) }),
    finds: ['warning dead-letter queue, retention'],
    says: /10 d/,
    fix: /Raise it/,
  },
  {
    name: 'letters of anybody',
    facts: withQueues({ 'dead-letters': queue('dead-letters', { redriveAllow: undefined }) }),
    finds: ['warning dead-letter queue, redrive allow'],
    says: /any queue/,
    fix: /Allow the two/,
  },
  {
    name: 'letters of nobody',
    facts: withQueues({ 'dead-letters': queue('dead-letters', { redriveAllow: { permission: 'denyAll', sourceArns: [] } }) }),
    finds: ['failure dead-letter queue, redrive allow'],
    says: /no queue/,
    fix: /Allow the two/,
  },
  {
    name: 'letters of one lane only',
    facts: withQueues({ 'dead-letters': queue('dead-letters', { redriveAllow: { permission: 'byQueue', sourceArns: [`${ARN}-live`] } }) }),
    finds: ['failure dead-letter queue, redrive allow'],
    says: /dogwatch-dev-bulk/,
    fix: /Allow the two/,
  },
];

const FUNCTION: readonly Row[] = [
  {
    name: 'a function that is not there',
    facts: withFunction({ configuration: untold('ResourceNotFoundException') }),
    finds: ['failure function, found'],
    says: /no dogwatch-dev-reconcile/,
    fix: /deploy/,
  },
  {
    name: 'AWS that is not reached',
    facts: withFunction(allUntold('ENOTFOUND')),
    finds: ['not-checked function, found'],
    says: /ENOTFOUND/,
    fix: /AWS_REGION/,
  },
  {
    name: 'a variable of AWS that is wrong',
    facts: withFunction(allUntold('aws-variable')),
    finds: ['not-checked function, found'],
    says: /aws-variable/,
    fix: /^Mend that variable, and run this again\.$/,
  },
  {
    name: 'no AWS credentials',
    facts: withFunction(allUntold('CredentialsProviderError')),
    finds: ['not-checked function, found'],
    says: /CredentialsProviderError/,
    fix: /get-caller-identity/,
  },
  {
    name: 'questions that may not be asked',
    facts: withFunction({
      recursiveLoop: untold('AccessDeniedException', 'aws'),
      reservedConcurrency: untold('AccessDeniedException', 'aws'),
    }),
    finds: ['not-checked function, RecursiveLoop', 'not-checked function, reserved concurrency'],
    says: /AccessDenied/,
    fix: /lambda:GetFunctionRecursionConfig/,
  },
  {
    name: 'event sources that may not be listed',
    facts: withFunction({ mappings: untold('AccessDeniedException', 'aws') }),
    finds: ['not-checked function, event sources'],
    says: /AccessDenied/,
    fix: /lambda:ListEventSourceMappings/,
  },
  {
    name: 'a configuration that may not be read',
    facts: withFunction({ configuration: untold('AccessDeniedException', 'aws') }),
    finds: ['not-checked function, configuration'],
    says: /AccessDenied/,
    fix: /lambda:GetFunctionConfiguration/,
  },
  {
    name: 'an update that failed',
    facts: configured({ lastUpdate: 'Failed', reason: 'The subnet has no address left.' }),
    finds: ['failure function, state'],
    says: /subnet/,
    fix: /deploy/,
  },
  {
    name: 'an update under way',
    facts: configured({ lastUpdate: 'InProgress' }),
    finds: ['warning function, state'],
    says: /InProgress/,
    fix: /Wait/,
  },
  {
    name: 'an older runtime',
    facts: configured({ runtime: 'nodejs20.x' }),
    finds: ['failure function, runtime'],
    says: /nodejs20/,
    fix: /nodejs24/,
  },
  {
    name: 'another runtime',
    facts: configured({ runtime: 'python3.14' }),
    finds: ['failure function, runtime'],
    says: /python/,
    fix: /nodejs24/,
  },
  {
    name: 'a newer runtime',
    facts: configured({ runtime: 'nodejs26.x' }),
    finds: ['warning function, runtime'],
    says: /nodejs26/,
    fix: /nodejs24/,
  },
  {
    name: 'a time-out shorter than the function believes',
    facts: configured({ timeoutSeconds: 25 }),
    finds: ['failure function, time-out'],
    says: /25 s, and DOGWATCH_FUNCTION_TIMEOUT_SECONDS says 30/,
    fix: /functionTimeoutSeconds/,
  },
  {
    name: 'a time-out longer than the function believes, and a visibility for the other',
    facts: configured({ timeoutSeconds: 60 }),
    finds: ['failure live queue, visibility', 'failure bulk queue, visibility', 'warning function, time-out'],
    says: /\(60 s\)/,
    fix: /to 360 s/,
  },
  {
    name: 'a variable that the function does not know',
    facts: configured({ environment: environment({ DOGWATCH_MAX_ATEMPTS: '3' }) }),
    finds: ['failure function, environment'],
    says: /DOGWATCH_MAX_ATEMPTS .*DOGWATCH_MAX_ATTEMPTS/,
    fix: /serverless\.yml/,
  },
  {
    name: 'a function without its queue',
    facts: configured({ environment: { ...environment(), DOGWATCH_DEAD_LETTER_QUEUE_URL: '' } }),
    finds: ['failure function, environment'],
    says: /DOGWATCH_DEAD_LETTER_QUEUE_URL is empty/,
    fix: /serverless\.yml/,
  },
  {
    name: 'a function that sends to another queue',
    facts: configured({ environment: environment({ DOGWATCH_BULK_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/1/other-bulk' }) }),
    finds: ['failure function, environment'],
    says: /DOGWATCH_BULK_QUEUE_URL names .*other-bulk/,
    fix: /same queues/,
  },
  {
    name: 'loops that are ended',
    facts: withFunction({ recursiveLoop: told('Terminate') }),
    finds: ['failure function, RecursiveLoop'],
    says: /Terminate/,
    fix: /put-function-recursion-config --function-name dogwatch-dev-reconcile/,
  },
  {
    name: 'a function that is switched off',
    facts: withFunction({ reservedConcurrency: told(0) }),
    finds: ['failure function, reserved concurrency'],
    says: /switched off/,
    fix: /delete-function-concurrency/,
  },
  {
    name: 'less reserved than the event sources may run',
    facts: withFunction({ reservedConcurrency: told(14) }),
    finds: ['failure function, reserved concurrency'],
    says: /14, and the event sources may run 15/,
    fix: /reserve 15/,
  },
  {
    name: 'a queue that nothing reads',
    facts: withFunction({ mappings: told([mapping('live')]) }),
    finds: ['failure function, bulk: event source'],
    says: /nothing takes messages/,
    fix: /event source/,
  },
  {
    name: 'an event source that is switched off',
    facts: mapped({ state: 'Disabled' }),
    finds: ['failure function, live: event source'],
    says: /Disabled/,
    fix: /--uuid id-live --enabled/,
  },
  {
    name: 'an event source that is being made',
    facts: mapped({ state: 'Creating' }),
    finds: ['warning function, live: event source'],
    says: /Creating/,
    fix: /Wait/,
  },
  {
    name: 'batches that fail as a whole',
    facts: mapped({ responseTypes: [] }),
    finds: ['failure function, live: partial batch response'],
    says: /off/,
    fix: /ReportBatchItemFailures/,
  },
  {
    name: 'no bound of concurrency',
    facts: mapped({ maximumConcurrency: undefined }),
    finds: ['failure function, live: maximum concurrency'],
    says: /not set/,
    fix: /MaximumConcurrency/,
  },
  {
    name: 'a filter, which deletes messages',
    facts: mapped({ hasFilter: true }),
    finds: ['failure function, live: filter'],
    says: /deleted unseen/,
    fix: /filter-criteria/,
  },
];

function allUntold(code: string): Partial<FunctionFacts> {
  const asked = untold(code, 'aws');
  return { configuration: asked, mappings: asked, recursiveLoop: asked, reservedConcurrency: asked };
}

describe('doctor on queues', () => holds(QUEUES));
describe('doctor on the function', () => holds(FUNCTION));

describe('the rows above', () => {
  it('have each check failing', () => {
    // Of checks that both lanes have, one of the two is enough: they are judged by the same code.
    const lanes = /^(live queue|dead-letter queue|function, (?!bulk: ))/;
    assert.deepEqual(neverBroken(lanes, [...QUEUES, ...FUNCTION]), []);
  });
});

describe('doctor on a function that fits its reserve', () => {
  it('takes a reserve that is as large as the event sources, and a time-out that is configured here where the real one is not known', () => {
    const facts = deployment({ function: lambda({ ...allUntold('AccessDenied'), reservedConcurrency: told(15) }) });
    const found = findingsOf(facts, { reconcilers: [], functionTimeoutSeconds: 40 });
    assert.deepEqual(
      found.filter(({ outcome }) => outcome === 'failure').map(({ says }) => /time-out \((\d+) s\)/.exec(says)?.[1]),
      ['40', '40'],
    );
    assert.equal(found.find(({ check }) => check === 'reserved concurrency')?.outcome, 'ok');
  });
});
