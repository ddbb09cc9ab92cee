/** Asks a watcher how it sees a kind, by its HTTP side. */
import type { Asked } from '../../core/doctor/finding.ts';
import { ConfigError } from '../../core/errors.ts';
import { notAsked, type Place, type WatcherView } from '../../core/explain/facts.ts';
import { watcherView } from '../../core/explain/watcher-view.ts';
import type { ExplainPorts, Page } from './ports.ts';

/** Where metrics are; undefined where nobody says. @throws ConfigError `usage` for what is no http or https URL */
export function metricsUrl(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new ConfigError('usage', `--metrics is no http or https URL, such as http://127.0.0.1:8080/metrics`);
  return url.pathname === '/' ? new URL('/metrics', url) : url;
}

/** Metrics, and /readyz beside them for what is wrong; where that is not answered the metrics count alone. */
export async function askWatcher(
  url: URL | undefined,
  { cluster, type }: Place,
  { fetchPage }: Pick<ExplainPorts, 'fetchPage'>,
): Promise<Asked<WatcherView>> {
  if (url === undefined) return notAsked('nobody named its metrics, by --metrics');
  const [metrics, readyz] = await Promise.all([pageAt(url, fetchPage), pageAt(new URL('readyz', url), fetchPage)]);
  if ('says' in metrics) return { kind: 'untold', code: 'no-answer', says: `${url.href} does not answer (${metrics.says})` };
  if (metrics.status !== 200) return { kind: 'untold', code: 'no-metrics', says: `${url.href} answers ${metrics.status}` };
  // It is 503 while no cell streams, with a line for each all the same.
  const view = watcherView(metrics.text, 'text' in readyz ? readyz.text : undefined, cluster, type);
  return view === undefined
    ? { kind: 'untold', code: 'no-metrics', says: `${url.href} are not the metrics of a watcher` }
    : { kind: 'told', value: view };
}

/** Whatever went wrong on the way is an answer: the object is told of all the same. */
async function pageAt(url: URL, fetchPage: ExplainPorts['fetchPage']): Promise<Page | { readonly says: string }> {
  try {
    return await fetchPage(url);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    return { says: String((cause as { code?: unknown } | undefined)?.code ?? (error instanceof Error ? error.message : error)) };
  }
}
