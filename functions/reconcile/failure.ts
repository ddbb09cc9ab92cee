/** A failure on the object itself, where its owner looks first. Best effort: what is decided does not depend on it. */
import { ConflictError } from '../core/errors.ts';
import { type Failure, failureOf, type Outcome } from '../core/outcome.ts';
import type { KubernetesObject } from '../core/reconciler.ts';
import { failureStatus, type OwnStatus, ownStatusOf } from '../core/status.ts';
import { statusBody } from './confirm.ts';
import { compareWithRead } from './overtaken.ts';
import type { ObjectContext } from './run-context.ts';
import type { Decided } from './show.ts';

/** What may pass by itself. */
const SHOWN_LATE: ReadonlySet<Outcome['kind']> = new Set(['transient', 'waiting', 'field-conflict', 'unknown-target']);

/** The failure of its row from which on what may pass by itself is shown. */
const SHOWN_FROM_FAILURE = 3;

/**
 * The failure that Ready=False is to tell of, or undefined. An author's error, a refusal and a denial are shown at once; and so is
 * an author that hangs; what may pass by itself only when it has not, twice; the API server's own troubles never, since they say
 * nothing about the object.
 */
export function failureToShow({ run, report, disposition }: Decided): Failure | undefined {
  if (disposition.kind === 'dead-letter') return disposition.failure;
  const { outcome, stage, isApiServerError } = report;
  switch (outcome.kind) {
    case 'author-error':
    case 'refused':
    case 'denied':
      return outcome.failure;
    case 'transient':
    case 'waiting':
    case 'field-conflict':
    case 'unknown-target': {
      if (outcome.kind === 'transient' && isApiServerError) return undefined;
      const failuresBefore = run.data.failures?.[outcome.kind] ?? 0;
      return failuresBefore + 1 >= SHOWN_FROM_FAILURE ? outcome.failure : undefined;
    }
    case 'unknown':
      // Native redrive ends such a message without a word, so this is all that anybody ever sees of it.
      return outcome.failure.code === 'deadline' && stage === 'author' && !isApiServerError ? outcome.failure : undefined;
    case 'finished':
    case 'overtaken':
    case 'circuit-open':
    case 'newer-type':
    case 'not-due':
    case 'requeue-after':
      return undefined;
  }
}

/** True where {@link failureToShow} tells of this failure for the first time since the message was sent. */
export function isShownFirst({ run, report: { outcome } }: Decided): boolean {
  if (outcome.kind === 'unknown') return !run.redelivered;
  const failuresBefore = run.data.failures?.[outcome.kind] ?? 0;
  return failuresBefore + 1 === (SHOWN_LATE.has(outcome.kind) ? SHOWN_FROM_FAILURE : 1);
}

/** A failure as it stands on the object now, and the object as it was right before. */
export interface ShownFailure {
  readonly context: ObjectContext;
  readonly status: OwnStatus;
}

/**
 * Ready=False on the object at the resourceVersion that the run read, and Stalled=True with a dead letter. Undefined where
 * nothing was written: whoever moved the object in between knows more than this run.
 *
 * A letter is the last word, so it is not lost to a foreign write: then the object is read once more. That of an overtaken run
 * speaks of whatever generation is there, since the run knows that the one it read is over.
 */
export async function showFailure(
  context: ObjectContext,
  failure: Failure,
  { isLetter, isOvertaken }: { readonly isLetter: boolean; readonly isOvertaken: boolean },
): Promise<ShownFailure | undefined> {
  const { object, client, reconciler, run, log, signal } = context;
  const reread = async (isShownOn: (found: KubernetesObject) => boolean): Promise<ShownFailure | undefined> => {
    const found = await client.get(reconciler.resource, run.key);
    return found !== undefined && isShownOn(found) ? writeFailure({ ...context, object: found }, failure, isLetter) : undefined;
  };
  try {
    if (isOvertaken) return await reread((found) => found.metadata.uid === object.metadata.uid);
    try {
      return await writeFailure(context, failure, isLetter);
    } catch (error) {
      if (!(isLetter && error instanceof ConflictError && error.code === 'resource-version-conflict')) throw error;
    }
    return await reread((found) => compareWithRead(reconciler, object, found) === 'foreign-fields');
  } catch (error) {
    if (!signal.aborted) log.debug('failure not shown on the object', { key: run.key, code: failureOf(error).code });
    return undefined;
  }
}

async function writeFailure(context: ObjectContext, failure: Failure, stalled: boolean): Promise<ShownFailure | undefined> {
  const { object, client, reconciler, now } = context;
  const { generation = 0, resourceVersion } = object.metadata;
  const status = failureStatus({ previous: ownStatusOf(object), failure, generation, now, stalled });
  const written = await client.applyStatus(reconciler.resource, statusBody(context, resourceVersion, status));
  return written === undefined ? undefined : { context, status };
}
