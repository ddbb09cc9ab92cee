/** The watcher's cells, as its HTTP side tells them. */
import type { DevEvent } from './dev-state.ts';

type Cells = Extract<DevEvent, { kind: 'cells' }>;
type Cell = Cells['cells'][number];

/** How long the watcher may take to answer. */
const ANSWER_MS = 2_000;

/** The cells now. @throws where the watcher does not answer @param address  `http://host:port` */
export async function readCells(address: string): Promise<Cells> {
  const read = async (path: string): Promise<string> =>
    (await fetch(`${address}${path}`, { signal: AbortSignal.timeout(ANSWER_MS) })).text();
  const [ready, metrics] = await Promise.all([read('/readyz'), read('/metrics')]);
  return { kind: 'cells', cells: cellsOf(ready, metrics) };
}

/** @param ready  the text of /readyz @param metrics  that of /metrics, which alone knows how old what is unsettled is */
export function cellsOf(ready: string, metrics: string): Cell[] {
  const ages = new Map(
    Array.from(metrics.matchAll(/^dogwatch_oldest_unsettled_seconds\{cluster="(.*?)",kind="(.*?)",role="(.*?)"\} (\S+)$/gm), (found) => [
      found.slice(1, 4).join(' '),
      Number(found[4]),
    ]),
  );
  const lines = ready.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const { cluster, kind, role, phase, objects, unsettled } = JSON.parse(line) as Cell;
    const age = ages.get([cluster, kind, role].join(' '));
    return {
      ...{ cluster, kind, role, phase, objects, unsettled },
      ...(age === undefined || unsettled === 0 ? {} : { oldestUnsettledSeconds: age }),
    };
  });
}
