/** Which clusters answer. One that does not is left alone for a while, and after some failures for good, so that the others go on. */

/** Failures, each of another time, after which a cluster is given up. */
const FAILURES_MAX = 3;

interface Health {
  readonly failures: number;
  /** Milliseconds of the steady clock. */
  readonly notBeforeMs: number;
}

const WELL: Health = { failures: 0, notBeforeMs: 0 };

export class ClusterHealth {
  readonly #clusters = new Map<string, Health>();

  isDown(cluster: string): boolean {
    return this.#of(cluster).failures >= FAILURES_MAX;
  }

  /** When it may be asked again. */
  notBeforeMs(cluster: string): number {
    return this.#of(cluster).notBeforeMs;
  }

  answered(cluster: string): void {
    if (!this.isDown(cluster)) this.#clusters.delete(cluster);
  }

  /** Calls that fail together are one failure: the next counts after 2 seconds, then 4. True where it is given up by this one. */
  failed(cluster: string, nowMs: number): boolean {
    const { failures, notBeforeMs } = this.#of(cluster);
    if (nowMs < notBeforeMs || failures >= FAILURES_MAX) return false;
    this.#clusters.set(cluster, { failures: failures + 1, notBeforeMs: nowMs + 1000 * 2 ** (failures + 1) });
    return failures + 1 === FAILURES_MAX;
  }

  #of(cluster: string): Health {
    return this.#clusters.get(cluster) ?? WELL;
  }
}
