/** `dogwatch dev`: the whole system on this machine, with Node alone. */
import type { Environment } from '../core/config.ts';
import { ConfigError } from '../core/errors.ts';
import type { ExitCode } from './main.ts';
import { stopOnSignals } from './stop-signals.ts';

/** As commander names them by their flags. */
export interface DevOptions {
  readonly apply: readonly string[];
  readonly reconcilers?: string;
  /** Clusters are contexts of this file. */
  readonly kubeconfig?: string;
  readonly context?: readonly string[];
  /** They are used also where another Dogwatch may be at work. */
  readonly takeOver?: boolean;
  /** Clusters are control planes that are started here. */
  readonly real?: boolean;
  /** A story plays by itself. */
  readonly demo?: boolean;
  /** The run ends after the story. */
  readonly once?: boolean;
}

/** Nothing of a run that has ended holds the process longer than this. */
const LEAVE_MS = 200;

/** Of a run that makes its own. */
const CLUSTERS = ['east', 'west'] as const;

/** Of the summary, where nobody says how wide the reader's screen is. */
const WIDTH = 100;

/**
 * Runs until SIGINT or SIGTERM; with `once` until the end of the story, which is 1 where a step of it failed.
 *
 * @throws ConfigError for a setting that is wrong, an address that is in use, or options that do not go together
 */
export async function dev(env: Environment, options: DevOptions): Promise<ExitCode> {
  checkUsage(options);
  // Shown before the rest is loaded, which takes a second.
  const { createView, canRedraw } = await import('../../infra/local/dev/view.ts');
  const { stdout } = process;
  const view = createView({ stream: stdout });
  const emit = (event: DevEvent): void => view.emit(event);
  emit({ kind: 'step', text: 'starting' });
  const { stop, dispose } = stopOnSignals(() => emit({ kind: 'step', text: 'stopping' }));
  const stopped = new Promise<End>((resolve) => stop.signal.addEventListener('abort', () => resolve(STOPPED), { once: true }));
  const { once = false } = options;
  const summaryOptions = { width: stdout.columns || WIDTH, hasColor: once && canRedraw(stdout) && stdout.hasColors() };
  let end = STOPPED;
  try {
    const starting = startRun(env, options, { emit, isCalm: !canRedraw(stdout), signal: stop.signal });
    starting.catch(() => undefined); // nobody waits for it any more where the run is stopped before
    // The programs of control planes may be built for minutes: whoever has enough of that does not wait.
    const run = await Promise.race([starting, stopped.then(() => undefined)]);
    if (run === undefined) return 0;
    end = await Promise.race([stopped, failureOf(run), followRun(run, { emit, once, summaryOptions })]).finally(() => run.session.stop());
    return end.code;
  } finally {
    view.stop(); // before a failure or the summary is told: the picture has the screen to itself
    if (end.summary.length > 0) console.log(['', ...end.summary].join('\n'));
    dispose();
    setTimeout(() => process.exit(), LEAVE_MS).unref();
  }
}

type Demo = import('../../infra/local/dev/demo/demo.ts').Demo;
type SummaryOptions = import('../../infra/local/dev/demo/summary.ts').SummaryOptions;
type ClusterSource = import('../../infra/local/dev/dev-clusters.ts').ClusterSource;
type DevEvent = import('../../infra/local/dev/dev-state.ts').DevEvent;
type DevSession = import('../../infra/local/dev/session.ts').DevSession<import('../../infra/local/dev/dev-clusters.ts').DevCluster>;

/** A run that has begun, and its story where it has one. */
interface Run {
  readonly session: DevSession;
  readonly play?: () => ReturnType<Demo['play']>;
}

/** How a run ends, and what is printed after it. */
interface End {
  readonly code: ExitCode;
  readonly summary: readonly string[];
}

const STOPPED: End = { code: 0, summary: [] };

interface RunSurroundings {
  readonly emit: (event: DevEvent) => void;
  readonly isCalm: boolean;
  readonly signal: AbortSignal;
}

async function startRun(env: Environment, options: DevOptions, { emit, isCalm, signal }: RunSurroundings): Promise<Run> {
  const { apply, reconcilers, demo: isDemo = false, once = false } = options;
  const [{ startDevSession }, { embeddedClusters }, demo] = await Promise.all([
    import('../../infra/local/dev/session.ts'),
    import('../../infra/local/dev/embedded-clusters.ts'),
    isDemo ? import('../../infra/local/dev/demo/demo.ts').then(({ createDemo }) => createDemo(env, { emit, isCalm, once })) : undefined,
  ]);
  const common = {
    env: demo?.env ?? env,
    manifests: apply,
    isCodeFixed: once, // whoever reads the summary knows what it is about
    emit: demo === undefined ? emit : (event: DevEvent) => demo.emit(event),
    ...(reconcilers === undefined ? {} : { reconcilers }),
  };
  if (demo === undefined) return { session: await startDevSession({ ...common, clusters: await clusterSource(options) }) };
  const session = await startDevSession({ ...common, clusters: embeddedClusters(CLUSTERS) });
  return { session, play: () => demo.play(session, signal) };
}

interface Telling {
  readonly emit: (event: DevEvent) => void;
  readonly once: boolean;
  readonly summaryOptions: SummaryOptions;
}

/** Tells the story, where there is one, and ends with it where it is all that was asked for; else it tells what to try, and never ends. */
async function followRun({ session, play }: Run, { emit, once, summaryOptions }: Telling): Promise<End> {
  const end = await play?.();
  const summary = end?.summary(summaryOptions) ?? [];
  if (once) return { code: end?.isWell === true ? 0 : 1, summary };
  for (const text of summary) emit({ kind: 'story', part: 'summary', text });
  for (const text of (await session.ready).firstSteps) emit({ kind: 'step', text });
  return new Promise(() => undefined);
}

/** @throws what the run cannot go on with */
async function failureOf({ session }: Run): Promise<never> {
  throw await session.failed;
}

/** @throws ConfigError `usage` */
function checkUsage({
  demo = false,
  once = false,
  reconcilers,
  kubeconfig,
  context = [],
  takeOver = false,
  real = false,
}: DevOptions): void {
  const sources = [...(demo ? ['--demo'] : []), ...(kubeconfig === undefined ? [] : ['--kubeconfig']), ...(real ? ['--real'] : [])];
  if (sources.length > 1) throw new ConfigError('usage', `${sources.join(' and ')} exclude each other: each says where clusters come from`);
  if (context.length > 0 && kubeconfig === undefined) throw new ConfigError('usage', '--context names a context of --kubeconfig FILE');
  if (takeOver && kubeconfig === undefined)
    throw new ConfigError('usage', '--take-over goes with --kubeconfig FILE: other clusters are its own');
  if (once && !demo) throw new ConfigError('usage', '--once ends a run after its story; it goes with --demo');
  if (demo && reconcilers !== undefined)
    throw new ConfigError('usage', '--demo plays with the reconcilers of functions/reconcilers/index.ts; leave out --reconcilers');
}

async function clusterSource({ kubeconfig, context = [], takeOver = false, real = false }: DevOptions): Promise<ClusterSource> {
  if (kubeconfig !== undefined) {
    const { kubeconfigClusters } = await import('../../infra/local/dev/kubeconfig-clusters.ts');
    return kubeconfigClusters({ file: kubeconfig, contexts: context, takeOver });
  }
  if (real) return (await import('../../infra/local/dev/real-clusters.ts')).realClusters(CLUSTERS);
  return (await import('../../infra/local/dev/embedded-clusters.ts')).embeddedClusters(CLUSTERS);
}
