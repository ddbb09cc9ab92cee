/**
 * One Lambda execution environment: a process that runs the unpacked package, and the Runtime API it talks to. It lives from its
 * first invocation until it exits, is stopped, or lets a time limit pass; then it is over and the pool makes another one.
 *
 * As on Lambda: one invocation at a time, module state kept between them, a clean environment, limits for start, run and answer.
 * Not as on Lambda: no freeze between invocations, no share of CPU by memory, no limit of memory but V8's old space.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { guardAgainstOrphan } from '../orphan-guard.ts';
import { childEnvironment, type FunctionCredentials, type FunctionSettings, functionArn } from './function-settings.ts';
import { type FunctionError, type InvocationOutcome, type InvocationResult, parseAnswer, parseError } from './invocation.ts';
import { forEachLine } from './log-lines.ts';
import { ANSWER_MAX_BYTES, type Delivery, type RuntimeApi, startRuntimeApi } from './runtime-api.ts';

/** From SIGTERM to SIGKILL when an environment is stopped. */
const STOP_GRACE_MS = 500;

/** So long before its credentials end an environment takes no more invocations. The SDK has new ones a minute before that. */
const CREDENTIALS_LEFT_MS = 4 * 60_000;

interface Job {
  readonly requestId: string;
  readonly body: string;
  readonly traceId: string | undefined;
  readonly coldStart: boolean;
  readonly resolve: (result: InvocationResult) => void;
  startedAtMs?: number;
  durationMs?: number;
  /** Known before the job is settled: an invocation ends when the runtime asks for the next one. */
  outcome?: InvocationOutcome;
}

export interface InvokeOptions {
  /** X-Ray trace header, handed to the function as _X_AMZN_TRACE_ID. */
  readonly traceId?: string | undefined;
}

export class Environment {
  readonly #settings: FunctionSettings;
  readonly #spawnedAtMs = performance.now();
  #api: RuntimeApi | undefined;
  #child: ChildProcess | undefined;
  /** Fulfilled when the process has ended and its output as well. */
  #closed: Promise<void> = Promise.resolve();
  #deliver: ((delivery: Delivery) => void) | undefined;
  #job: Job | undefined;
  #timer: NodeJS.Timeout | undefined;
  #initMs: number | undefined;
  #initError: FunctionError | undefined;
  #isOver = false;
  readonly #credentials: FunctionCredentials;

  private constructor(settings: FunctionSettings, credentials: FunctionCredentials) {
    this.#settings = settings;
    this.#credentials = credentials;
  }

  /** A new environment whose process is starting; its first invocation waits for it. @throws what kept the credentials away */
  static async start(settings: FunctionSettings, taskRoot: string): Promise<Environment> {
    const environment = new Environment(settings, await settings.credentials());
    environment.#api = await startRuntimeApi({
      ready: (deliver) => environment.#ready(deliver),
      answered: (requestId, text) => environment.#settleLater(requestId, text === undefined ? tooLarge() : parseAnswer(text)),
      failed: (requestId, text) => environment.#settleLater(requestId, { kind: 'error', error: parseError(text) }),
      initFailed: (text) => {
        environment.#initError = parseError(text);
      },
    });
    environment.#spawn(taskRoot, environment.#api.address);
    return environment;
  }

  /** True when it will take no invocation any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True when its credentials are about to end: a process cannot be given others. */
  get isExpiring(): boolean {
    const { expiration } = this.#credentials;
    return expiration !== undefined && expiration.getTime() - Date.now() < CREDENTIALS_LEFT_MS;
  }

  /** Runs the function once. Never rejects: what goes wrong is a result. @throws Error while another invocation runs */
  invoke(event: unknown, options: InvokeOptions = {}): Promise<InvocationResult> {
    if (this.#job !== undefined) throw new Error('an environment takes one invocation at a time');
    return new Promise((resolve) => {
      const coldStart = this.#initMs === undefined;
      this.#job = { requestId: randomUUID(), body: JSON.stringify(event), traceId: options.traceId, coldStart, resolve };
      if (this.#isOver) return this.#end(exitError('before the invocation'));
      if (coldStart) {
        const leftMs = this.#settings.initTimeoutMs - (performance.now() - this.#spawnedAtMs);
        this.#timer = setTimeout(() => this.#end(timeoutError(this.#settings.initTimeoutMs)), leftMs);
      }
      this.#deliverJob();
    });
  }

  /** Ends the process; a running invocation gets an error. Resolves when it is gone and its last lines are forwarded. */
  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM');
    const kill = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_GRACE_MS);
    // A process that the function started may hold its output open for ever: that one is not waited for.
    const givenUp = new Promise<void>((resolve) => setTimeout(resolve, 2 * STOP_GRACE_MS).unref());
    await Promise.race([this.#closed, givenUp]);
    clearTimeout(kill);
    this.#end(exitError('because it was stopped'));
  }

  #spawn(taskRoot: string, apiAddress: string): void {
    const { memoryMb, log } = this.#settings;
    const memory = `--max-old-space-size=${Math.ceil(memoryMb * 0.9)}`;
    const child = spawn(process.execPath, [memory, join(import.meta.dirname, 'bootstrap.cjs')], {
      cwd: taskRoot,
      env: childEnvironment(this.#settings, this.#credentials, taskRoot, apiAddress),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a Ctrl-C in the terminal is for us: we let running invocations end
    });
    this.#child = child;
    guardAgainstOrphan(child);
    for (const stream of [child.stdout, child.stderr]) forEachLine(stream, log);
    const over = (error: FunctionError): void => this.#end(this.#initError ?? error);
    child.once('error', (error) => over({ errorType: 'Sandbox.SpawnError', errorMessage: error.message }));
    child.once('exit', (code, signal) => over(exitError(signal === null ? `with status ${code}` : `with signal ${signal}`)));
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()));
  }

  #ready(deliver: (delivery: Delivery) => void): void {
    this.#initMs ??= performance.now() - this.#spawnedAtMs;
    this.#deliver = deliver;
    if (this.#job?.outcome !== undefined) this.#settle(this.#job, this.#job.outcome);
    else this.#deliverJob();
  }

  #deliverJob(): void {
    const [job, deliver] = [this.#job, this.#deliver];
    if (job === undefined || deliver === undefined || job.startedAtMs !== undefined) return;
    const { timeoutMs } = this.#settings;
    this.#deliver = undefined;
    job.startedAtMs = performance.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(timeoutError(timeoutMs)), timeoutMs);
    const { requestId, body, traceId } = job;
    deliver({ requestId, body, traceId, deadlineMs: Date.now() + timeoutMs, functionArn: functionArn(this.#settings) });
  }

  #settleLater(requestId: string, outcome: InvocationOutcome): boolean {
    const job = this.#job;
    if (job?.requestId !== requestId || job.outcome !== undefined) return false;
    job.outcome = outcome;
    job.durationMs = performance.now() - (job.startedAtMs ?? 0);
    return true;
  }

  #settle(job: Job, outcome: InvocationOutcome): void {
    clearTimeout(this.#timer);
    this.#job = undefined;
    const durationMs = job.durationMs ?? (job.startedAtMs === undefined ? 0 : performance.now() - job.startedAtMs);
    const initMs = job.coldStart ? this.#initMs : undefined;
    job.resolve({ ...outcome, requestId: job.requestId, coldStart: job.coldStart, initMs, durationMs });
  }

  /** Throws the environment away, as Lambda does. An answer that had been given stays one. */
  #end(error: FunctionError): void {
    this.#isOver = true;
    this.#deliver = undefined;
    this.#child?.kill('SIGKILL');
    this.#api?.close();
    const job = this.#job;
    if (job !== undefined) {
      const errorMessage = `RequestId: ${job.requestId} Error: ${error.errorMessage}`;
      this.#settle(job, job.outcome ?? { kind: 'error', error: { ...error, errorMessage } });
    }
  }
}

function tooLarge(): InvocationOutcome {
  const errorMessage = `Response payload size exceeded maximum allowed payload size (${ANSWER_MAX_BYTES} bytes).`;
  return { kind: 'error', error: { errorType: 'Function.ResponseSizeTooLarge', errorMessage } };
}

function timeoutError(limitMs: number): FunctionError {
  return { errorType: 'Sandbox.Timedout', errorMessage: `Task timed out after ${(limitMs / 1000).toFixed(2)} seconds` };
}

function exitError(how: string): FunctionError {
  return { errorType: 'Runtime.ExitError', errorMessage: `Runtime exited ${how}` };
}
