/**
 * What the rest of the project may ask of one cluster's API server. The real one is `client.ts`; a fake of it stands in
 * `test/fakes`.
 *
 * Errors of every call, by class (functions/core/errors.ts) and code:
 * - TransientError `unreachable` (connect, DNS, TLS, reset), `timeout` (our own limit), `throttled` (429, with
 *   retryAfterSeconds), `server-error` (5xx that may pass), `resource-version-too-large` (504 with that cause),
 *   `unauthorized` (401), `forbidden` (403), `namespace-terminating`, `namespace-missing`, `not-served` (404 in plain text:
 *   the kind is not there), `expired` (410), `bad-response` (a 2xx that is not what an API server sends), `response-too-large`
 * - ConflictError `resource-version-conflict`, `uid-conflict` (another object has the name, or none), `field-manager-conflict`
 * - TerminalError `invalid` (422), `final-server-error` (a 500 without reason that is always the same), `bad-request` (any other 4xx)
 * - an AbortError of the caller's own signal passes through as the signal's reason
 */

import type { ColumnDefinition, ObjectMetadata, Row } from '../../../events/observed-object.ts';
import type { ClusterName, ObjectAddress, ResourceType } from '../../../events/resource.ts';
import type { KubernetesObject, PlannedObject } from '../../core/reconciler.ts';

export { FIELD_MANAGER, FINALIZER_MANAGER } from '../../../events/labels.ts';

interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ApplyOptions extends CallOptions {
  /** {@link FIELD_MANAGER} if left out. */
  readonly fieldManager?: string;
}

export interface ReadOptions extends CallOptions {
  /** Not older than this; left out: the newest, read from etcd. Decimal digits, else TerminalError `bad-request` before sending. */
  readonly resourceVersion?: string | undefined;
}

/** `table`: metadata and cells. `metadata`: PartialObjectMetadata, no cells. */
export type ListForm = 'table' | 'metadata';

interface ListOptions extends ReadOptions {
  readonly form: ListForm;
  /** The object with this address alone; left out: all. */
  readonly at?: ObjectAddress | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Rows tell which fields are ours: {@link Row.ownFields}. */
  readonly ownFields?: boolean | undefined;
  /** Objects a page; 500 if left out. */
  readonly limit?: number;
  /** Token of the page before; resourceVersion is not sent together with it. */
  readonly continue?: string | undefined;
}

export interface ListPage {
  readonly rows: readonly Row[];
  /** Empty for the metadata form. */
  readonly columns: readonly ColumnDefinition[];
  readonly resourceVersion: string;
  readonly continue: string | undefined;
}

export interface WatchOptions extends CallOptions {
  readonly form: ListForm;
  readonly resourceVersion: string;
  readonly timeoutSeconds: number;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Rows tell which fields are ours: {@link Row.ownFields}. */
  readonly ownFields?: boolean | undefined;
  /** The stream is given up this many seconds after `timeoutSeconds` without an end. */
  readonly graceSeconds: number;
}

/** A frame of a watch. `columns` stands in the first event of a Table stream only. */
export type WatchFrame =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly row: Row; readonly columns?: readonly ColumnDefinition[] | undefined }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly columns?: readonly ColumnDefinition[] | undefined }
  | {
      readonly type: 'ERROR';
      readonly code: number;
      readonly reason: string;
      readonly message: string;
      readonly retryAfterSeconds: number | undefined;
    };

/** A kind as the cluster serves it. */
export interface ServedKind {
  /** `additionalPrinterColumns` of the served version, in order: name and jsonPath. */
  readonly printerColumns: readonly { readonly name: string; readonly jsonPath: string }[];
  readonly hasStatusSubresource: boolean;
}

export interface KubernetesClient {
  readonly cluster: ClusterName;
  /** The object, or undefined where it (or its namespace) is absent. */
  get(type: ResourceType, at: ObjectAddress, options?: ReadOptions): Promise<KubernetesObject | undefined>;
  getMetadata(type: ResourceType, at: ObjectAddress, options?: ReadOptions): Promise<ObjectMetadata | undefined>;
  /** One page. HTTP 410 for an old `continue` is TransientError `expired`. */
  list(type: ResourceType, options: ListOptions): Promise<ListPage>;
  /**
   * Opens a watch and resolves when its headers have come. The iterator ends when the stream ends cleanly; it throws the
   * errors above (a line that does not parse is TransientError `bad-frame`, HTTP 410 is TransientError `expired`). Leaving
   * the loop or aborting the signal closes the socket. Reading is pulled: a slow consumer slows the server.
   */
  watch(type: ResourceType, options: WatchOptions): Promise<AsyncIterable<WatchFrame>>;
  /**
   * Server-side apply with force. With `metadata.uid` in the body an absent or other object is ConflictError `uid-conflict`. The
   * answer, like that of every write, comes without managedFields.
   */
  apply(type: ResourceType, body: AppliedObject, options?: ApplyOptions): Promise<ObjectMetadata>;
  /** Server-side apply of `/status` with force; the body carries resourceVersion. Undefined for a 404: see semantics of the caller. */
  applyStatus(type: ResourceType, body: AppliedObject, options?: CallOptions): Promise<ObjectMetadata | undefined>;
  /** Replaces the list of finalizers by merge patch with RV and uid. Undefined: the object is gone. */
  patchFinalizers(
    type: ResourceType,
    at: ObjectAddress,
    guard: { readonly uid: string; readonly resourceVersion: string },
    finalizers: readonly string[],
    options?: CallOptions,
  ): Promise<ObjectMetadata | undefined>;
  /** Deletes the object with that uid, in the background. `absent` where there is none; another uid is ConflictError `uid-conflict`. */
  delete(type: ResourceType, at: ObjectAddress, uid: string, options?: CallOptions): Promise<'deleted' | 'absent'>;
  /** Creates an Event of events.k8s.io/v1 in `namespace`. */
  createEvent(event: Readonly<Record<string, unknown>>, namespace: string, options?: CallOptions): Promise<void>;
  /** What the CRD of a kind says, or undefined where we may not read it or it is not there. */
  servedKind(type: ResourceType, options?: CallOptions): Promise<ServedKind | undefined>;
  /** Requests sent so far, watches included. */
  readonly requestCount: number;
  /** Closes idle connections. */
  close(): void;
}

/** A body for apply: what was planned plus what the framework adds. */
export interface AppliedObject extends PlannedObject {
  readonly metadata: PlannedObject['metadata'] & {
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly ownerReferences?: ObjectMetadata['ownerReferences'];
    readonly finalizers?: readonly string[];
  };
}
