/** Structured log lines: a constant message, and the facts as fields. Backed by Powertools' Logger. */
import { Logger } from '@aws-lambda-powertools/logger';

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** A log that writes one JSON line an entry to stdout. `service` names the unit: watcher, reconcile. Level by LOG_LEVEL. */
export function createLog(service: string): Log {
  const logger = new Logger({ serviceName: service });
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void =>
      logger[level](message, fields);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
