/** `dogwatch dev`: the whole system on this machine, with Node alone. */
import type { Environment } from '../core/config.ts';
import type { ExitCode } from './main.ts';
import { stopOnSignals } from './stop-signals.ts';

/** As commander names them by their flags. */
export interface DevOptions {
  readonly apply: readonly string[];
  readonly reconcilers?: string;
}

/** Nothing of a run that has ended holds the process longer than this. */
const LEAVE_MS = 200;

/**
 * Runs until SIGINT or SIGTERM.
 *
 * @throws ConfigError for a setting that is wrong, or an address that is in use
 */
export async function dev(env: Environment, { apply, reconcilers }: DevOptions): Promise<ExitCode> {
  // Shown before the rest is loaded, which takes a second.
  const { createView } = await import('../../infra/local/dev/view.ts');
  const { stdout } = process;
  const view = createView({ stream: stdout });
  view.emit({ kind: 'step', text: 'starting' });
  const { stop, dispose } = stopOnSignals(() => view.emit({ kind: 'step', text: 'stopping' }));
  const stopped = new Promise<undefined>((resolve) => stop.signal.addEventListener('abort', () => resolve(undefined), { once: true }));
  try {
    const { startDevSession } = await import('../../infra/local/dev/session.ts');
    const session = await startDevSession({
      env,
      manifests: apply,
      emit: (event) => view.emit(event),
      ...(reconcilers === undefined ? {} : { reconcilers }),
    });
    void session.ready.then(({ firstSteps }) => {
      for (const text of firstSteps) view.emit({ kind: 'step', text });
    });
    const failure = await Promise.race([stopped, session.failed]);
    await session.stop();
    if (failure !== undefined) throw failure;
    return 0;
  } finally {
    view.stop(); // before a failure is told: the picture has the screen to itself
    dispose();
    setTimeout(() => process.exit(), LEAVE_MS).unref();
  }
}
