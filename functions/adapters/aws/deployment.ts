/**
 * What `dogwatch doctor` asks of AWS: the queues' attributes, and the function with what feeds it. Loaded by that command only; no process
 * that runs messages needs Lambda's client.
 */
import {
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  GetFunctionRecursionConfigCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import { GetQueueAttributesCommand, GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { EventSourceMapping, FunctionConfiguration, QueueAttributes } from '../../core/doctor/facts.ts';
import type { Asked } from '../../core/doctor/finding.ts';
import { isJsonObject } from '../../core/plain-json.ts';
import { createSqsClient } from '../sqs.ts';
import { awsUntold, CLIENT_LIMITS, strangeAnswer } from './calls.ts';
import { checkAwsEndpoint, checkAwsRegion } from './variables.ts';

/** What AWS knows. No call throws: a refusal is an answer, with AWS's code. */
export interface Deployment {
  /** By name, in this account and region; undefined where there is none. */
  queueUrl(name: string): Promise<Asked<string>>;
  queue(url: string): Promise<Asked<QueueAttributes>>;
  configuration(functionName: string): Promise<Asked<FunctionConfiguration & { readonly arn: string }>>;
  /** By ARN or name. */
  mappings(functionName: string): Promise<Asked<readonly EventSourceMapping[]>>;
  recursiveLoop(functionName: string): Promise<Asked<string>>;
  reservedConcurrency(functionName: string): Promise<Asked<number | undefined>>;
  close(): void;
}

/** By region, credentials and endpoints as every AWS tool takes them. `signal` ends every call. */
export function openDeployment(signal: AbortSignal): Deployment {
  let lambda: LambdaClient | undefined;
  let sqs: Promise<SQSClient> | undefined;
  const options = { abortSignal: signal };
  const lambdaClient = (): LambdaClient => {
    checkAwsEndpoint('LAMBDA');
    checkAwsRegion();
    lambda ??= new LambdaClient(CLIENT_LIMITS);
    return lambda;
  };
  const sqsClient = (): Promise<SQSClient> => {
    sqs ??= createSqsClient({ requestTimeoutMs: CLIENT_LIMITS.requestHandler.requestTimeout });
    return sqs;
  };

  return {
    queueUrl: (QueueName) =>
      asked(signal, async () => {
        const { QueueUrl } = await (await sqsClient()).send(new GetQueueUrlCommand({ QueueName }), options);
        return told(QueueUrl);
      }),

    queue: (QueueUrl) =>
      asked(signal, async () => {
        const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
        const { Attributes } = await (await sqsClient()).send(command, options);
        return attributesOf(told(Attributes));
      }),

    configuration: (FunctionName) =>
      asked(signal, async () => {
        const found = await lambdaClient().send(new GetFunctionConfigurationCommand({ FunctionName }), options);
        return {
          arn: told(found.FunctionArn),
          runtime: found.Runtime ?? 'none',
          timeoutSeconds: told(found.Timeout),
          environment: found.Environment?.Variables ?? {},
          // Absent in answers of old: all was well then.
          state: found.State ?? 'Active',
          lastUpdate: found.LastUpdateStatus ?? 'Successful',
          reason: found.LastUpdateStatusReason ?? found.StateReason,
        };
      }),

    mappings: (FunctionName) =>
      asked(signal, async () => {
        const all: EventSourceMapping[] = [];
        let Marker: string | undefined;
        do {
          const command = new ListEventSourceMappingsCommand({ FunctionName, ...(Marker ? { Marker } : {}) });
          const page = await lambdaClient().send(command, options);
          if (page.NextMarker && page.NextMarker === Marker) throw strangeAnswer();
          for (const each of told(page.EventSourceMappings)) {
            const found = told(each);
            all.push({
              id: found.UUID ?? '',
              queueArn: found.EventSourceArn ?? '',
              state: found.State ?? 'unknown',
              responseTypes: found.FunctionResponseTypes ?? [],
              maximumConcurrency: found.ScalingConfig?.MaximumConcurrency,
              windowSeconds: found.MaximumBatchingWindowInSeconds ?? 0,
              hasFilter: (found.FilterCriteria?.Filters ?? []).length > 0,
            });
          }
          Marker = page.NextMarker;
        } while (Marker);
        return all;
      }),

    recursiveLoop: (FunctionName) =>
      asked(signal, async () => {
        const { RecursiveLoop } = await lambdaClient().send(new GetFunctionRecursionConfigCommand({ FunctionName }), options);
        return told(RecursiveLoop);
      }),

    reservedConcurrency: (FunctionName) =>
      asked(signal, async () => {
        const found = await lambdaClient().send(new GetFunctionConcurrencyCommand({ FunctionName }), options);
        return found.ReservedConcurrentExecutions;
      }),

    close() {
      lambda?.destroy();
      sqs?.then((client) => client.destroy()).catch(() => undefined);
    },
  };
}

async function asked<Value>(signal: AbortSignal, call: () => Promise<Value>): Promise<Asked<Value>> {
  let giveUp = (): void => {};
  // Credentials are looked for before a call begins, which its signal does not end.
  const isOver = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    signal.throwIfAborted();
    return { kind: 'told', value: await Promise.race([call(), isOver]) };
  } catch (error) {
    return signal.aborted ? { kind: 'untold', code: 'timeout', says: 'AWS did not answer in time', by: 'aws' } : awsUntold(error);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** What AWS always says. @throws ConfigError `bad-answer` where it is not there: nothing is judged by a part of an answer */
function told<Value>(value: Value | null | undefined): Value {
  if (value === undefined || value === null) throw strangeAnswer();
  return value;
}

/** SQS gives numbers as text, and policies as JSON in text. */
function attributesOf(attributes: Readonly<Record<string, string | undefined>>): QueueAttributes {
  const redrive = policyOf(attributes['RedrivePolicy']);
  const allow = policyOf(attributes['RedriveAllowPolicy']);
  return {
    arn: told(attributes['QueueArn']),
    visibilitySeconds: numberOf(attributes['VisibilityTimeout']),
    retentionSeconds: numberOf(attributes['MessageRetentionPeriod']),
    redrive: redrive && {
      targetArn: String(told(redrive['deadLetterTargetArn'])),
      maxReceiveCount: numberOf(String(redrive['maxReceiveCount'])),
    },
    redriveAllow: allow && {
      permission: String(told(allow['redrivePermission'])),
      sourceArns: Array.isArray(allow['sourceQueueArns']) ? allow['sourceQueueArns'].map(String) : [],
    },
  };
}

function numberOf(text: string | undefined): number {
  if (!/^[0-9]+$/.test(told(text))) throw strangeAnswer();
  return Number(text);
}

/** @throws SyntaxError, which is told as a strange answer too */
function policyOf(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined || text === '') return undefined;
  const policy: unknown = JSON.parse(text);
  if (!isJsonObject(policy)) throw strangeAnswer();
  return policy;
}
