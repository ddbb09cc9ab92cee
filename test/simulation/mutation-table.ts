/**
 * Faults to be put into the sources on purpose, one for each sentence of the protocol that looks odd: the simulation has to find
 * each of them. A text that is not in its file is an error, so that this table can't fall behind.
 */
import type { KindName } from './kinds.ts';

export interface Edit {
  /** From the root of the project. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutation {
  readonly name: string;
  /** Kinds whose simulations are to find it. */
  readonly kinds: readonly KindName[];
  readonly edits: readonly Edit[];
  /** Why no simulation can find it. */
  readonly isHarmless?: string;
}

function one(name: string, kinds: readonly KindName[], file: string, find: string, replace: string): Mutation {
  return { name, kinds, edits: [{ file, find, replace }] };
}

const REPLACED = "  if (found.metadata.uid !== object.metadata.uid) return { kind: 'finished', branch: 'replaced' };\n";
const LOST = 'return finalizeLost(acting, finalization, await reconcile(acting));';
const FOUND = 'functions/reconcile/steps.ts';

export const MUTATIONS: readonly Mutation[] = [
  {
    ...one('a status that is 404 is always a missing subresource', ['A'], 'functions/reconcile/confirm.ts', REPLACED, ''),
    isHarmless: 'whoever wrote looks at the object once more before its message becomes a letter',
  },
  {
    name: 'a status that is 404 is always a missing subresource, and nobody looks again before a letter',
    kinds: ['A'],
    edits: [
      { file: 'functions/reconcile/confirm.ts', find: REPLACED, replace: '' },
      {
        file: 'functions/reconcile/overtaken.ts',
        find: 'if (!wrote || context === undefined',
        replace: 'if (wrote || context === undefined',
      },
    ],
  },
  one(
    'a run that must run trusts the digest of the children',
    ['A'],
    'functions/reconcile/act.ts',
    'if (onlyGenerationNew && observedOf(',
    'if (observedOf(',
  ),
  one(
    'a run that must run lists at the version it read',
    ['A'],
    'functions/reconcile/act.ts',
    'const at = onlyGenerationNew ? context.object.metadata.resourceVersion : undefined;',
    'const at = context.object.metadata.resourceVersion;',
  ),
  one(
    'a redelivered record reads at the version of its envelope',
    ['A'],
    'functions/reconcile/read.ts',
    'const known = run.redelivered ? undefined : run.data.resourceVersion;',
    'const known = run.data.resourceVersion;',
  ),
  one(
    'the confirm is left out where the status stays the same',
    ['A', 'B'],
    'functions/reconcile/steps.ts',
    'const { outcome, confirmed } = await confirm(context, status);',
    `const same = JSON.stringify(Object.entries(ownStatusOf(object)).sort()) === JSON.stringify(Object.entries(status).sort());
  if (same) return { outcome: { kind: 'finished', branch: 'reconciled' } };
  const { outcome, confirmed } = await confirm(context, status);`,
  ),
  one(
    'the confirm carries no resourceVersion',
    ['A'],
    'functions/reconcile/confirm.ts',
    '...(namespace === undefined ? {} : { namespace }), resourceVersion },',
    '...(namespace === undefined ? {} : { namespace }), ...(resourceVersion === undefined ? {} : {}) },',
  ),
  one(
    'a record that was received before may be found settled',
    ['A'],
    'functions/reconcile/fold.ts',
    'mustRun: redelivered || all.some((one) => one.mustRun),',
    'mustRun: all.some((one) => one.mustRun),',
  ),
  {
    name: 'the uid is kept and obeyed after a run was overtaken',
    kinds: ['A'],
    edits: [
      {
        file: 'functions/core/next-envelope.ts',
        find: 'if (found?.uid === undefined || data.uid === undefined || found.uid === data.uid) return data;',
        replace: 'if (found?.uid !== null) return data;',
      },
      { file: 'functions/core/next-envelope.ts', find: 'uid: found.uid ?? seen.uid ?? data.uid,', replace: 'uid: data.uid,' },
      {
        file: FOUND,
        find: "if (found === undefined) return { outcome: { kind: 'finished', branch: 'gone' } };",
        replace: "if (found === undefined || found.metadata.uid !== uid) return { outcome: { kind: 'finished', branch: 'gone' } };",
      },
    ],
  },
  one(
    'after a conflict the object is read from a cache',
    ['A'],
    'functions/reconcile/confirm.ts',
    'const found = await client.get(reconciler.resource, context.run.key);',
    'const found = await client.get(reconciler.resource, context.run.key, { resourceVersion: current.metadata.resourceVersion });',
  ),
  one(
    'a record is acknowledged before its message is sent',
    ['A'],
    'functions/reconcile/effects.ts',
    'if (!(await send(message, dependencies, signal))) return false;',
    'void send(message, dependencies, signal);',
  ),
  one(
    'what is sent again need not run',
    ['A'],
    'functions/core/next-envelope.ts',
    "mustRun: data.mustRun || run.wrote || outcome.kind === 'overtaken',",
    'mustRun: false,',
  ),
  one(
    'a mark loses that it must run',
    ['A'],
    'events/dirty-marks.ts',
    'mustRun: earlier.mustRun || later.mustRun,',
    'mustRun: later.mustRun,',
  ),
  one(
    'a retry is sent at once',
    ['A'],
    'functions/reconcile/effects.ts',
    'bodyOf(data), disposition.delaySeconds, run.key.cluster);',
    'bodyOf(data), 0, run.key.cluster);',
  ),
  one(
    'what another object of the name left outside is not finalized',
    ['B'],
    FOUND,
    'uid !== undefined && found?.metadata.uid !== uid) {',
    'uid !== undefined && found === undefined) {',
  ),
  one(
    'what a gone object left outside is not finalized',
    ['B'],
    FOUND,
    'uid !== undefined && found?.metadata.uid !== uid) {',
    'uid !== undefined && found !== undefined && found.metadata.uid !== uid) {',
  ),
  {
    ...one('whoever acted on a gone object does not finalize it', ['B'], FOUND, LOST, 'return reconcile(acting);'),
    isHarmless: 'the message that follows every object does',
  },
  {
    name: 'whoever acted on a gone object does not finalize it, and no message follows the object',
    kinds: ['B'],
    edits: [
      { file: FOUND, find: LOST, replace: 'return reconcile(acting);' },
      { file: 'functions/reconcile/deleting.ts', find: '  await sendDeleted(context);\n', replace: '' },
    ],
  },
  {
    name: 'no message follows an object whose finalizer comes off',
    kinds: ['B'],
    edits: [{ file: 'functions/reconcile/deleting.ts', find: '  await sendDeleted(context);\n', replace: '' }],
  },
  one(
    'the message that follows an object is not delayed',
    ['B'],
    'functions/reconcile/send-deleted.ts',
    'const delaySeconds = lateRunsOverSeconds(functionTimeoutSeconds);',
    'const delaySeconds = 0 * lateRunsOverSeconds(functionTimeoutSeconds);',
  ),
  one(
    'the watcher does not delay its word of a deletion',
    ['B'],
    'functions/watcher/observer.ts',
    'const delay = delaySeconds === undefined ? {} : { delaySeconds };',
    'const delay = delaySeconds === undefined ? {} : {};',
  ),
  one(
    'the finalizer is added to whatever has the name',
    ['B'],
    'functions/reconcile/finalizer.ts',
    '...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, finalizers: [name] },',
    '...(namespace === undefined ? {} : { namespace }), ...(uid === resourceVersion ? {} : {}), finalizers: [name] },',
  ),
  one(
    'the finalizer is taken off whatever has the name',
    ['B'],
    'functions/reconcile/deleting.ts',
    'await client.patchFinalizers(resource, run.key, { uid, resourceVersion }, rest);',
    'await client.patchFinalizers(resource, run.key, {} as { uid: string; resourceVersion: string }, rest);',
  ),
  {
    name: 'the finalizer comes off before finalize is called',
    kinds: ['B'],
    edits: [
      {
        file: 'functions/reconcile/deleting.ts',
        find: '  const answer = await askToFinalize(context,',
        replace: '  if (isHeld) await removeFinalizer(context, finalization);\n  const answer = await askToFinalize(context,',
      },
    ],
  },
  one(
    'what is overdue need not run',
    ['C'],
    'events/known-objects.ts',
    "reason: 'sweep', mustRun: kind === 'overdue' });",
    "reason: 'sweep', mustRun: false });",
  ),
  one(
    'a wake-up that was received before may be stale',
    ['C'],
    'functions/reconcile/wake.ts',
    'return isRequeue && !run.redelivered && isStaleWakeUp(',
    'return isRequeue && isStaleWakeUp(',
  ),
  one(
    'a redelivered run that is overtaken does not send for the time that is stored',
    ['C'],
    'functions/reconcile/wake.ts',
    'mayHaveRun(run) ? stored : undefined',
    '!mayHaveRun(run) && stored === 0 ? stored : undefined',
  ),
  one(
    'a redelivered run that finds its object paused does not send for the time that is stored',
    ['C'],
    'functions/reconcile/wake.ts',
    '!LEFT_ALONE.has(outcome.branch)) return [];',
    'LEFT_ALONE.size > 0) return [];',
  ),
  one(
    'a pause that a cache shows is believed',
    ['C'],
    'functions/reconcile/read.ts',
    'const isInDoubt = asked !== undefined && ',
    'const isInDoubt = asked === null && ',
  ),
  one(
    'a run whose confirm has no answer does not send for the time that it may have stored',
    ['C'],
    'functions/reconcile/wake.ts',
    'const doubted = isFound ? undefined : context.progress.storing?.getTime();',
    'const doubted = isFound ? context.progress.storing?.getTime() : undefined;',
  ),
  one(
    'a stored time that is ahead is not kept',
    ['C'],
    'functions/core/wake-time.ts',
    'const isKept = stored !== undefined && stored > now.getTime() && stored <= wanted.getTime();',
    'const isKept = stored === 0;',
  ),
  {
    ...one('whatever a wake-up came for, it runs', ['C'], 'functions/core/wake-time.ts', '!cameFor.includes(stored) && ', 'false && '),
    isHarmless: 'a run that finds a stored time ahead keeps it and sends nothing, which alone holds the chain to one',
  },
  {
    ...one(
      'a run of the same generation in between does not count',
      ['A'],
      'functions/reconcile/overtaken.ts',
      "? 'foreign-fields' : 'newer-run';",
      "? 'foreign-fields' : 'foreign-fields';",
    ),
    isHarmless: 'two runs of one generation write the same, where the Plan rests on nothing but the spec',
  },
];
