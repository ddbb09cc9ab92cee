/** Numbers about what happened, as values: who makes them knows nothing of where they go. */

/** Every value has a name, a unit and the dimensions that it is told apart by. */
export interface Metric {
  readonly name: string;
  readonly unit: 'Count' | 'Seconds' | 'Milliseconds';
  readonly value: number;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** Metrics that have their dimensions in common, so that one line can hold them. */
export interface MetricGroup {
  readonly dimensions: Metric['dimensions'];
  readonly metrics: readonly Metric[];
}

/** Values that one line may hold of a metric: CloudWatch takes 100. */
const VALUES_MAX = 99;

/** The metrics by their dimensions, in the order of first sight; a group has at most {@link VALUES_MAX} values of a name. */
export function groupMetrics(metrics: readonly Metric[]): MetricGroup[] {
  const groups: { dimensions: Metric['dimensions']; metrics: Metric[]; counts: Map<string, number> }[] = [];
  const open = new Map<string, (typeof groups)[number]>();
  for (const metric of metrics) {
    const id = JSON.stringify(Object.entries(metric.dimensions).sort());
    let group = open.get(id);
    if (group === undefined || group.counts.get(metric.name) === VALUES_MAX) {
      group = { dimensions: metric.dimensions, metrics: [], counts: new Map() };
      groups.push(group);
      open.set(id, group);
    }
    group.metrics.push(metric);
    group.counts.set(metric.name, (group.counts.get(metric.name) ?? 0) + 1);
  }
  return groups.map(({ dimensions, metrics: members }) => ({ dimensions, metrics: members }));
}
