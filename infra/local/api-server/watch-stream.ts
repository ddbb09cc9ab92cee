/** One open watch: events from a position on, bookmarks, and its end. */
import type { JsonObject, KindInfo, KubeObject } from './api-object.ts';
import { apiVersionOf, resourceName } from './api-object.ts';
import { type Form, presentEvent } from './forms.ts';
import type { Change, ObjectStore } from './object-store.ts';
import type { Matcher } from './selectors.ts';

export interface WatchRequest {
  readonly kind: KindInfo;
  /** '' for all. */
  readonly namespace: string;
  readonly matches: Matcher;
  readonly form: Form;
  /** Events after this revision. Undefined: from now on. */
  readonly position: number | undefined;
  /** ADDED for all that is there comes first. */
  readonly sendsInitial: boolean;
  readonly allowsBookmarks: boolean;
  readonly timeoutSeconds: number;
  readonly bookmarkSeconds: number;
}

/** Where the lines go. */
export interface WatchSink {
  write(line: string): void;
  end(): void;
  /** Breaks the connection. */
  reset(): void;
}

/** Seconds before the end of a watch at which it is told how far the server is. */
const LAST_BOOKMARKS = [2, 1];

export class WatchStream {
  readonly resource: string;
  readonly #request: WatchRequest;
  readonly #store: ObjectStore;
  readonly #sink: WatchSink;
  readonly #now: () => Date;
  readonly #onClose: () => void;
  readonly #timers: NodeJS.Timeout[] = [];
  #position: number;
  /** Where it began, or the last bookmark: only one that is further is sent, be it at the last event. */
  #bookmarked: number;
  #isFirst = true;
  #isStalled = false;
  #isOpen = true;

  constructor(store: ObjectStore, request: WatchRequest, sink: WatchSink, now: () => Date, onClose: () => void) {
    this.resource = resourceName(request.kind);
    this.#store = store;
    this.#request = request;
    this.#sink = sink;
    this.#now = now;
    this.#onClose = onClose;
    this.#position = request.position ?? store.cacheRevision;
    this.#bookmarked = this.#position;
  }

  start(): void {
    const { position, sendsInitial, timeoutSeconds, bookmarkSeconds, allowsBookmarks } = this.#request;
    if (position !== undefined && !sendsInitial && position < this.#store.watchFloor(this.resource)) {
      this.#refuse(position);
      return;
    }
    if (sendsInitial) this.#sendState();
    this.pump();
    this.#after(timeoutSeconds, () => this.end());
    if (!allowsBookmarks) return;
    for (const before of LAST_BOOKMARKS) if (timeoutSeconds > before + 1) this.#after(timeoutSeconds - before, () => this.#bookmark());
    const timer = setInterval(() => this.#bookmark(), bookmarkSeconds * 1000);
    this.#timers.push(timer.unref());
  }

  /** Sends what has happened since. */
  pump(): void {
    if (!this.#isOpen || this.#isStalled) return;
    for (const change of this.#store.changesAfter(this.resource, this.#position)) {
      this.#position = change.revision;
      this.#tell(change);
    }
  }

  /** Nothing is sent, not even bookmarks, until `resume`. */
  stall(): void {
    this.#isStalled = true;
  }

  resume(): void {
    this.#isStalled = false;
    this.pump();
  }

  /** Tells how far the server is, where the client does not know. */
  progress(): void {
    if (this.#request.allowsBookmarks) this.#bookmark();
  }

  end(): void {
    if (this.#close()) this.#sink.end();
  }

  reset(): void {
    if (this.#close()) this.#sink.reset();
  }

  /** The client has gone. */
  closed(): void {
    this.#close();
  }

  #close(): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#onClose();
    return true;
  }

  #after(seconds: number, run: () => void): void {
    this.#timers.push(setTimeout(run, seconds * 1000).unref());
  }

  #refuse(position: number): void {
    const message = `too old resource version: ${position} (${this.#store.watchFloor(this.resource)})`;
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'Expired', code: 410 };
    this.#write('ERROR', status);
    this.end();
  }

  #sendState(): void {
    const { cacheRevision } = this.#store;
    for (const [key, object] of this.#store.stateAt(this.resource, cacheRevision) ?? []) {
      if (this.#isOurs(key) && this.#request.matches(object)) this.#send('ADDED', object);
    }
    this.#position = Math.max(this.#position, cacheRevision);
    if (this.#request.allowsBookmarks) this.#bookmark({ 'k8s.io/initial-events-end': 'true' });
  }

  #isOurs(key: string): boolean {
    const { kind, namespace } = this.#request;
    return !kind.namespaced || namespace === '' || key.startsWith(`${namespace}/`);
  }

  /** Leaving the selector is a deletion with the former body, coming back an addition. */
  #tell({ key, before, after, revision }: Change): void {
    if (!this.#isOurs(key)) return;
    const was = before !== undefined && this.#request.matches(before);
    const is = after !== undefined && this.#request.matches(after);
    if (is) this.#send(was ? 'MODIFIED' : 'ADDED', after);
    else if (was) this.#send('DELETED', { ...before, metadata: { ...before.metadata, resourceVersion: String(revision) } });
  }

  #bookmark(annotations?: Record<string, string>): void {
    const revision = this.#isStalled ? this.#position : this.#store.cacheRevision;
    if (!this.#isOpen || this.#isStalled || (annotations === undefined && revision <= this.#bookmarked)) return;
    this.#bookmarked = revision;
    const { kind } = this.#request;
    const metadata = { ...(annotations === undefined ? {} : { annotations }), resourceVersion: String(revision) };
    this.#send('BOOKMARK', { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata } as unknown as KubeObject);
  }

  #send(type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK', object: KubeObject): void {
    const { kind, form } = this.#request;
    this.#write(type, presentEvent(object, kind, form, this.#isFirst, this.#now()));
    this.#isFirst = false;
  }

  #write(type: string, object: JsonObject): void {
    this.#sink.write(`${JSON.stringify({ type, object })}\n`);
  }
}
