/** A client whose calls are counted while they are under way, and whose watches say how far each has been handled. */
import type { KubernetesClient, WatchFrame } from '../../../functions/adapters/kubernetes/port.ts';
import type { Activity } from './activity.ts';

/** An open watch of the watcher. */
export interface OpenStream {
  readonly kind: string;
  /** The version up to which everything was handled. */
  position: number;
}

/** @param streams  holds the watches that are open */
export function createWatchedClient(client: KubernetesClient, activity: Activity, streams: Set<OpenStream>): KubernetesClient {
  return {
    cluster: client.cluster,
    get requestCount() {
      return client.requestCount;
    },
    close: () => client.close(),
    get: (...args) => activity.track('get of the watcher', () => client.get(...args)),
    getMetadata: (...args) => activity.track('getMetadata of the watcher', () => client.getMetadata(...args)),
    list: (...args) => activity.track('list of the watcher', () => client.list(...args)),
    apply: (...args) => activity.track('apply of the watcher', () => client.apply(...args)),
    applyStatus: (...args) => activity.track('applyStatus of the watcher', () => client.applyStatus(...args)),
    patchFinalizers: (...args) => activity.track('patchFinalizers of the watcher', () => client.patchFinalizers(...args)),
    delete: (...args) => activity.track('delete of the watcher', () => client.delete(...args)),
    createEvent: (...args) => activity.track('createEvent of the watcher', () => client.createEvent(...args)),
    servedKind: (...args) => activity.track('servedKind of the watcher', () => client.servedKind(...args)),
    async watch(type, options) {
      const frames = await activity.track(`watch of ${type.kind}`, () => client.watch(type, options));
      const stream: OpenStream = { kind: type.kind, position: Number(options.resourceVersion) };
      streams.add(stream);
      activity.happened();
      return followed(frames, stream, () => {
        streams.delete(stream);
        activity.happened();
      });
    },
  };

  /** A frame counts as handled when the next one is asked for. */
  function followed(frames: AsyncIterable<WatchFrame>, stream: OpenStream, onEnd: () => void): AsyncIterable<WatchFrame> {
    return {
      [Symbol.asyncIterator]() {
        const inner = frames[Symbol.asyncIterator]();
        let last: WatchFrame | undefined;
        return {
          async next() {
            if (last !== undefined && last.type !== 'ERROR') {
              stream.position = Number(last.type === 'BOOKMARK' ? last.resourceVersion : last.row.metadata.resourceVersion);
              activity.happened();
            }
            try {
              const result = await inner.next();
              if (result.done) onEnd();
              else last = result.value;
              return result;
            } catch (error) {
              onEnd();
              throw error;
            }
          },
          async return(value?: unknown) {
            onEnd();
            await inner.return?.();
            return { done: true as const, value };
          },
        };
      },
    };
  }
}
