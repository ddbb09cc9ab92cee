/** What a DELETE makes of an object: gone, or marked and waiting for its finalizers. */
import { ApiFault, badRequest } from './api-fault.ts';
import { isJsonObject, type KindInfo, type KubeObject, resourceName } from './api-object.ts';
import { NAMESPACES } from './built-in-kinds.ts';
import { booleanOf } from './list-options.ts';

type Propagation = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions {
  readonly now: Date;
  readonly isDryRun: boolean;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: Propagation;
}

export type Deletion =
  | { readonly kind: 'gone'; readonly object: KubeObject }
  | { readonly kind: 'pending'; readonly object: KubeObject }
  /** It is being deleted already, and nothing is new. */
  | { readonly kind: 'unchanged'; readonly object: KubeObject };

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';
/** The real server refuses to delete these. */
const IMMORTAL = ['default', 'kube-system', 'kube-public'];

/** @throws ApiFault 409 if a precondition does not hold, 403 for a namespace that has to stay */
export function decideDeletion(kind: KindInfo, current: KubeObject, options: DeleteOptions): Deletion {
  checkPreconditions(kind, current, options);
  const isNamespace = resourceName(kind) === NAMESPACES;
  const { metadata } = current;
  if (isNamespace && IMMORTAL.includes(metadata.name)) {
    const details = { name: metadata.name, kind: NAMESPACES };
    throw new ApiFault(403, `namespaces "${metadata.name}" is forbidden: this namespace may not be deleted`, {
      reason: 'Forbidden',
      details,
    });
  }
  const finalizers = finalizersAfter(metadata.finalizers ?? [], options.propagation);
  const isSame = finalizers.join() === (metadata.finalizers ?? []).join();
  const isMarked = metadata.deletionTimestamp !== undefined;
  if (isMarked && isSame) return { kind: 'unchanged', object: current };
  if (finalizers.length === 0 && !isNamespace) return { kind: 'gone', object: current };
  const { finalizers: _, ...rest } = metadata;
  const marks = isMarked
    ? {}
    : {
        deletionTimestamp: options.now.toISOString().replace(/\.\d+/, ''),
        ...(isNamespace ? {} : { deletionGracePeriodSeconds: 0 }),
        ...(metadata.generation === undefined ? {} : { generation: metadata.generation + 1 }),
      };
  const status = isNamespace ? { status: { ...(isJsonObject(current['status']) ? current['status'] : {}), phase: 'Terminating' } } : {};
  const marked = { ...rest, ...(finalizers.length === 0 ? {} : { finalizers: [...finalizers] }), ...marks };
  return { kind: 'pending', object: { ...current, metadata: marked, ...status } };
}

/** Orphan and Foreground wait for the garbage collector under a finalizer each; the policy that is not asked for goes. */
function finalizersAfter(finalizers: readonly string[], propagation: Propagation | undefined): readonly string[] {
  if (propagation === undefined) return finalizers;
  const others = finalizers.filter((name) => name !== FOREGROUND && name !== ORPHAN);
  const wanted = { Background: [], Foreground: [FOREGROUND], Orphan: [ORPHAN] }[propagation];
  const isThere = wanted.every((name) => finalizers.includes(name)) && others.length + wanted.length === finalizers.length;
  return isThere ? finalizers : [...others, ...wanted];
}

function checkPreconditions(kind: KindInfo, { metadata }: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  const failed = (what: string, given: string, record: string, hint: string): ApiFault => {
    const resource = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
    const text = `the ${what} in the precondition (${given}) does not match the ${what} in record (${record}). ${hint}`;
    return new ApiFault(409, `Operation cannot be fulfilled on ${resource} "${metadata.name}": ${text}`, {
      reason: 'Conflict',
      details: { name: metadata.name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.kind },
    });
  };
  if (uid !== undefined && uid !== metadata.uid) {
    throw failed('UID', uid, metadata.uid, 'The object might have been deleted and then recreated');
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw failed('ResourceVersion', resourceVersion, metadata.resourceVersion, 'The object might have been modified');
  }
}

/** The options of a request: its body's, else its query's. @throws ApiFault 400, 422 */
export function deleteOptionsOf(body: unknown, query: URLSearchParams, now: Date): DeleteOptions {
  if (body !== undefined && !isJsonObject(body)) throw badRequest('the body of a DELETE has to be DeleteOptions');
  const options = body ?? {};
  const preconditions = isJsonObject(options['preconditions']) ? options['preconditions'] : {};
  const { uid, resourceVersion } = preconditions;
  const orphans = options['orphanDependents'] ?? (query.has('orphanDependents') ? booleanOf(query, 'orphanDependents') : undefined);
  const policy = options['propagationPolicy'] ?? query.get('propagationPolicy') ?? (orphans === true ? 'Orphan' : undefined);
  return {
    now,
    isDryRun: query.get('dryRun') === 'All' || (Array.isArray(options['dryRun']) && options['dryRun'].includes('All')),
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    ...(policy === undefined ? {} : { propagation: propagationOf(policy) }),
  };
}

function propagationOf(policy: unknown): Propagation {
  if (policy === 'Background' || policy === 'Foreground' || policy === 'Orphan') return policy;
  const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`;
  throw new ApiFault(422, `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: ${message}`, {
    reason: 'Invalid',
    details: {
      group: 'meta.k8s.io',
      kind: 'DeleteOptions',
      causes: [{ reason: 'FieldValueNotSupported', message, field: 'propagationPolicy' }],
    },
  });
}
