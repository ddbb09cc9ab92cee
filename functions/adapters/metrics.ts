/**
 * Numbers for CloudWatch, as lines of the log in its Embedded Metric Format. Backed by Powertools' Metrics: the environment sets
 * POWERTOOLS_METRICS_NAMESPACE where one account has several deployments, and POWERTOOLS_METRICS_DISABLED for none at all.
 */
import { Metrics as Powertools } from '@aws-lambda-powertools/metrics';
import { groupMetrics, type Metric } from '../core/metric.ts';

/** Where metrics are told; the real one is {@link createMetrics}. */
export interface Metrics {
  /** Keeps them until the next {@link Metrics.flush}. */
  add(metrics: readonly Metric[]): void;
  /** Writes what was added, one line for each set of dimensions; nothing where nothing was. */
  flush(): void;
}

/** Metrics that are written to stdout. @param namespace used where the environment names none */
export function createMetrics(namespace = 'Dogwatch'): Metrics {
  const powertools = new Powertools({ namespace: process.env['POWERTOOLS_METRICS_NAMESPACE'] || namespace });
  // `service` would be one dimension more in every alarm, with one value.
  powertools.clearDefaultDimensions();
  let waiting: Metric[] = [];
  return {
    add(metrics) {
      waiting.push(...metrics);
    },
    flush() {
      const groups = groupMetrics(waiting);
      waiting = [];
      for (const { dimensions, metrics } of groups) {
        try {
          powertools.addDimensions({ ...dimensions });
          for (const { name, unit, value } of metrics) powertools.addMetric(name, unit, value);
          powertools.publishStoredMetrics();
        } finally {
          // What is left of a group that threw would be told under the dimensions of the next one.
          powertools.clearMetrics();
          powertools.clearDimensions();
        }
      }
    },
  };
}
