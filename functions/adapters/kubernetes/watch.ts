/** An open watch as frames that are pulled: what is not read stays in the socket, so a slow reader slows the server. */
import { TransientError } from '../../core/errors.ts';
import { unreachable } from './exchange.ts';
import { ManagedFieldsCut } from './managed-fields.ts';
import type { WatchFrame } from './port.ts';
import { parseFrame, type RowForm } from './projection.ts';
import { splitLines } from './stream.ts';
import { MAX_BODY_BYTES, type OpenStream } from './transport.ts';

export interface WatchReading extends RowForm {
  /** The stream is given up after this, whatever it sends. */
  readonly lifetimeMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The frames of `stream`; may be iterated once. Ends when the server ends the body or the reader leaves, and closes the
 * socket in every case, also when nobody reads.
 *
 * @throws TransientError `bad-frame`, `unreachable` (broken off), `timeout` (lifetime over); the reason of the signal
 */
export function readFrames(stream: OpenStream, { form, ownFields, lifetimeMs, signal }: WatchReading): AsyncIterable<WatchFrame> {
  let hasLeft = false;
  let expired: TransientError | undefined;
  const timer = setTimeout(() => {
    expired = new TransientError('timeout', 'the watch did not end at the time it was asked to; open it again', { facts: { lifetimeMs } });
    close();
  }, lifetimeMs);
  const close = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', close);
    stream.close();
  };
  if (signal?.aborted) close();
  else signal?.addEventListener('abort', close, { once: true });

  async function* read(): AsyncGenerator<WatchFrame, void, undefined> {
    try {
      const chunks = ownFields === true ? stream.chunks : withoutManagedFields(stream.chunks);
      for await (const line of splitLines(chunks, MAX_BODY_BYTES)) {
        signal?.throwIfAborted();
        yield parseFrame(line, { form, ownFields });
      }
    } catch (error) {
      if (hasLeft) return;
      signal?.throwIfAborted();
      if (expired !== undefined) throw expired;
      if (error instanceof RangeError) throw new TransientError('bad-frame', 'a line of the watch has no end; list anew', { cause: error });
      throw unreachable(error);
    } finally {
      close();
    }
  }

  return {
    [Symbol.asyncIterator]() {
      const frames = read();
      return {
        next: () => frames.next(),
        return() {
          hasLeft = true;
          close(); // Before the generator sees it: it may be waiting for a byte that never comes.
          return frames.return();
        },
      };
    },
  };
}

async function* withoutManagedFields(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const cut = new ManagedFieldsCut();
  for await (const chunk of chunks) yield cut.push(chunk);
}
