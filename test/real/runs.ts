/** What the function says of its runs: its log lines, read. */
import type { System } from './system.ts';

/** One line of a run, as far as the tests read it. */
export interface RunLine {
  readonly branch: string;
  readonly disposition: string;
  readonly key: string;
  readonly reason: string;
  readonly attempt: number;
  readonly delaySeconds?: number;
  readonly rereadCount?: number;
  readonly apiRequestCount: number;
  readonly durationMs: number;
}

/** The runs of objects whose key ends in `name` (`Tenant//acme`, `default/a`), or of all; in the order in which they ended. */
export function runsOf({ functionHost }: Pick<System, 'functionHost'>, name = ''): RunLine[] {
  const lines = functionHost.lines.flatMap((line) => {
    const begin = line.indexOf('{');
    if (begin < 0 || !line.includes('"record processed"')) return [];
    return [JSON.parse(line.slice(begin)) as RunLine];
  });
  return lines.filter(({ key }) => key.endsWith(name));
}
