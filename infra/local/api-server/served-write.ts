/** What a request has written, as those are told who watch the server from inside. */
import type { IncomingMessage } from 'node:http';
import { ApiFault } from './api-fault.ts';
import type { KindInfo } from './api-object.ts';
import type { ClusterState } from './cluster-state.ts';
import { managerFrom } from './write-options.ts';

export interface ServedWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'apply' | 'delete';
  readonly group: string;
  readonly kind: string;
  /** Left out for a cluster-scoped kind. */
  readonly namespace?: string;
  /** Empty for a create that leaves the name to the server. */
  readonly name: string;
  readonly subresource: '' | 'status';
  /** The field manager; of a delete, who the client says that it is. */
  readonly manager: string;
  /** True where nothing was stored: it changed nothing, or was refused. */
  readonly isNoOp: boolean;
  /** HTTP status of the refusal; left out where it was done. */
  readonly refusedWith?: number;
}

/** Where a write goes, and who asks for it. */
export interface WritePlace {
  readonly state: ClusterState;
  readonly kind: KindInfo;
  readonly route: { readonly namespace: string; readonly name: string; readonly subresource: string };
  readonly http: IncomingMessage;
}

/** Does the write, which takes no time, and tells of it, whatever becomes of it. */
export function observed<Result>(
  { state, kind, route, http }: WritePlace,
  verb: ServedWrite['verb'],
  write: () => Result,
  manager = managerFrom(http.headers['user-agent']),
): Result {
  const { onWrite } = state.options;
  if (onWrite === undefined) return write();
  const { revision } = state.store;
  const tell = (refusal: Pick<ServedWrite, 'refusedWith'>): void =>
    onWrite({
      verb,
      group: kind.group,
      kind: kind.kind,
      ...(route.namespace === '' ? {} : { namespace: route.namespace }),
      name: route.name,
      subresource: route.subresource === 'status' ? 'status' : '',
      manager,
      isNoOp: state.store.revision === revision,
      ...refusal,
    });
  try {
    const result = write();
    tell({});
    return result;
  } catch (error) {
    tell({ refusedWith: error instanceof ApiFault ? error.code : 500 });
    throw error;
  }
}
