/**
 * Step 5 of a run: status says what was done, on the very resourceVersion that the run acted on. Always sent, also when
 * nothing in it changed: an apply without effect writes nothing but still tells a late run that it was late.
 */
import type { ObjectMetadata } from '../../events/observed-object.ts';
import { apiVersionOf } from '../../events/resource.ts';
import type { AppliedObject } from '../adapters/kubernetes/port.ts';
import { ConflictError, TerminalError } from '../core/errors.ts';
import { type Outcome, RUN_AGAIN } from '../core/outcome.ts';
import type { OwnStatus } from '../core/status.ts';
import { pauseBriefly, READ_AGAIN_MAX } from './again.ts';
import { compareWithRead, overtaken } from './overtaken.ts';
import type { ObjectContext } from './run-context.ts';
import { asStatusFieldMissing } from './status-fields.ts';

export interface Confirmed {
  readonly outcome: Outcome;
  /** The object as the confirm left it; undefined where there was none. */
  readonly confirmed?: ObjectMetadata;
}

/**
 * Applies `status` at the resourceVersion read. A foreign write in between costs one read and one more apply; a newer spec,
 * a newer run or another object of the name means that this run was overtaken.
 *
 * @throws TerminalError `status-subresource-missing`, `status-field-missing`, and the errors of the client other than the conflict on R
 */
export async function confirm(context: ObjectContext, status: OwnStatus): Promise<Confirmed> {
  const { client, reconciler, progress } = context;
  let current = context.object;
  for (;;) {
    try {
      const answer = await client.applyStatus(reconciler.resource, statusBody(context, current.metadata.resourceVersion, status));
      if (answer === undefined) return { outcome: await explainAbsence(context) };
      return { outcome: { kind: 'finished', branch: 'reconciled' }, confirmed: answer };
    } catch (error) {
      if (!(error instanceof ConflictError && error.code === 'resource-version-conflict')) throw asStatusFieldMissing(error);
    }
    // Whatever it was this time, the run that follows reads for itself.
    if (progress.rereadCount === READ_AGAIN_MAX) return { outcome: overtaken('foreign-fields', current) };
    const found = await client.get(reconciler.resource, context.run.key);
    progress.rereadCount += 1;
    if (found === undefined) return { outcome: { kind: 'finished', branch: 'gone' } };
    const overtakenBy = compareWithRead(reconciler, context.object, found);
    if (overtakenBy !== 'foreign-fields') return { outcome: overtaken(overtakenBy, found) };
    current = found;
    await pauseBriefly(context);
  }
}

/**
 * The end of a run over an object that is not ours to write: one more read tells whether the children were made for what is there.
 * Where the kind has no generation, any other content counts.
 */
export async function confirmDescribed({ client, reconciler, run, object }: ObjectContext): Promise<Confirmed> {
  const found = await client.get(reconciler.resource, run.key);
  if (found === undefined) return { outcome: { kind: 'finished', branch: 'gone' } };
  const by = compareWithRead(reconciler, object, found);
  return { outcome: by === 'foreign-fields' ? { kind: 'finished', branch: 'reconciled' } : overtaken(by, found) };
}

/** The body of a status apply: nothing but identity, R and status. */
export function statusBody({ run, reconciler }: ObjectContext, resourceVersion: string, status: OwnStatus): AppliedObject {
  const { namespace, name } = run.key;
  return {
    apiVersion: apiVersionOf(reconciler.resource),
    kind: reconciler.resource.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), resourceVersion },
    status,
  };
}

/**
 * After a 404 on `/status`. An object of another uid was created after that answer, so after every write of this run: its
 * own message finds what was left here, and nothing is to be sent for it.
 */
async function explainAbsence({ client, reconciler, run, object }: ObjectContext): Promise<Outcome> {
  const found = await client.get(reconciler.resource, run.key);
  if (found === undefined) return { kind: 'finished', branch: 'gone' };
  if (found.metadata.uid !== object.metadata.uid) return { kind: 'finished', branch: 'replaced' };
  throw new TerminalError(
    'status-subresource-missing',
    `the CustomResourceDefinition has no status subresource: add "subresources: {status: {}}" to its served version, ${RUN_AGAIN}`,
  );
}
