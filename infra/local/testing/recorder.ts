/** Keeps what the parts of a bench tell: log lines, and from them what became of each run; writes as the API servers saw them. */
import type { Reason } from '../../../events/envelope.ts';
import { parseResourceKey } from '../../../events/resource.ts';
import type { Log, LogFields } from '../../../functions/adapters/telemetry.ts';
import type { ServedWrite } from '../api-server/served-write.ts';
import type { BenchOptions } from './bench-options.ts';
import type { LogLine, ObjectPlace, RecordedWrite, RunOutcome } from './records.ts';
import type { WaitingMessage } from './test-queues.ts';

/** The line of `functions/reconcile/report.ts`. */
const RUN_LINE = 'record processed';

export class Recorder {
  readonly outcomes: RunOutcome[] = [];
  readonly writes: RecordedWrite[] = [];
  readonly logs: LogLine[] = [];
  readonly log: Log;
  readonly #onLog: BenchOptions['onLog'];

  constructor(onLog: BenchOptions['onLog']) {
    this.#onLog = onLog;
    const of =
      (level: LogLine['level']) =>
      (message: string, fields: LogFields = {}): void =>
        this.#line({ level, message, fields });
    this.log = { debug: of('debug'), info: of('info'), warn: of('warn'), error: of('error') };
  }

  clear(): void {
    for (const list of [this.outcomes, this.writes, this.logs]) list.length = 0;
  }

  /** The function died over the message. */
  died({ data }: WaitingMessage): void {
    if (data === undefined) return;
    const { cluster, kind, namespace, name, reason, attempt } = data;
    const place = { cluster, kind, ...(namespace === undefined ? {} : { namespace }), name };
    this.outcomes.push({ ...place, reason, attempt, branch: 'crashed', disposition: undefined, apiRequestCount: 0 });
  }

  wrote(cluster: string, { group: _, ...write }: ServedWrite): void {
    this.writes.push({ cluster, ...write });
  }

  #line(line: LogLine): void {
    this.logs.push(line);
    this.#onLog?.(line.level, line.message, line.fields);
    if (line.message === RUN_LINE) this.outcomes.push(outcomeOf(line.fields));
  }
}

function outcomeOf(fields: LogFields): RunOutcome {
  const { delaySeconds, code, error, stack } = fields as Partial<RunOutcome>;
  return {
    ...placeOf(String(fields['key'])),
    reason: fields['reason'] as Reason,
    attempt: Number(fields['attempt']),
    branch: String(fields['branch']),
    disposition: String(fields['disposition']),
    ...(delaySeconds === undefined ? {} : { delaySeconds }),
    ...(code === undefined ? {} : { code }),
    ...(error === undefined ? {} : { error }),
    ...(stack === undefined ? {} : { stack }),
    apiRequestCount: Number(fields['apiRequestCount']),
  };
}

function placeOf(key: string): ObjectPlace {
  const { cluster, kind, namespace, name } = parseResourceKey(key) ?? { cluster: '', kind: '', namespace: undefined, name: key };
  return { cluster, kind, ...(namespace === undefined ? {} : { namespace }), name };
}
