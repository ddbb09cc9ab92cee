/** What a bench has seen, as tests look at it. */
import type { Diagnosis, EnvelopeData, Lane, Reason } from '../../../events/envelope.ts';
import type { LogFields } from '../../../functions/adapters/telemetry.ts';

/** Which object. */
export interface ObjectPlace {
  readonly cluster: string;
  readonly kind: string;
  /** Left out for a cluster-scoped kind. */
  readonly namespace?: string;
  readonly name: string;
}

/** A message that a work queue took. */
export interface SentMessage extends ObjectPlace {
  readonly reason: Reason;
  readonly lane: Lane;
  readonly attempt: number;
  /** 0 to 900. */
  readonly delaySeconds: number;
  readonly sentBy: 'watcher' | 'function' | 'test';
  readonly sentAt: Date;
  /** All that it says. */
  readonly data: EnvelopeData;
}

/** A message that was given up. What it is about is empty where its body is no envelope of ours. */
export interface DeadLetter extends ObjectPlace {
  /** Undefined where the queue moved it by itself, after five receives without an answer. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly diagnosis: Diagnosis | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What became of one run of the function. */
export interface RunOutcome extends ObjectPlace {
  readonly reason: Reason;
  readonly attempt: number;
  /** `reconciled`, `settled`, `transient`, `author-error`, ...: ARCHITECTURE.md has them all. `crashed`: it died. */
  readonly branch: string;
  /** `done`, `requeue`, `dead-letter` or `fail-item`; undefined where it died. */
  readonly disposition: string | undefined;
  /** Of a requeue. */
  readonly delaySeconds?: number;
  /** Of a failure, with its text. */
  readonly code?: string;
  readonly error?: string;
  /** Where the author's exception was thrown. */
  readonly stack?: string;
  readonly apiRequestCount: number;
}

/** A write that an API server was asked for; a delete of many is one for each object. */
export interface RecordedWrite extends ObjectPlace {
  readonly verb: 'create' | 'update' | 'patch' | 'apply' | 'delete';
  readonly subresource: '' | 'status';
  /** The field manager: `dogwatch` and `dogwatch-finalizer` are the function, `bench` is the test. */
  readonly manager: string;
  /** True where it changed nothing, was refused, or was hit by a fault before it was done. */
  readonly isNoOp: boolean;
  /** HTTP status of the refusal, also by a fault; undefined where a fault broke the connection. */
  readonly refusedWith?: number;
}

/** A line of the log, of the function or of its reconcilers. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** `Greeting default/hello`. */
export function describePlace({ kind, namespace, name }: { kind: string; namespace?: string | undefined; name: string }): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
