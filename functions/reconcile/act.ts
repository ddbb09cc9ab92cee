/**
 * Step 4 of a run: the children become what the Plan says. Where nothing but the spec can have changed since the last
 * confirmed run, they are applied directly; otherwise the cluster is asked first what is there.
 */
import { OWNER_LABEL } from '../../events/labels.ts';
import { groupKind, type ObjectAddress } from '../../events/resource.ts';
import { mapBounded } from '../core/bounded.ts';
import { ConflictError, TerminalError, TransientError } from '../core/errors.ts';
import { RUN_AGAIN } from '../core/outcome.ts';
import { type CheckedPlan, type ChildOwner, childKey, childrenToPrune, classifyChild, type ListedChild } from '../core/plan.ts';
import { observedOf } from './observed.ts';
import { readNotOlderThan } from './read.ts';
import type { ObjectContext } from './run-context.ts';

/** Requests of one kind of step under way at once for one object. */
const PARALLEL_REQUESTS = 8;

/** Why a run may trust what the last confirmed run left behind. */
const FRESH_REASONS = new Set(['created', 'generation-changed']);

/**
 * True where only the generation is new: the record is no retry, no repair and no repeat (which are mustRun), and the confirmed
 * run before was of this revision and of the generation right before this one, since a run of one in between may have written
 * and failed. Only then does the stored childrenDigest speak for what is there, and a list at R for what may be there. Never for
 * a kind that is not ours: its status says nothing of our runs.
 */
export function isOnlyGenerationNew({ run, reconciler, object }: ObjectContext): boolean {
  if (reconciler.resource.isDescribed) return false;
  const fresh = !run.data.mustRun && [...run.reasons].every((reason) => FRESH_REASONS.has(reason));
  const { observedGeneration = 0, observedRevision } = observedOf(object);
  return fresh && observedRevision === reconciler.revision && object.metadata.generation === observedGeneration + 1;
}

/**
 * Makes the children of the object those of the Plan: applies all, cluster-scoped ones first, and deletes those that
 * {@link childrenToPrune} names. Nothing is written before every child in the way was looked at.
 *
 * @throws TerminalError `child-not-owned`, TransientError `predecessor`, and the errors of the client
 */
export async function act(context: ObjectContext, plan: CheckedPlan): Promise<void> {
  const onlyGenerationNew = isOnlyGenerationNew(context);
  if (onlyGenerationNew && observedOf(context.object).childrenDigest === plan.digest) {
    await applyChildren(context, plan);
    return;
  }
  // A child that a late run made may be newer than R: only where nothing but the generation is new is R new enough.
  const at = onlyGenerationNew ? context.object.metadata.resourceVersion : undefined;
  const listed = await listChildren(context, at);
  await refuseForeign(context, plan, listed, at);
  await applyChildren(context, plan);
  await prune(context, childrenToPrune([...listed.values()], plan, ownerOf(context)));
}

function ownerOf({ run, object }: ObjectContext): ChildOwner {
  return { key: run.key, uid: object.metadata.uid };
}

/** Every object of an owned kind that carries our owner label, by {@link childKey}. */
async function listChildren(context: ObjectContext, at: string | undefined): Promise<Map<string, ListedChild>> {
  const { reconciler, object } = context;
  const labelSelector = `${OWNER_LABEL}=${object.metadata.uid}`;
  const pages = await mapBounded(reconciler.owns, PARALLEL_REQUESTS, (type) =>
    readNotOlderThan(context, at, async (resourceVersion) => {
      const found: ListedChild[] = [];
      let next: string | undefined;
      do {
        const page = await context.client.list(type, {
          form: 'metadata',
          labelSelector,
          ...(next === undefined ? { resourceVersion } : { continue: next }),
        });
        found.push(...page.rows.map(({ metadata }) => ({ type, metadata })));
        next = page.continue;
      } while (next !== undefined);
      return found;
    }),
  );
  return new Map(pages.flat().map((child) => [childKey(child.type, child.metadata), child]));
}

/** Looks at every planned child that is already there, and throws for the first that is not ours to write. */
async function refuseForeign(
  context: ObjectContext,
  { children, adopt }: CheckedPlan,
  listed: ReadonlyMap<string, ListedChild>,
  at: string | undefined,
): Promise<void> {
  const { client } = context;
  const owner = ownerOf(context);
  const found = await mapBounded(children, PARALLEL_REQUESTS, async ({ type, body }): Promise<ListedChild | undefined> => {
    const known = listed.get(childKey(type, body.metadata));
    if (known !== undefined) return known;
    const metadata = await readNotOlderThan(context, at, (resourceVersion) =>
      client.getMetadata(type, addressOf(body.metadata), { resourceVersion }),
    );
    return metadata === undefined ? undefined : { type, metadata };
  });
  const verdicts = found.filter((child) => child !== undefined).map((child) => ({ child, verdict: classifyChild(child.metadata, owner) }));
  const foreign = verdicts.find(({ verdict }) => verdict === 'foreign' || (verdict === 'unowned' && !adopt));
  if (foreign !== undefined) {
    throw new TerminalError(
      'child-not-owned',
      `an object with the name of a child exists and is not ours: rename the child, remove the object, or plan with adopt where it has no controller, ${RUN_AGAIN}`,
      { facts: childFacts(foreign.child) },
    );
  }
  const predecessor = verdicts.find(({ verdict }) => verdict === 'predecessor');
  if (predecessor !== undefined) throw waitFor(predecessor.child);
}

async function applyChildren(context: ObjectContext, plan: CheckedPlan): Promise<void> {
  for (const wave of plan.waves) {
    await mapBounded(wave, PARALLEL_REQUESTS, async ({ type, body }) => {
      const metadata = await context.client.apply(type, body);
      // What is being deleted takes the apply and vanishes all the same: it has to go before it can be made again.
      if (metadata.deletionTimestamp !== undefined) throw waitFor({ type, metadata });
    });
  }
}

async function prune(context: ObjectContext, surplus: readonly ListedChild[]): Promise<void> {
  await mapBounded(surplus, PARALLEL_REQUESTS, async ({ type, metadata }) => {
    try {
      await context.client.delete(type, addressOf(metadata), metadata.uid);
    } catch (error) {
      // Another object has the name by now: the one that was to go is gone.
      if (!(error instanceof ConflictError && error.code === 'uid-conflict')) throw error;
    }
  });
}

function waitFor(child: ListedChild): TransientError {
  return new TransientError(
    'predecessor',
    'a child still belongs to a predecessor of the object, or is being deleted: waiting until it is gone',
    { facts: childFacts(child) },
  );
}

function childFacts({ type, metadata }: ListedChild): Record<string, string> {
  return { childKind: groupKind(type), childNamespace: metadata.namespace ?? '', childName: metadata.name };
}

function addressOf({ namespace, name }: ObjectAddress): ObjectAddress {
  return namespace === undefined ? { name } : { namespace, name };
}
