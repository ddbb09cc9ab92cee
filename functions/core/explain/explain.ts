/** The verdict of what was found, and what else is so. */
import { blocksOf } from './blocks.ts';
import type { ExplainFacts, FoundFacts } from './facts.ts';
import { stateOf } from './states.ts';
import type { Verdict } from './verdict.ts';

export interface Explanation {
  readonly verdict: Verdict;
  /** What would be the verdict if nothing before it were, in the order of `blocks.ts`. */
  readonly also: readonly Verdict[];
}

/** States that tell something of their own where something else stops the object; all others follow from that. */
const TELLING: ReadonlySet<Verdict['kind']> = new Set([
  'failing',
  'retrying',
  'not-ready',
  'other-revision',
  'stream-down',
  'watcher-without-cluster',
  'watcher-without-kind',
]);
/** They tell of the same failure themselves. */
const TELL_OF_FAILURE: ReadonlySet<Verdict['kind']> = new Set(['dead-letter', 'given-up']);

export function explain(facts: ExplainFacts): Explanation {
  switch (facts.kind) {
    case 'unknown-kind': {
      const { asked, nearest, known, ownedBy } = facts;
      if (ownedBy.length > 0) return only({ kind: 'owned-kind', asked, owners: ownedBy });
      return only({ kind: 'unknown-kind', asked, nearest, known });
    }
    case 'unread':
      return only(unread(facts.code, facts.says));
    case 'absent': {
      const letters = facts.letters.kind === 'told' ? facts.letters.value : [];
      const letter = letters.find(({ needsRun }) => needsRun);
      const absent: Verdict = { kind: 'absent', elsewhere: facts.elsewhere, letterCount: letters.filter((one) => !one.needsRun).length };
      return letter === undefined ? only(absent) : { verdict: { kind: 'left-behind', code: letter.code }, also: [absent] };
    }
    case 'found':
      return explainFound(facts);
  }
}

function only(verdict: Verdict): Explanation {
  return { verdict, also: [] };
}

/** Codes are those of functions/adapters/kubernetes/port.ts and of what is wrong with an entry of the registry. */
function unread(code: string, says: string): Verdict {
  switch (code) {
    case 'not-served':
      return { kind: 'not-served' };
    case 'forbidden':
      return { kind: 'may-not-read', says };
    case 'unauthorized':
      return { kind: 'cluster-unauthorized', says };
    case 'unreachable':
    case 'timeout':
    case 'throttled':
    case 'server-error':
    case 'bad-response':
    case 'response-too-large':
      return { kind: 'cluster-unreachable', code, says };
    default:
      return { kind: 'cluster-unusable', code, says };
  }
}

function explainFound(facts: FoundFacts): Explanation {
  const blocks = blocksOf(facts);
  const state = stateOf(facts);
  const [verdict, ...also] = blocks;
  if (verdict === undefined) return only(state);
  const isTold = blocks.some(({ kind }) => TELL_OF_FAILURE.has(kind)) && (state.kind === 'failing' || state.kind === 'retrying');
  return { verdict, also: TELLING.has(state.kind) && !isTold ? [...also, state] : also };
}
