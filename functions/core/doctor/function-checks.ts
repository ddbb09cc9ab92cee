/** Whether the function, and what feeds it from the queues, are as a deployment makes them. */
import { readConfig } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { queueNameOf, SETTINGS, type SettingName, variableOf } from '../settings.ts';
import type { DeploymentFacts, EventSourceMapping, FunctionConfiguration, FunctionFacts, Lane, QueueName } from './facts.ts';
import { type Asked, type Finding, findingsOn, howToAskAws, isAbsentInAws, type Untold } from './finding.ts';

/** What the bundle is built for. */
const RUNTIME_MAJOR = 24;
const PARTIAL = 'ReportBatchItemFailures';
const REDEPLOY = 'deploy the stage again';
const on = findingsOn('function');

/** All findings about the function and its event sources. */
export function functionFindings(facts: FunctionFacts | undefined, queues: DeploymentFacts['queues']): Finding[] {
  if (facts === undefined) {
    return [on.notChecked('found', 'nobody named it', 'Name it by --stage STAGE, or by --function NAME.')];
  }
  const { name, configuration, mappings, recursiveLoop, reservedConcurrency } = facts;
  if (configuration.kind === 'untold' && isAbsentInAws(configuration.code)) {
    return [
      on.failure('found', `there is no ${name} in this account and region`, 'Look at name, account and region, or deploy the stage.'),
    ];
  }
  const answers = [configuration, mappings, recursiveLoop, reservedConcurrency];
  if (configuration.kind === 'untold' && answers.every((asked) => asked.kind === 'untold' && asked.code === configuration.code)) {
    return [unasked('found', configuration, 'lambda:GetFunctionConfiguration and what else README.md lists for doctor')];
  }
  return [
    ...(configuration.kind === 'told'
      ? configurationFindings(name, configuration.value, queues)
      : [unasked('configuration', configuration, 'lambda:GetFunctionConfiguration')]),
    recursion(name, recursiveLoop),
    reserved(name, reservedConcurrency, mappings),
    ...(mappings.kind === 'told'
      ? (['live', 'bulk'] as const).flatMap((lane) => mappingFindings(lane, mappings.value, queues))
      : [unasked('event sources', mappings, 'lambda:ListEventSourceMappings')]),
  ];
}

function unasked(check: string, { code, says }: Untold, action: string): Finding {
  return on.notChecked(check, says, howToAskAws(code, action));
}

function configurationFindings(name: string, configuration: FunctionConfiguration, queues: DeploymentFacts['queues']): Finding[] {
  return [
    stateFinding(name, configuration),
    runtimeFinding(configuration),
    timeoutFinding(configuration),
    ...environmentFindings(configuration, queues),
  ];
}

function stateFinding(name: string, { state, lastUpdate, reason }: FunctionConfiguration): Finding {
  if (state === 'Failed' || lastUpdate === 'Failed') {
    return on.failure(
      'state',
      `${name} is ${state}, its last update ${lastUpdate}${reason === undefined ? '' : ` (${reason})`}`,
      `Mend what AWS names, and ${REDEPLOY}.`,
    );
  }
  if (state === 'Active' && lastUpdate === 'Successful') return on.ok('state', `${name} is active`);
  return on.warning('state', `${name} is ${state}, its last update ${lastUpdate}`, 'Wait a minute and run this again.');
}

function runtimeFinding({ runtime }: FunctionConfiguration): Finding {
  const major = Number(/^nodejs(\d+)\.x$/.exec(runtime)?.[1]);
  const wanted = `nodejs${RUNTIME_MAJOR}.x`;
  if (major === RUNTIME_MAJOR) return on.ok('runtime', runtime);
  const fix = `Set ${wanted} in serverless.yml and ${REDEPLOY}.`;
  if (major > RUNTIME_MAJOR) return on.warning('runtime', `${runtime}, and the function is built and tested for ${wanted}`, fix);
  return on.failure('runtime', `${runtime}, and the function is built for ${wanted}`, fix);
}

function timeoutFinding({ timeoutSeconds, environment }: FunctionConfiguration): Finding {
  const variable = variableOf('functionTimeoutSeconds');
  const text = environment[variable] ?? SETTINGS.functionTimeoutSeconds.defaultText;
  const told = Number(text);
  if (told === timeoutSeconds) return on.ok('time-out', `${timeoutSeconds} s`);
  const says = `${timeoutSeconds} s, and ${variable} says ${text}`;
  const fix = `Make the two agree: functionTimeoutSeconds in serverless.yml sets both; ${REDEPLOY}, and set the watcher's likewise.`;
  if (told > timeoutSeconds) return on.failure('time-out', `${says}: runs are cut off in the middle`, fix);
  return on.warning('time-out', `${says}: runs end earlier than they need`, fix);
}

/** The variables by themselves, as the function will read them; and whether they name the queues that were looked at. */
function environmentFindings({ environment }: FunctionConfiguration, queues: DeploymentFacts['queues']): Finding[] {
  const problem = environmentProblem(environment);
  const fix = `Mend functions.reconcile.environment in serverless.yml and ${REDEPLOY}.`;
  if (problem !== undefined) return [on.failure('environment', problem, fix)];
  const others = (['live', 'bulk', 'dead-letters'] as const).filter((queue) => {
    const url = queues[queue].url;
    return url !== undefined && queueNameOf(url) !== queueNameOf(environment[variableOf(FIELDS[queue])] ?? '');
  });
  if (others.length === 0) return [on.ok('environment', 'is what the function reads')];
  const says = others.map(
    (queue) => `${variableOf(FIELDS[queue])} names ${environment[variableOf(FIELDS[queue])]}, and here it is ${queues[queue].url}`,
  );
  return [
    on.failure(
      'environment',
      says.join('; '),
      `Name the same queues for watcher, function and this command; ${REDEPLOY} for the function's.`,
    ),
  ];
}

const FIELDS = { live: 'queueUrl', bulk: 'bulkQueueUrl', 'dead-letters': 'deadLetterQueueUrl' } as const satisfies Record<
  QueueName,
  SettingName
>;

function environmentProblem(environment: Readonly<Record<string, string>>): string | undefined {
  try {
    readConfig(environment, 'reconcile');
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

function recursion(name: string, asked: Asked<string>): Finding {
  if (asked.kind === 'untold') return unasked('RecursiveLoop', asked, 'lambda:GetFunctionRecursionConfig');
  if (asked.value === 'Allow') return on.ok('RecursiveLoop', 'Allow');
  const fix = `Run aws lambda put-function-recursion-config --function-name ${name} --recursive-loop Allow.`;
  return on.failure('RecursiveLoop', `${asked.value}: Lambda ends a chain of retries after about 16, without an error`, fix);
}

function reserved(name: string, asked: Asked<number | undefined>, mappings: FunctionFacts['mappings']): Finding {
  const check = 'reserved concurrency';
  if (asked.kind === 'untold') return unasked(check, asked, 'lambda:GetFunctionConcurrency');
  if (asked.value === undefined) return on.ok(check, 'none');
  const concurrency = mappings.kind === 'told' ? mappings.value.reduce((sum, mapping) => sum + (mapping.maximumConcurrency ?? 0), 0) : 0;
  const fix = `Run aws lambda delete-function-concurrency --function-name ${name}, or reserve ${Math.max(concurrency, 1)} at least.`;
  if (asked.value === 0) return on.failure(check, '0: the function is switched off, and each try costs its messages a receive', fix);
  if (asked.value >= concurrency) return on.ok(check, String(asked.value));
  return on.failure(
    check,
    `${asked.value}, and the event sources may run ${concurrency}: what is throttled costs its messages a receive`,
    fix,
  );
}

function mappingFindings(lane: Lane, mappings: readonly EventSourceMapping[], queues: DeploymentFacts['queues']): Finding[] {
  const { attributes } = queues[lane];
  const check = (what: string): string => `${lane}: ${what}`;
  if (attributes.kind === 'untold')
    return [on.notChecked(check('event source'), 'its queue is not known', 'See what is said of the queue.')];
  const found = mappings.find(({ queueArn }) => queueArn === attributes.value.arn);
  if (found === undefined) {
    return [
      on.failure(
        check('event source'),
        'nothing takes messages from the queue',
        `Give the function the queue as an event source: ${REDEPLOY}.`,
      ),
    ];
  }
  const update = `aws lambda update-event-source-mapping --uuid ${found.id}`;
  return [
    mappingState(check('event source'), found, update),
    found.responseTypes.includes(PARTIAL)
      ? on.ok(check('partial batch response'), PARTIAL)
      : on.failure(
          check('partial batch response'),
          'is off: one bad message has the whole batch deleted or tried again',
          `Run ${update} --function-response-types ${PARTIAL}.`,
        ),
    found.maximumConcurrency === undefined
      ? on.failure(
          check('maximum concurrency'),
          'is not set: the pollers take more than can run, and clusters have no bound on what they bear',
          `Run ${update} --scaling-config MaximumConcurrency=10, or ${REDEPLOY}.`,
        )
      : on.ok(check('maximum concurrency'), String(found.maximumConcurrency)),
    ...(found.hasFilter
      ? [on.failure(check('filter'), 'has filter criteria: what matches none is deleted unseen', `Run ${update} --filter-criteria '{}'.`)]
      : []),
  ];
}

function mappingState(check: string, { state }: EventSourceMapping, update: string): Finding {
  if (state === 'Enabled') return on.ok(check, state);
  if (state === 'Disabled' || state === 'Disabling') {
    return on.failure(check, `is ${state}: messages wait until it is enabled, or SQS deletes them`, `Run ${update} --enabled.`);
  }
  return on.warning(check, `is ${state}`, 'Wait a minute and run this again.');
}
