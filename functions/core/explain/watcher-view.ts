/** What the watcher tells of one kind in one cluster, read from its own texts: /metrics, and /readyz where it was answered. */
import { groupKind, type ResourceType } from '../../../events/resource.ts';
import { cutText } from '../errors.ts';
import { isJsonObject } from '../plain-json.ts';
import type { CellView, WatcherView } from './facts.ts';

/** Whose metrics these are is seen by the help of this one, which is there without a single cell. */
const STREAMING = 'dogwatch_cell_streaming';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Undefined for a text that is not the metrics of a watcher. */
export function watcherView(metrics: string, readyz: string | undefined, cluster: string, type: ResourceType): WatcherView | undefined {
  if (!metrics.includes(`# TYPE ${STREAMING} `)) return undefined;
  const samples = metrics.split('\n').flatMap((line) => sampleOf(line) ?? []);
  const kind = groupKind(type);
  const lines = (readyz ?? '').split('\n').flatMap(cellLines);
  const ofCluster = samples.filter(({ labels }) => labels['cluster'] === cluster);
  const own = ofCluster.filter(({ labels }) => labels['kind'] === kind && (labels['role'] ?? 'primary') === 'primary');
  const value = (name: string): number | undefined => own.find((sample) => sample.name === name)?.value;
  const streaming = value(STREAMING);
  // A cell that fails to start has no series yet, and a line all the same.
  const line = lines.find((one) => one['cluster'] === cluster && one['kind'] === kind && (one['role'] ?? 'primary') === 'primary');
  const hasCluster = ofCluster.some(({ name }) => name === STREAMING) || lines.some((one) => one['cluster'] === cluster);
  if (streaming === undefined && line === undefined) return { hasCluster, cell: undefined };
  const refused = own.filter(({ name, labels }) => name === 'dogwatch_sends_total' && labels['result'] === 'refused');
  const cell: CellView = {
    isStreaming: streaming === undefined ? line?.['phase'] === 'streaming' : streaming === 1,
    phase: textAt(line, 'phase'),
    error: errorAt(line),
    lastEventAgeSeconds: value('dogwatch_last_event_age_seconds'),
    knownCount: value('dogwatch_known_objects') ?? 0,
    unsettledCount: value('dogwatch_unsettled_objects') ?? 0,
    oldestUnsettledSeconds: value('dogwatch_oldest_unsettled_seconds') ?? 0,
    outboxCount: value('dogwatch_outbox_depth') ?? 0,
    refusedCount: refused.reduce((sum, sample) => sum + sample.value, 0),
  };
  return { hasCluster, cell };
}

/** A line of Prometheus' text format; undefined for a comment, and for what is none. */
function sampleOf(line: string): Sample | undefined {
  const [, name, inner = '', text] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const value = Number(text);
  if (name === undefined || Number.isNaN(value)) return undefined;
  const pairs = [...inner.matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', quoted = '']) => [
    key,
    quoted.replace(/\\(.)/g, '$1'),
  ]);
  return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value };
}

type Line = Readonly<Record<string, unknown>>;

function cellLines(line: string): Line[] {
  if (!line.startsWith('{')) return [];
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? [value] : [];
  } catch {
    return []; // Somebody else's answer tells nothing of a cell.
  }
}

function textAt(line: Line | undefined, field: string): string | undefined {
  const value = line?.[field];
  return typeof value === 'string' ? cutText(value, 64) : undefined;
}

function errorAt(line: Line | undefined): CellView['error'] {
  const error = line?.['error'];
  if (!isJsonObject(error)) return undefined;
  return { code: cutText(String(error['code'] ?? 'unknown'), 64), message: cutText(String(error['message'] ?? '')) };
}
