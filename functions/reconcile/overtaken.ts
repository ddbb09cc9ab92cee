/** Whether a run still acted on what is there: its object as it was read, compared with the object as it is now. */
import { type Outcome, type OvertakenBy, outcomeOf } from '../core/outcome.ts';
import { canonicalJson } from '../core/plain-json.ts';
import type { KubernetesObject, Reconciler } from '../core/reconciler.ts';
import { isSameOwnStatus, ownStatusOf } from '../core/status.ts';
import { untilAborted } from './abort.ts';
import { waitingOf } from './observed.ts';
import type { RunReport } from './run-report.ts';

/** What has happened to the object since it was read; `foreign-fields`: nothing that the run rests on. */
export function compareWithRead({ resource }: Pick<Reconciler, 'resource'>, read: KubernetesObject, found: KubernetesObject): OvertakenBy {
  if (found.metadata.uid !== read.metadata.uid) return 'replacement';
  if (found.metadata.generation !== read.metadata.generation) return 'newer-spec';
  if (found.metadata.deletionTimestamp !== read.metadata.deletionTimestamp) return 'newer-spec';
  if (resource.isDescribed) return read.metadata.generation === undefined && !isSameContent(read, found) ? 'newer-spec' : 'foreign-fields';
  return isSameOwnStatus(ownStatusOf(read), ownStatusOf(found)) ? 'foreign-fields' : 'newer-run';
}

/** Without a generation, whatever there is counts, save for the account of who wrote it. */
function isSameContent(before: KubernetesObject, after: KubernetesObject): boolean {
  const contentOf = ({ metadata: { resourceVersion: _version, managedFields: _fields, ...metadata }, ...rest }: KubernetesObject): string =>
    canonicalJson({ ...rest, metadata });
  return contentOf(before) === contentOf(after);
}

/** The outcome of a run that was overtaken, with what was found. */
export function overtaken(by: OvertakenBy, found: KubernetesObject): Outcome {
  const { uid, resourceVersion, generation } = found.metadata;
  const { until } = waitingOf(found);
  return {
    ...{ kind: 'overtaken', by, uid, resourceVersion },
    ...(generation === undefined ? {} : { generation }),
    ...(until === undefined ? {} : { nextReconcileTime: until }),
  };
}

/**
 * What a run that is to be given up came to instead, or undefined where its letter stands. A run that wrote and never came to
 * its confirm may have been overtaken without noticing: what it left behind is then nobody's any more, and a letter would leave
 * it there. Where that cannot be learned, the failure to learn it is the outcome.
 *
 * Where something outside may have been made for an object that is gone or replaced by now, one more run, for the uid acted on,
 * finalizes it.
 */
export async function outcomeInsteadOfLetter(
  { outcome, wrote, context }: RunReport,
  signal: AbortSignal,
): Promise<Pick<RunReport, 'outcome' | 'isApiServerError'> | undefined> {
  if (!wrote || context === undefined || outcome.kind === 'overtaken') return undefined;
  const { client, reconciler, run, object } = context;
  try {
    const found = await untilAborted(signal, client.get(reconciler.resource, run.key));
    if (reconciler.finalization !== undefined && found?.metadata.uid !== object.metadata.uid) {
      return { outcome: overtaken('replacement', object), isApiServerError: false };
    }
    if (found === undefined) return { outcome: { kind: 'finished', branch: 'gone' }, isApiServerError: false };
    const by = compareWithRead(reconciler, object, found);
    return by === 'foreign-fields' ? undefined : { outcome: overtaken(by, found), isApiServerError: false };
  } catch (error) {
    return { outcome: outcomeOf(error, 'read'), isApiServerError: client.isOwnError(error) };
  }
}
