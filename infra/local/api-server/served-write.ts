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
  /** Empty for a create that leaves the name to the server, and for a refused delete of many. */
  readonly name: string;
  readonly subresource: '' | 'status';
  /** The field manager; of a delete, who the client says that it is. */
  readonly manager: string;
  /** True where nothing was stored: it changed nothing, or was refused, or a fault kept it from being done. */
  readonly isNoOp: boolean;
  /** HTTP status of the refusal, also by a fault; left out where it was done, and where a fault broke the connection before. */
  readonly refusedWith?: number;
}

/** Where a write goes, and who asks for it. */
export interface WritePlace {
  readonly state: ClusterState;
  readonly kind: KindInfo;
  readonly route: { readonly namespace: string; readonly name: string; readonly subresource: string };
  readonly http: IncomingMessage;
}

/** Requests whose writes are told of. */
const toldOf = new WeakSet<IncomingMessage>();

/** Does the write, which takes no time, and tells of it, whatever becomes of it. */
export function observed<Result>(place: WritePlace, verb: ServedWrite['verb'], write: () => Result, manager?: string): Result {
  const { store } = place.state;
  const { revision } = store;
  try {
    const result = write();
    tell(place, { verb, manager, isNoOp: store.revision === revision });
    return result;
  } catch (error) {
    tell(place, { verb, manager, isNoOp: store.revision === revision, refusedWith: error instanceof ApiFault ? error.code : 500 });
    throw error;
  }
}

/** Tells of a write that never came to be tried: its body or options are refused, or a fault hit it. Of a read, and of one that is told of, nothing. */
export function notDone(place: WritePlace, manager: string | null, refusedWith: number | undefined): void {
  const { http } = place;
  const verb = verbOf(http);
  if (verb === undefined || toldOf.has(http)) return;
  tell(place, { verb, manager: manager || undefined, isNoOp: true, ...(refusedWith === undefined ? {} : { refusedWith }) });
}

function verbOf({ method, headers }: IncomingMessage): ServedWrite['verb'] | undefined {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return headers['content-type']?.startsWith('application/apply-patch') ? 'apply' : 'patch';
    case 'DELETE':
      return 'delete';
    default:
      return undefined;
  }
}

type Told = Pick<ServedWrite, 'verb' | 'isNoOp' | 'refusedWith'> & { readonly manager: string | undefined };

function tell({ state, kind, route, http }: WritePlace, { manager = managerFrom(http.headers['user-agent']), ...how }: Told): void {
  toldOf.add(http);
  state.options.onWrite?.({
    group: kind.group,
    kind: kind.kind,
    ...(route.namespace === '' ? {} : { namespace: route.namespace }),
    name: route.name,
    subresource: route.subresource === 'status' ? 'status' : '',
    manager,
    ...how,
  });
}
