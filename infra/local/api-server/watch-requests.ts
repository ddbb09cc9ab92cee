/** Opening a watch: its options, its headers, and the stream behind them. */
import type { ServerResponse } from 'node:http';
import { negotiate } from './forms.ts';
import { booleanOf, checkListOptions, integerOf, parseResourceVersion } from './list-options.ts';
import { waitForRevision } from './reads.ts';
import type { ResourceRequest } from './resource-requests.ts';
import { matcherOf } from './selectors.ts';
import { WatchStream } from './watch-stream.ts';

/** The real server takes between this and twice as much, where the client names no time. */
const DEFAULT_TIMEOUT_SECONDS = 1800;
/** A client that lets this much pile up is cut off, in bytes. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

export interface WatchDefaults {
  readonly bookmarkSeconds: number;
  /** Watches that are opened stay silent, as after `stallWatches`. */
  readonly isStalled: () => boolean;
}

/** Sends the headers of a 200 and then events until the watch ends. @throws ApiFault before the headers: 400, 406, 422, 500, 504 */
export async function openWatch(request: ResourceRequest, response: ServerResponse, defaults: WatchDefaults): Promise<void> {
  const { state, kind, route, query, http } = request;
  const { form } = negotiate(http.headers.accept, query.get('includeObject'), kind);
  checkListOptions(query, true);
  const base = matcherOf(query, kind);
  const { name } = route;
  const matches = name === '' ? base : (object: Parameters<typeof base>[0]) => object.metadata.name === name && base(object);
  const wanted = parseResourceVersion(query.get('resourceVersion'));
  const isInitialAsked = booleanOf(query, 'sendInitialEvents');
  const sendsInitial = isInitialAsked || (!query.has('sendInitialEvents') && (wanted ?? 0) === 0);
  if (isInitialAsked && wanted !== undefined) await waitForRevision(state.store, wanted);
  const position = wanted === 0 ? undefined : wanted;
  const asked = integerOf(query, 'timeoutSeconds') ?? 0;
  const timeoutSeconds = asked > 0 ? asked : DEFAULT_TIMEOUT_SECONDS;
  const sink = {
    write: (line: string): void => {
      response.write(line);
      if (response.writableLength > MAX_UNREAD_BYTES) stream.reset();
    },
    end: (): void => void response.end(),
    reset: (): void => void response.destroy(),
  };
  const stream = new WatchStream(
    state.store,
    {
      kind,
      namespace: route.namespace,
      matches,
      form,
      position,
      sendsInitial,
      allowsBookmarks: booleanOf(query, 'allowWatchBookmarks'),
      timeoutSeconds,
      bookmarkSeconds: defaults.bookmarkSeconds,
    },
    sink,
    state.options.now,
    () => state.watches.delete(stream),
  );
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  response.on('close', () => stream.closed());
  if (response.destroyed) return;
  state.watches.add(stream);
  if (defaults.isStalled()) stream.stall();
  stream.start();
}
