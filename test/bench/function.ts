/**
 * What the built function costs beside the least that any could: its load and first run beside a handler of a few lines, a warm
 * run beside the same calls by bare node:https with kept connections. Figures of one machine at one time; only ratios last.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildEnvelope, encodeEnvelope } from '../../events/envelope.ts';
import { tenant } from '../../functions/reconcilers/tenant.ts';
import { childEnvironment, FUNCTION_DEFAULTS } from '../../infra/local/function-host/function-settings.ts';
import { type FunctionServerReady, type RecordedRequest, SETTLED_NAME } from './function-server.ts';
import { tableOf } from './report-table.ts';
import { kubeconfigText } from './scripted-process.ts';

interface ColdStart {
  readonly loadMs: number;
  readonly firstMs: number;
  readonly totalMs: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

interface WarmRound {
  readonly function: WarmFigures;
  readonly bare: WarmFigures;
}

interface WarmFigures {
  readonly ms: number;
  readonly cpuMs: number;
}

export interface FunctionOptions {
  /** Folder of reconcile.cjs. */
  readonly dist: string;
  /** Processes of each kind, one after another. */
  readonly starts: number;
  readonly warmRounds: number;
  /** Runs a round of each kind. */
  readonly warmRuns: number;
}

export interface FunctionReport {
  readonly text: string;
  /** The median over the rounds. */
  readonly startRatio: number;
  readonly warmRatio: number;
}

const CHANGED_NAME = 'team-changed';
/** What was started, as the table says it. */
const MINIMAL = 'minimal handler';
const CHANGED = 'a changed object';

/**
 * Tables of both, and the two ratios that say the most: CPU until the first message is done, and time of a warm run. Ratios are
 * those of the least figures, which other work on the machine has disturbed least.
 */
export async function measureFunction({ dist, starts, warmRounds, warmRuns }: FunctionOptions): Promise<FunctionReport> {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-bench-'));
  const server = fork(join(import.meta.dirname, 'function-server.ts'));
  try {
    const ready = await messageOf<FunctionServerReady>(server);
    const env = environmentOf(dir, ready);
    const started = (handler: string): Promise<ChildProcess> => startMeasured(handler, env);
    const bundle = join(dist, 'reconcile.cjs');
    const minimal = join(import.meta.dirname, 'minimal-handler.cjs');

    const warm = await started(bundle);
    for (const name of [CHANGED_NAME, SETTLED_NAME]) await ask<ColdStart>(warm, { kind: 'cold-start', event: eventOf(name) });
    const steps = await recordSteps(warm, server);
    await ask(warm, { kind: 'warm', event: eventOf(CHANGED_NAME), steps, count: warmRuns }); // The compiler warms up.
    const rounds: WarmRound[] = [];
    while (rounds.length < warmRounds) {
      rounds.push(await ask<WarmRound>(warm, { kind: 'warm', event: eventOf(CHANGED_NAME), steps, count: warmRuns }));
    }
    await ended(warm);

    const cold = new Map<string, ColdStart[]>();
    const kinds = [
      [MINIMAL, minimal, SETTLED_NAME],
      ['nothing to do', bundle, SETTLED_NAME],
      [CHANGED, bundle, CHANGED_NAME],
    ] as const;
    for (let round = 0; round <= starts; round += 1) {
      for (const [kind, handler, name] of kinds) {
        const child = await started(handler);
        const figures = await ask<ColdStart>(child, { kind: 'cold-start', event: eventOf(name) });
        await ended(child);
        // The first reads files that the others find in memory.
        if (round > 0) cold.set(kind, [...(cold.get(kind) ?? []), figures]);
      }
    }
    return reportOf(cold, rounds, steps.flat().length);
  } finally {
    server.disconnect();
    rmSync(dir, { recursive: true, force: true });
  }
}

function environmentOf(dir: string, { url, ca }: FunctionServerReady): Record<string, string> {
  writeFileSync(join(dir, 'kubeconfig.yaml'), kubeconfigText(url, ca));
  writeFileSync(join(dir, 'clusters.yml'), 'clusters: [{ name: east, kubeconfig: ./kubeconfig.yaml }]\n');
  const queueUrl = (name: string): string => `https://sqs.us-east-1.amazonaws.com/000000000000/${name}`;
  const env = {
    DOGWATCH_CLUSTERS: join(dir, 'clusters.yml'),
    DOGWATCH_QUEUE_URL: queueUrl('bench-live'),
    DOGWATCH_BULK_QUEUE_URL: queueUrl('bench-bulk'),
    DOGWATCH_DEAD_LETTER_QUEUE_URL: queueUrl('bench-dead-letters'),
    BENCH_SERVER: url,
    BENCH_CA: ca,
  };
  return childEnvironment({ ...FUNCTION_DEFAULTS, env }, { accessKeyId: 'bench', secretAccessKey: 'bench' }, dir, '127.0.0.1:9');
}

/** What it logs goes nowhere, as in a function whose log is read by others. */
async function startMeasured(handler: string, env: Record<string, string>): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'measured-function.cjs');
  const child = fork(script, [handler], { env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await messageOf(child);
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.disconnect();
  await exited;
}

function ask<Answer>(child: ChildProcess, command: object): Promise<Answer> {
  const answer = messageOf<Answer>(child);
  child.send(command);
  return answer;
}

function messageOf<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`a measured process ended: ${code}`));
    child.once('exit', fail);
    child.once('message', (message) => {
      child.off('exit', fail);
      resolve(message as Message);
    });
  });
}

/** One run's requests as steps, each of which the function begins when the one before is over. */
async function recordSteps(warm: ChildProcess, server: ChildProcess): Promise<readonly (readonly RecordedRequest[])[]> {
  await ask(server, { kind: 'recorded' });
  await ask(warm, { kind: 'warm', event: eventOf(CHANGED_NAME), steps: [], count: 1 });
  const requests = await ask<RecordedRequest[]>(server, { kind: 'recorded' });
  const steps = [
    requests.filter(({ method }) => method === 'GET'),
    requests.filter(
      ({ method, path }) => method === 'PATCH' && path.startsWith('/api/v1/namespaces/tenant-') && !path.includes('/resourcequotas'),
    ),
    requests.filter(({ method, path }) => method === 'PATCH' && /\/(resourcequotas|rolebindings)\//.test(path)),
    requests.filter(({ path }) => path.includes('/status?')),
  ];
  const counts = steps.map(({ length }) => length);
  if (counts.join() !== '1,1,3,1' || requests.length !== 6) throw new Error(`a warm run made ${requests.length} requests: ${counts}`);
  return steps;
}

function eventOf(name: string): object {
  const { group, version, plural, kind } = tenant.resource;
  const at = '2026-11-29T12:00:00.000Z';
  const data = { cluster: 'east', group, version, plural, kind, name, resourceVersion: '500000000', reason: 'generation-changed' } as const;
  const envelope = buildEnvelope({ ...data, mustRun: false, attempt: 1, firstSeenAt: at }, { id: 'bench', now: new Date(at) });
  const attributes = { ApproximateReceiveCount: '1', SentTimestamp: '0', SenderId: 'bench', ApproximateFirstReceiveTimestamp: '0' };
  const source = { eventSource: 'aws:sqs', eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:bench-live', awsRegion: 'us-east-1' };
  const body = encodeEnvelope(envelope);
  return { Records: [{ messageId: 'm', receiptHandle: 'r', body, attributes, messageAttributes: {}, md5OfBody: '', ...source }] };
}

function reportOf(cold: ReadonlyMap<string, readonly ColdStart[]>, rounds: readonly WarmRound[], requests: number): FunctionReport {
  const least = cold.get(MINIMAL) ?? [];
  const fields = ['loadMs', 'firstMs', 'totalMs', 'cpuMs', 'peakMb'] as const;
  const coldRows = fields.flatMap((field) =>
    [...cold].map(([kind, all]) => {
      const values = all.map((one) => one[field]);
      return [
        field,
        kind,
        ...spreadOf(values),
        ratioOf(
          values,
          least.map((one) => one[field]),
        ),
      ];
    }),
  );
  const warm = (of: keyof WarmRound, field: keyof WarmFigures): number[] => rounds.map((round) => round[of][field]);
  const warmRows = (['ms', 'cpuMs'] as const).flatMap((field) => [
    [field, `${requests} bare calls`, ...spreadOf(warm('bare', field)), 1],
    [field, 'the run', ...spreadOf(warm('function', field)), ratioOf(warm('function', field), warm('bare', field))],
  ]);
  const cpuOf = (kind: string): number[] => (cold.get(kind) ?? []).map(({ cpuMs }) => cpuMs);
  const text = [
    tableOf([['cold start', 'first message', 'min', 'median', 'max', 'ratio'], ...coldRows]),
    tableOf([['warm run', 'of', 'min', 'median', 'max', 'ratio'], ...warmRows]),
  ].join('\n\n');
  return { text, startRatio: ratioOf(cpuOf(CHANGED), cpuOf(MINIMAL)), warmRatio: ratioOf(warm('function', 'ms'), warm('bare', 'ms')) };
}

function ratioOf(values: readonly number[], beside: readonly number[]): number {
  return Math.min(...values) / Math.min(...beside);
}

function spreadOf(values: readonly number[]): [min: number, median: number, max: number] {
  return [Math.min(...values), medianOf(values), Math.max(...values)];
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
