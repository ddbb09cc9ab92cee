/** Whether the queues keep messages as long, and hide them as long, as the rest of the design rests on. */
import type { DeploymentFacts, QueueAttributes, QueueFacts, QueueName } from './facts.ts';
import { type Finding, findingsOn, howToAskAws, isAbsentInAws } from './finding.ts';

/** What Lambda's pollers hand out, fail and hand out again within one visibility. @see Lambda developer guide, "Configuring an SQS queue" */
const VISIBILITY_TIMEOUTS = 6;
/** Every receive counts, also of a batch that was throttled before any code saw it. @see Lambda developer guide, likewise */
const RECEIVES_LEAST = 5;
/** The most that SQS keeps. */
const LETTERS_KEPT_SECONDS = 1_209_600;
/** Somebody must have time to mend a function that stands still. */
const KEPT_LEAST_SECONDS = 86_400;

const VARIABLES: Readonly<Record<QueueName, string>> = {
  live: 'DOGWATCH_QUEUE_URL',
  bulk: 'DOGWATCH_BULK_QUEUE_URL',
  'dead-letters': 'DOGWATCH_DEAD_LETTER_QUEUE_URL',
};
const DEPLOY = 'deploy the stage again (infra/queues.yml has it), or set it by aws sqs set-queue-attributes.';

/** What the queues are measured by. */
export interface QueueMeasure {
  /** The function's real time-out where it is known, else what is configured. */
  readonly functionTimeoutSeconds: number;
  /** By queue ARN: the batching window of the mapping that reads it. */
  windowSecondsOf(queueArn: string): number;
}

function subjectOfQueue(name: QueueName): string {
  return name === 'dead-letters' ? 'dead-letter queue' : `${name} queue`;
}

/** All findings about the three queues. */
export function queueFindings(queues: DeploymentFacts['queues'], measure: QueueMeasure): Finding[] {
  const letters = toldOf(queues['dead-letters']);
  const work = (['live', 'bulk'] as const).flatMap((lane) => {
    const attributes = toldOf(queues[lane]);
    return attributes === undefined ? [absentFinding(lane, queues[lane])] : workFindings(lane, attributes, letters, measure);
  });
  if (letters === undefined) return [...work, absentFinding('dead-letters', queues['dead-letters'])];
  const sources = (['live', 'bulk'] as const).flatMap((lane) => toldOf(queues[lane]) ?? []);
  return [...work, ...letterFindings(letters, sources)];
}

function toldOf({ attributes }: QueueFacts): QueueAttributes | undefined {
  return attributes.kind === 'told' ? attributes.value : undefined;
}

function absentFinding(name: QueueName, { url, attributes }: QueueFacts): Finding {
  const on = findingsOn(subjectOfQueue(name));
  if (url === undefined && attributes.kind === 'untold' && attributes.code === 'unnamed') {
    return on.notChecked('found', 'nobody named it', `Set ${VARIABLES[name]}, or name the stage by --stage.`);
  }
  const { code, says } = attributes.kind === 'untold' ? attributes : { code: '', says: '' };
  if (isAbsentInAws(code)) {
    return on.failure(
      'found',
      `there is no ${url ?? 'queue'} in this account and region`,
      `Set ${VARIABLES[name]} to the URL that the stack has, or deploy the stage.`,
    );
  }
  if (code === 'bad-configuration') return on.failure('found', says, `Set ${VARIABLES[name]} to the URL of a standard queue.`);
  return on.notChecked('attributes', says, howToAskAws(code, 'sqs:GetQueueAttributes'));
}

function workFindings(
  lane: 'live' | 'bulk',
  queue: QueueAttributes,
  letters: QueueAttributes | undefined,
  measure: QueueMeasure,
): Finding[] {
  const on = findingsOn(subjectOfQueue(lane));
  const windowSeconds = measure.windowSecondsOf(queue.arn);
  const leastSeconds = VISIBILITY_TIMEOUTS * measure.functionTimeoutSeconds + windowSeconds;
  return [
    queue.visibilitySeconds >= leastSeconds
      ? on.ok('visibility', `${queue.visibilitySeconds} s`)
      : on.failure(
          'visibility',
          `${queue.visibilitySeconds} s is less than six times the function's time-out (${measure.functionTimeoutSeconds} s) and the window (${windowSeconds} s): others receive messages that are being worked on`,
          `Raise it to ${leastSeconds} s: ${DEPLOY}`,
        ),
    retentionFinding(lane, queue, letters),
    ...redriveFindings(lane, queue, letters),
  ];
}

function retentionFinding(
  lane: 'live' | 'bulk',
  { retentionSeconds: seconds }: QueueAttributes,
  letters: QueueAttributes | undefined,
): Finding {
  const on = findingsOn(subjectOfQueue(lane));
  if (letters !== undefined && seconds >= letters.retentionSeconds) {
    const says = `${timeOf(seconds)} is not less than that of the dead-letter queue (${timeOf(letters.retentionSeconds)}): SQS counts from the first send, so a letter may be deleted as it arrives`;
    return on.failure('retention', says, `Lower it, or raise the other: ${DEPLOY}`);
  }
  if (seconds >= KEPT_LEAST_SECONDS) return on.ok('retention', timeOf(seconds));
  const says = `${timeOf(seconds)}: a function that stands still for longer loses messages`;
  return on.warning('retention', says, `Raise it to a day at least: ${DEPLOY}`);
}

function redriveFindings(lane: 'live' | 'bulk', { redrive }: QueueAttributes, letters: QueueAttributes | undefined): Finding[] {
  const on = findingsOn(subjectOfQueue(lane));
  if (redrive === undefined) {
    return [
      on.failure(
        'redrive',
        'has no redrive policy: a message that breaks the function comes back until it is deleted unseen',
        `Set one: ${DEPLOY}`,
      ),
    ];
  }
  const { targetArn, maxReceiveCount } = redrive;
  if (letters !== undefined && targetArn !== letters.arn) {
    return [on.failure('redrive', `goes to ${targetArn}, and not to the dead-letter queue ${letters.arn}`, `Point it there: ${DEPLOY}`)];
  }
  if (maxReceiveCount >= RECEIVES_LEAST) return [on.ok('redrive', `after ${maxReceiveCount} receives`)];
  const says = `after ${maxReceiveCount} receives, and ${RECEIVES_LEAST} are needed: a batch that is throttled counts as one`;
  return [on.failure('redrive', says, `Raise maxReceiveCount to ${RECEIVES_LEAST}: ${DEPLOY}`)];
}

function letterFindings(letters: QueueAttributes, sources: readonly QueueAttributes[]): Finding[] {
  const on = findingsOn(subjectOfQueue('dead-letters'));
  const { retentionSeconds } = letters;
  return [
    retentionSeconds >= LETTERS_KEPT_SECONDS
      ? on.ok('retention', timeOf(retentionSeconds))
      : on.warning('retention', `${timeOf(retentionSeconds)}, and SQS would keep letters for 14 days`, `Raise it: ${DEPLOY}`),
    allowFinding(letters, sources),
  ];
}

function allowFinding({ redriveAllow }: QueueAttributes, sources: readonly QueueAttributes[]): Finding {
  const on = findingsOn(subjectOfQueue('dead-letters'));
  const fix = `Allow the two work queues: ${DEPLOY}`;
  if (redriveAllow === undefined || redriveAllow.permission === 'allowAll') {
    return on.warning('redrive allow', 'takes the dead letters of any queue of the account', fix);
  }
  if (redriveAllow.permission === 'denyAll') return on.failure('redrive allow', 'takes the dead letters of no queue', fix);
  const missing = sources.filter(({ arn }) => !redriveAllow.sourceArns.includes(arn));
  if (missing.length === 0) return on.ok('redrive allow', 'from the work queues');
  return on.failure('redrive allow', `refuses the dead letters of ${missing.map(({ arn }) => arn).join(', ')}`, fix);
}

/** `4 d`, and `90 s` where it is no number of whole hours. */
function timeOf(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`;
  return seconds % 3600 === 0 ? `${seconds / 3600} h` : `${seconds} s`;
}
