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
import { createSqsClient } from '../sqs.ts';
import { awsUntold, CLIENT_LIMITS } from './calls.ts';

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
        const { QueueUrl = '' } = await (await sqsClient()).send(new GetQueueUrlCommand({ QueueName }), options);
        return QueueUrl;
      }),

    queue: (QueueUrl) =>
      asked(signal, async () => {
        const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
        const { Attributes = {} } = await (await sqsClient()).send(command, options);
        return attributesOf(Attributes);
      }),

    configuration: (FunctionName) =>
      asked(signal, async () => {
        const found = await lambdaClient().send(new GetFunctionConfigurationCommand({ FunctionName }), options);
        return {
          arn: found.FunctionArn ?? FunctionName,
          runtime: found.Runtime ?? 'none',
          timeoutSeconds: found.Timeout ?? 0,
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
          for (const found of page.EventSourceMappings ?? []) {
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
        const { RecursiveLoop = 'Terminate' } = await lambdaClient().send(new GetFunctionRecursionConfigCommand({ FunctionName }), options);
        return RecursiveLoop;
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

/** SQS gives numbers as text, and policies as JSON in text. */
function attributesOf(attributes: Readonly<Record<string, string | undefined>>): QueueAttributes {
  const redrive = jsonOf(attributes['RedrivePolicy']);
  const allow = jsonOf(attributes['RedriveAllowPolicy']);
  return {
    arn: attributes['QueueArn'] ?? '',
    visibilitySeconds: Number(attributes['VisibilityTimeout']),
    retentionSeconds: Number(attributes['MessageRetentionPeriod']),
    redrive: redrive && { targetArn: String(redrive['deadLetterTargetArn']), maxReceiveCount: Number(redrive['maxReceiveCount']) },
    redriveAllow: allow && {
      permission: String(allow['redrivePermission']),
      sourceArns: Array.isArray(allow['sourceQueueArns']) ? allow['sourceQueueArns'].map(String) : [],
    },
  };
}

function jsonOf(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined || text === '') return undefined;
  return JSON.parse(text) as Record<string, unknown>;
}
