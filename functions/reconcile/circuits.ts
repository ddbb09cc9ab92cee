/** The circuits of an execution environment, one a cluster: no cluster's trouble is another's. They live as long as it does. */
import type { ClusterName } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { Log } from '../adapters/telemetry.ts';
import {
  admit,
  afterAnswer,
  afterFailure,
  afterProbe,
  type CallResult,
  type Circuit,
  type CircuitLimits,
  CLOSED,
  callResult,
  cutShortResult,
  secondsUntil,
} from '../core/circuit.ts';
import { TransientError } from '../core/errors.ts';

export interface Circuits {
  /** What one run has to do with the circuit of its cluster. It must be left in the end, whatever the run comes to. */
  visit(cluster: ClusterName): CircuitVisit;
}

export interface CircuitVisit {
  /** Undefined where the run may call the cluster, else the seconds after which to ask again. Called once, before the first call. */
  enter(): number | undefined;
  /** Aborted once another run has opened the circuit under this one: whoever has written nothing yet can wait as well. */
  readonly opened: AbortSignal;
  /** Seconds after which a run that `opened` ended may ask again. */
  readonly openSeconds: number;
  /** Watches one call. Whatever is told after the first, or after the run has left, is dropped. */
  begin(): CallWatch;
  /** The run is over: another one may probe. Any number of times; nothing where it was never let in. */
  leave(): void;
}

export interface CallWatch {
  /** @param error what the call threw; undefined where it had a result */
  ended(error?: unknown): void;
  /** Our own deadline ended it. */
  cutShort(): void;
}

/** All closed at first. A line is logged where one opens, stays open after its probe, or closes; none for what only waits. */
export function createCircuits(limits: CircuitLimits, clock: Pick<Clock, 'now' | 'steadyMs'>, log: Log): Circuits {
  const circuits = new Map<ClusterName, Circuit>();
  const inside = new Map<CircuitVisit, { readonly cluster: ClusterName; readonly opening: AbortController }>();
  const elapsedMs = createElapsed(clock);

  /** Keeps the circuit and tells of what changed. */
  function keep(cluster: ClusterName, before: Circuit, next: Circuit): void {
    circuits.set(cluster, next);
    if (next.kind === 'open' && next.era > before.era) {
      const { failures, code, untilMs } = next;
      const facts = { cluster, failures, waitSeconds: secondsUntil(untilMs, elapsedMs()), code };
      if (before.kind === 'closed') log.warn('circuit opened: runs of the cluster wait', facts);
      else log.warn('circuit stays open: the probe failed', facts);
    }
    if (before.kind === 'half-open' && next.kind === 'closed') {
      const { failures, code } = before;
      log.info('circuit closed: the cluster answers again', { cluster, failures, code });
    }
  }

  /** Ends what runs of the cluster wait for that began before its circuit opened, save for the one that opened it. */
  function endOthers(cluster: ClusterName, opener: CircuitVisit): void {
    for (const [visit, other] of inside) {
      if (other.cluster !== cluster || visit === opener) continue;
      other.opening.abort(new TransientError('circuit-open', 'the cluster answers no other run: this one waits with them'));
    }
  }

  return {
    visit(cluster) {
      const opening = new AbortController();
      const circuitOf = (): Circuit => circuits.get(cluster) ?? CLOSED;
      let state: 'outside' | 'inside' | 'left' = 'outside';
      let era = 0;
      let isProbe = false;
      let isAnswered = false;
      let hasFailed = false;
      const isHeard = (): boolean => state === 'inside' && circuitOf().era === era;

      function tell(result: CallResult): void {
        if (!isHeard() || result.kind === 'nothing') return;
        const circuit = circuitOf();
        if (result.kind === 'answer') {
          isAnswered = true;
          keep(cluster, circuit, afterAnswer(circuit));
        } else if (!hasFailed) {
          // The calls of one run go out side by side: what they meet together counts once, or one object could open the circuit.
          hasFailed = true;
          keep(cluster, circuit, afterFailure(circuit, result, elapsedMs(), limits));
          if (circuitOf().kind === 'open') endOthers(cluster, visit);
        }
      }

      const visit: CircuitVisit = {
        opened: opening.signal,
        get openSeconds() {
          const circuit = circuitOf();
          return circuit.kind === 'open' ? secondsUntil(circuit.untilMs, elapsedMs()) : limits.openSeconds;
        },
        enter() {
          const admission = admit(circuitOf(), elapsedMs(), limits);
          if (admission.kind === 'wait') return admission.seconds;
          state = 'inside';
          isProbe = admission.kind === 'probe';
          era = admission.circuit.era;
          circuits.set(cluster, admission.circuit);
          inside.set(visit, { cluster, opening });
          return undefined;
        },
        begin() {
          const beganMs = elapsedMs();
          let isTold = false;
          const tellOnce = (result: CallResult): void => {
            if (!isTold) tell(result);
            isTold = true;
          };
          return {
            ended: (error) => tellOnce(callResult(error)),
            cutShort: () => tellOnce(cutShortResult(elapsedMs() - beganMs)),
          };
        },
        leave() {
          if (isProbe && isHeard()) keep(cluster, circuitOf(), afterProbe(circuitOf(), isAnswered, elapsedMs()));
          state = 'left';
          inside.delete(visit);
        },
      };
      return visit;
    },
  };
}

/**
 * Milliseconds that have passed by either clock, whichever says more: no setting of the wall clock holds a circuit open, and a steady
 * clock that stood still while the environment was frozen does not either.
 */
function createElapsed(clock: Pick<Clock, 'now' | 'steadyMs'>): () => number {
  let elapsedMs = 0;
  let last = { wallMs: clock.now().getTime(), steadyMs: clock.steadyMs() };
  return () => {
    const now = { wallMs: clock.now().getTime(), steadyMs: clock.steadyMs() };
    elapsedMs += Math.max(0, now.wallMs - last.wallMs, now.steadyMs - last.steadyMs);
    last = now;
    return elapsedMs;
  };
}
