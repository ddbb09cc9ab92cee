/** The message that outlives an object: it is sent before the finalizer comes off, so no watcher is needed for it. */
import { buildEnvelope, type EnvelopeData, encodeEnvelope, REASONS } from '../../events/envelope.ts';
import { TransientError } from '../core/errors.ts';
import { lateRunsOverSeconds } from '../core/late-runs.ts';
import { sendNow } from './effects.ts';
import type { ObjectContext } from './run-context.ts';

/**
 * SQS has a message `deleted` for the uid of the object, which comes when every run that saw the object alive is over: one of
 * them may act after the object was finalized, and die before it notices.
 *
 * @throws TransientError `send-failed`
 */
export async function sendDeleted(context: ObjectContext): Promise<void> {
  const { run, queueUrls, functionTimeoutSeconds, signal } = context;
  const delaySeconds = lateRunsOverSeconds(functionTimeoutSeconds);
  const message = { body: bodyOf(context), delaySeconds, groupId: run.key.cluster };
  let code: string;
  try {
    const result = await sendNow({ queueUrl: queueUrls.live, message }, context, signal);
    if (result?.kind === 'sent') return;
    code = result?.code ?? 'no-result';
  } catch (error) {
    throw sendFailed({ cause: error });
  }
  throw sendFailed({ facts: { sqsCode: code } });
}

/** A message of its own: its budget begins now, whatever the run's has spent. */
function bodyOf({ run, reconciler, object, clock }: ObjectContext): string {
  const { group, version, kind, plural } = reconciler.resource;
  const { cluster, namespace, name } = run.key;
  const { uid, resourceVersion, generation } = object.metadata;
  const now = clock.now();
  const data: EnvelopeData = {
    ...{ cluster, group, version, plural, kind, ...(namespace === undefined ? {} : { namespace }), name },
    ...{ uid, resourceVersion, ...(generation === undefined ? {} : { generation }) },
    ...{ reason: 'deleted', mustRun: REASONS.deleted.mustRun, attempt: 1, firstSeenAt: now.toISOString() },
  };
  return encodeEnvelope(buildEnvelope(data, { id: clock.uuid(), now, traceparent: run.traceparent }));
}

function sendFailed(options: ConstructorParameters<typeof TransientError>[2]): TransientError {
  return new TransientError(
    'send-failed',
    'the message that looks after the deleted object was not sent, so its finalizer stays on: it is tried again',
    options,
  );
}
