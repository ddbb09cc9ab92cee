/**
 * The lines of an audit: who did what, when and why. Of every batch the intent stands there before anything is sent, the results before
 * anything is deleted, and then what was deleted: whoever reads it after a crash knows what was done, save for one batch at most.
 */

import type { ApplySettings, ApplySummary, Place, SendVerdict } from './contract.ts';
import type { Sight } from './judge.ts';

/** Of the lines' form. Raised when a reader of the last one would misunderstand it. */
export const AUDIT_VERSION = 1;

/** Times are ISO 8601 in UTC; `letters` are message ids; `batch` counts from 1 in each apply; `envelope` is the id of one. */
export type AuditLine =
  | {
      readonly kind: 'begin';
      readonly at: string;
      readonly version: typeof AUDIT_VERSION;
      readonly by: string;
      readonly command: string;
      /** SHA-256 of its file. */
      readonly plan: string;
      /** When that was made. */
      readonly madeAt?: string;
      readonly settings: ApplySettings;
      /** How long letters may stay hidden after it was killed. */
      readonly visibilitySeconds?: number;
    }
  /** About to be sent. `before`: the object as it was, which its verdict is measured by. */
  | {
      readonly kind: 'intent';
      readonly at: string;
      readonly batch: number;
      readonly envelope: string;
      readonly object: Place;
      readonly uid?: string;
      readonly letters: readonly string[];
      /** As the message has it. */
      readonly replay: Replay;
      readonly before: Sight;
      readonly reason: string;
    }
  | {
      readonly kind: 'result';
      readonly at: string;
      readonly batch: number;
      readonly envelope: string;
      readonly result: 'sent' | 'retry' | 'refused';
      readonly code?: string;
    }
  /** About to be deleted: letters that came later, of an object whose message was accepted. */
  | { readonly kind: 'fold'; readonly at: string; readonly batch: number; readonly envelope: string; readonly letters: readonly string[] }
  /** About to be deleted, since nothing is to be done. */
  | {
      readonly kind: 'acknowledge';
      readonly at: string;
      readonly batch: number;
      readonly object?: Place;
      readonly letters: readonly string[];
      readonly reason: string;
    }
  | {
      readonly kind: 'deleted';
      readonly at: string;
      readonly batch: number;
      readonly letters: readonly string[];
      /** Those that could not be. */
      readonly notDeleted?: readonly string[];
    }
  | { readonly kind: 'verdict'; readonly at: string; readonly envelope: string; readonly verdict: SendVerdict; readonly reason: string }
  | { readonly kind: 'left'; readonly at: string; readonly object?: Place; readonly letters: readonly string[]; readonly reason: string }
  | { readonly kind: 'end'; readonly at: string; readonly summary: ApplySummary };

/** What a replayed message carries: how often, of which letter (message id), by whom and when. */
export interface Replay {
  readonly count: number;
  readonly of: string;
  readonly by: string;
  readonly at: string;
}
