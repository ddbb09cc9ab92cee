/** What a deployment made in moto, read back without an SDK for each service: moto looks at who is meant, and not at signatures. */
import type { Moto } from '../../infra/local/moto.ts';

const ACCOUNT = '123456789012';
const LAMBDA = '2015-03-31';

export interface DeployedFunction {
  readonly FunctionArn: string;
  readonly Runtime: string;
  readonly Handler: string;
  readonly Timeout: number;
  readonly MemorySize: number;
  readonly CodeSha256: string;
  readonly Environment: { readonly Variables: Readonly<Record<string, string>> };
}

export interface DeployedMapping {
  readonly UUID: string;
  readonly EventSourceArn: string;
  readonly BatchSize: number;
  readonly MaximumBatchingWindowInSeconds: number;
  readonly FunctionResponseTypes: readonly string[];
  readonly ScalingConfig: { readonly MaximumConcurrency: number };
}

export function deployedFunction(moto: Moto, name: string): Promise<DeployedFunction> {
  return lambda(moto, 'GET', `functions/${name}/configuration`) as Promise<DeployedFunction>;
}

/** By the function's ARN: by its name alone moto finds none. */
export async function deployedMappings(moto: Moto, functionArn: string): Promise<readonly DeployedMapping[]> {
  const found = await lambda(moto, 'GET', `event-source-mappings/?FunctionName=${encodeURIComponent(functionArn)}`);
  return (found as { EventSourceMappings: DeployedMapping[] }).EventSourceMappings;
}

/**
 * moto hands messages of a mapped queue to functions that it does not run: they are lost. Its queues remember a mapping that was deleted, so
 * it is disabled first.
 */
export async function deleteMapping(moto: Moto, uuid: string): Promise<void> {
  await lambda(moto, 'PUT', `event-source-mappings/${uuid}`, { Enabled: false });
  await lambda(moto, 'DELETE', `event-source-mappings/${uuid}`);
}

export function queueUrlIn(moto: Moto, name: string): string {
  return `${moto.endpoint}/${ACCOUNT}/${name}`;
}

async function lambda(moto: Moto, method: string, path: string, body?: unknown): Promise<unknown> {
  const scope = `${moto.env['AWS_ACCESS_KEY_ID']}/20260101/${moto.env['AWS_REGION']}/lambda/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
  const answer = await fetch(`${moto.endpoint}/${LAMBDA}/${path}`, {
    method,
    headers: { authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`moto answered ${answer.status} to ${method} ${path}: ${await answer.text()}`);
  return answer.json();
}
