/**
 * The author's own function, under guard: it gets frozen input and the run's signal, and whatever it throws, returns or
 * never returns stays a matter of this one object.
 */
import { formatResourceKey, groupKind } from '../../events/resource.ts';
import type { DescribedObject } from '../core/described-resource.ts';
import { deepFreeze } from '../core/frozen.ts';
import { invalidPlan } from '../core/plan.ts';
import type { CustomObject, FinalizeInput, Read, ReconcilerLog } from '../core/reconciler.ts';
import { readNotOlderThan } from './read.ts';
import type { ObjectContext, RunContext } from './run-context.ts';

/**
 * What `reconcile` returned: nothing is known of it yet, not even that it is a Plan. It may never come; whoever waits has to
 * watch the signal.
 *
 * @param readAt  reads of the author are not older than this; undefined: the newest
 * @throws whatever the author throws, at once or later
 */
export async function askAuthor(
  context: ObjectContext,
  object: CustomObject<unknown, unknown> | DescribedObject,
  readAt: string | undefined,
): Promise<unknown> {
  const input = authorInput(context, context.object.metadata.uid, readAt);
  return context.reconciler.reconcile({ ...input, object: object as CustomObject<unknown, unknown> });
}

/** What either function of an author is given besides the object with that uid. */
export function authorInput(
  context: RunContext,
  uid: string,
  readAt: string | undefined,
): Omit<FinalizeInput<unknown, unknown>, 'uid' | 'object'> {
  const { run, client, now, signal, reconciler } = context;
  const readable = new Set([reconciler.resource, ...reconciler.owns, ...reconciler.reads].map(groupKind));
  const read: Read = (type, at) => {
    const answer = readable.has(groupKind(type))
      ? readNotOlderThan(context, readAt, (resourceVersion) => client.get(type, at, { resourceVersion })).then(deepFreeze)
      : Promise.reject(invalidPlan(`The reconciler reads ${groupKind(type)}, which is not in its reads; declare it there`));
    // Of two reads at once an author may never await the second: its failure would end the process, and every other run with it.
    answer.catch(() => {});
    return answer;
  };
  return { key: deepFreeze({ ...run.key }), read, now: new Date(now), log: authorLog(context, uid), signal };
}

/** The author's lines say of which object and attempt they speak; the author's fields can't hide that. */
function authorLog({ run, log }: RunContext, uid: string): ReconcilerLog {
  const facts = { key: formatResourceKey(run.key), uid, attempt: run.data.attempt };
  return {
    info: (message, fields) => log.info(message, { ...fields, ...facts }),
    warn: (message, fields) => log.warn(message, { ...fields, ...facts }),
  };
}
