/** What a function is configured with, and what its process sees of that. */

/** What AWS knows the function by. */
export interface FunctionCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Left out: they do not end. */
  readonly expiration?: Date | undefined;
}

export interface FunctionSettings {
  /** `file.export`, e.g. `reconcile.handler`. */
  readonly handler: string;
  readonly timeoutMs: number;
  /** Lambda's limit for loading the module: 10 s. */
  readonly initTimeoutMs: number;
  readonly memoryMb: number;
  readonly functionName: string;
  readonly region: string;
  readonly accountId: string;
  /** Asked for each new process. */
  readonly credentials: () => Promise<FunctionCredentials>;
  /** The function's own variables; they win over those that Lambda sets. */
  readonly env: Readonly<Record<string, string>>;
  /** One line that the function wrote to stdout or stderr. */
  readonly log: (line: string) => void;
}

/** What is not said. The time-out is the design's default for the reconcile function. */
export const FUNCTION_DEFAULTS: FunctionSettings = {
  handler: 'reconcile.handler',
  timeoutMs: 30_000,
  initTimeoutMs: 10_000,
  memoryMb: 256,
  functionName: 'dogwatch-reconcile',
  region: 'us-east-1',
  accountId: '000000000000',
  credentials: async () => ({ accessKeyId: 'local', secretAccessKey: 'local' }),
  env: {},
  log: () => undefined,
};

export function functionArn({ region, accountId, functionName }: FunctionSettings): string {
  return `arn:aws:lambda:${region}:${accountId}:function:${functionName}`;
}

/**
 * The whole environment of the process: what Lambda sets, and the function's own. Nothing of ours leaks in, save for PATH.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html, defined runtime environment variables
 */
export function childEnvironment(
  settings: FunctionSettings,
  credentials: FunctionCredentials,
  taskRoot: string,
  apiAddress: string,
): Record<string, string> {
  const { region, functionName } = settings;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    LAMBDA_TASK_ROOT: taskRoot,
    LAMBDA_RUNTIME_DIR: import.meta.dirname,
    _HANDLER: settings.handler,
    AWS_LAMBDA_RUNTIME_API: apiAddress,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_LAMBDA_FUNCTION_NAME: functionName,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(settings.memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${functionName}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    ...(sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: sessionToken }),
    ...settings.env,
  };
}
