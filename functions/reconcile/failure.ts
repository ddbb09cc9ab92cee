/** A failure on the object itself, where its owner looks first. Best effort: what is decided does not depend on it. */
import type { Disposition } from '../core/disposition.ts';
import type { Failure } from '../core/outcome.ts';
import { failureStatus, type OwnStatus, ownStatusOf } from '../core/status.ts';
import { statusBody } from './confirm.ts';
import type { RunReport } from './process.ts';
import type { ObjectContext } from './run-context.ts';

/** The attempt from which on a transient failure that is not the API server's own is shown. */
const SHOWN_FROM_ATTEMPT = 3;

/**
 * The failure that Ready=False is to tell of, or undefined. An author's error, a refusal and a denial are shown at once; what
 * may pass by itself only when it has not; the API server's own troubles never, since they say nothing about the object.
 */
export function failureToShow(report: RunReport, disposition: Disposition): Failure | undefined {
  if (disposition.kind === 'dead-letter') return disposition.failure;
  const { outcome, isApiServerError, context } = report;
  switch (outcome.kind) {
    case 'author-error':
    case 'refused':
    case 'denied':
      return outcome.failure;
    case 'transient':
      return !isApiServerError && (context?.run.data.attempt ?? 1) >= SHOWN_FROM_ATTEMPT ? outcome.failure : undefined;
    case 'finished':
    case 'overtaken':
    case 'waiting':
    case 'field-conflict':
    case 'unknown-target':
    case 'unknown':
    case 'circuit-open':
    case 'newer-type':
    case 'not-due':
    case 'requeue-after':
      return undefined;
  }
}

/**
 * Ready=False on the object at the resourceVersion that the run read, and Stalled=True with a dead letter. Returns the
 * status written, or undefined where nothing was: whoever moved the object in between knows more than this run.
 */
export async function showFailure(context: ObjectContext, failure: Failure, stalled: boolean): Promise<OwnStatus | undefined> {
  const { object, client, reconciler, log, now, signal } = context;
  const { generation = 0, resourceVersion } = object.metadata;
  const status = failureStatus({ previous: ownStatusOf(object), failure, generation, now, stalled });
  try {
    const written = await client.applyStatus(reconciler.resource, statusBody(context, resourceVersion, status));
    return written === undefined ? undefined : status;
  } catch (error) {
    if (!signal.aborted) log.debug('failure not shown on the object', { key: context.run.key, code: codeOf(error) });
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
