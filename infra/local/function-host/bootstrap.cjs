/**
 * A Lambda runtime for Node: loads the handler from the unpacked package and speaks the Runtime API, from within the function's own
 * process. Environment as on AWS: AWS_LAMBDA_RUNTIME_API, LAMBDA_TASK_ROOT, _HANDLER.
 *
 * CommonJS and without dependencies: it is part of every cold start.
 */
const { existsSync } = require('node:fs');
const http = require('node:http');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const { AWS_LAMBDA_RUNTIME_API, LAMBDA_TASK_ROOT, _HANDLER } = process.env;
const [host, port] = AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({ keepAlive: true });

/** Resolves to the answer. When nobody is there to talk to, the host is gone and this process has no purpose: it ends. */
function call(method, path, body = '', headers = {}) {
  return new Promise((resolve) => {
    const request = http.request({ host, port, method, path: `/2018-06-01/runtime/${path}`, agent, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ headers: response.headers, text: Buffer.concat(chunks).toString('utf8') }));
      response.on('error', () => process.exit(1));
    });
    request.on('error', () => process.exit(1));
    request.end(body);
  });
}

function post(path, text, headers = {}) {
  return call('POST', path, text, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers });
}

function postError(path, error) {
  const isError = error instanceof Error;
  const errorType = isError ? error.name : typeof error;
  const trace = isError && error.stack ? error.stack.split('\n') : [];
  const text = JSON.stringify({ errorType, errorMessage: isError ? error.message : String(error), trace });
  return post(path, text, { 'lambda-runtime-function-error-type': errorType.replace(/[^\x20-\x7e]/g, '?') });
}

function runtimeError(name, message) {
  return Object.assign(new Error(message), { name: `Runtime.${name}` });
}

async function loadHandler() {
  const [, file, name] = /^(.+)\.([^.]+)$/.exec(_HANDLER) ?? [];
  if (file === undefined) throw runtimeError('MalformedHandlerName', `'${_HANDLER}' is not file.export`);
  const base = join(LAMBDA_TASK_ROOT, file);
  const path = ['.js', '.mjs', '.cjs'].map((ending) => base + ending).find((candidate) => existsSync(candidate));
  if (path === undefined) throw runtimeError('ImportModuleError', `Cannot find module '${base}'`);
  const loaded = path.endsWith('.mjs') ? await import(pathToFileURL(path).href) : createRequire(path)(path);
  const handler = loaded[name];
  if (typeof handler !== 'function') throw runtimeError('HandlerNotFound', `${_HANDLER} is undefined or not exported`);
  if (handler.length > 2)
    throw runtimeError('CallbackHandlerDeprecated', `${_HANDLER} takes a callback; Node 24 knows async handlers only`);
  return handler;
}

function contextOf(headers) {
  const deadlineMs = Number(headers['lambda-runtime-deadline-ms']);
  return {
    awsRequestId: headers['lambda-runtime-aws-request-id'],
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    getRemainingTimeInMillis: () => deadlineMs - Date.now(),
  };
}

async function run() {
  const handler = await loadHandler().catch(async (error) => {
    await postError('init/error', error);
    process.exit(1);
  });
  let requestId;
  const crash = async (error) => {
    console.error(error);
    if (requestId !== undefined) await postError(`invocation/${requestId}/error`, error);
    process.exit(129);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);

  for (;;) {
    const { headers, text } = await call('GET', 'invocation/next');
    const context = contextOf(headers);
    requestId = context.awsRequestId;
    const traceId = headers['lambda-runtime-trace-id'];
    if (traceId === undefined) delete process.env._X_AMZN_TRACE_ID;
    else process.env._X_AMZN_TRACE_ID = traceId;
    let answer;
    try {
      answer = JSON.stringify((await handler(JSON.parse(text), context)) ?? null) ?? 'null';
    } catch (error) {
      await postError(`invocation/${requestId}/error`, error);
      continue;
    }
    await post(`invocation/${requestId}/response`, answer);
    requestId = undefined;
  }
}

void run();
