/** The ERROR frame of a watch: a Status inside a stream that was answered with 200. */
import type { WatchFrame } from '../adapters/kubernetes/port.ts';
import { cutText, TransientError } from '../core/errors.ts';

const CODES: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-served',
  410: 'expired',
  429: 'throttled',
};

/** The error that the same answer would have been as an HTTP status; `expired` for 410, by code or by reason. */
export function frameError(frame: Extract<WatchFrame, { readonly type: 'ERROR' }>): TransientError {
  const isExpired = frame.reason === 'Expired' || frame.reason === 'Gone';
  const code = isExpired ? 'expired' : (CODES[frame.code] ?? 'server-error');
  return new TransientError(code, 'the API server ended the watch with an error; it is opened again', {
    retryAfterSeconds: frame.retryAfterSeconds,
    facts: { httpStatus: frame.code, httpReason: cutText(frame.reason), text: cutText(frame.message) },
  });
}
