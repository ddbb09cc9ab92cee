/**
 * What `watch.predicate` of a reconciler is made of. A condition holds back what does not meet it; a change is news beside that of the
 * generation. The two mix in `all` only:
 *
 *     all(hasLabel('managed'), any(labelChanged('tier'), annotationChanged('example.com/restart')))
 */
import type { Change, Condition, Predicate } from '../../events/filter.ts';

/** Objects with that label; with that value of it where one is given. */
export function hasLabel(name: string, value?: string): Condition {
  return { kind: 'has', place: 'labels', name, value };
}

/** Objects with that annotation; with that value of it where one is given. */
export function hasAnnotation(name: string, value?: string): Condition {
  return { kind: 'has', place: 'annotations', name, value };
}

/** Objects whose labels a selector fits, `tier in (gold,silver),!legacy` for one. */
export function labelsMatch(selector: string): Condition {
  return { kind: 'labels-match', selector };
}

/** News when that label is set, changed or taken off. */
export function labelChanged(name: string): Change {
  return { kind: 'changed', place: 'labels', name };
}

/** News when that annotation is set, changed or taken off. */
export function annotationChanged(name: string): Change {
  return { kind: 'changed', place: 'annotations', name };
}

/** What meets every condition; with a change among them, that is news of such objects. */
export function all(...of: readonly Condition[]): Condition;
export function all(...of: readonly Predicate[]): Predicate;
export function all(...of: readonly Predicate[]): Predicate {
  return { kind: 'all', of };
}

/** What meets one of the conditions, or news by any of the changes. */
export function any(...of: readonly Condition[]): Condition;
export function any(...of: readonly Change[]): Change;
export function any(...of: readonly (Condition | Change)[]): Predicate {
  return { kind: 'any', of } as Predicate;
}

/** What does not meet the condition. */
export function not(of: Condition): Condition {
  return { kind: 'not', of };
}
