/**
 * An author's own filter: which objects of a kind are his, and which labels and annotations are news. Data, made with the
 * functions of `functions/core/predicates.ts` and read once.
 *
 * A *condition* (`hasLabel`, `hasAnnotation`, `labelsMatch`) holds back: an object that does not meet it is left alone, until the
 * day it does. A *change* (`labelChanged`, `annotationChanged`) lets more pass: by itself only another generation is news. Conditions
 * never wake anybody by being met again and again, or our own status writes would; so the two mix in `all` only:
 *
 *     all(hasLabel('managed'), any(labelChanged('tier'), annotationChanged('example.com/restart')))
 *
 * Deletions pass whatever the filter says.
 */
import { isQualifiedName } from './labels.ts';
import type { ObjectMetadata } from './observed-object.ts';
import { hashOf } from './resync.ts';
import { matchesLabels, parseLabelSelector } from './selector.ts';

type Place = 'labels' | 'annotations';
type Labelled = Pick<ObjectMetadata, Place>;

/** Something that an object meets or does not meet. */
export type Condition =
  | { readonly kind: 'has'; readonly place: Place; readonly name: string; readonly value?: string | undefined }
  | { readonly kind: 'labels-match'; readonly selector: string }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] };

/** Something that happens to an object. */
export type Change =
  | { readonly kind: 'changed'; readonly place: Place; readonly name: string }
  | { readonly kind: 'any'; readonly of: readonly Change[] };

export type Predicate = Condition | Change | { readonly kind: 'all'; readonly of: readonly Predicate[] };

/** A predicate ready for use. */
export interface Filter {
  /** False for an object that is to be left alone. */
  admits(metadata: Labelled): boolean;
  /** Another integer once something changed that is news; absent where no label and no annotation is. */
  readonly digest?: (metadata: Labelled) => number;
}

/** A filter, or what is wrong with the predicate: a sentence without its end. */
export type FilterResult = { readonly kind: 'filter'; readonly filter: Filter } | { readonly kind: 'refused'; readonly problem: string };

/** What a predicate says; whoever wrote it may not have had its types checked. */
export function filterOf(predicate: unknown): FilterResult {
  const read = facetsOf(predicate);
  if (typeof read === 'string') return { kind: 'refused', problem: read };
  const { meets, news } = read;
  const admits = meets ?? (() => true);
  if (news.length === 0) return { kind: 'filter', filter: { admits } };
  const digest = (metadata: Labelled): number =>
    hashOf(JSON.stringify(news.map(({ place, name }) => valueAt(metadata, place, name) ?? null)));
  return { kind: 'filter', filter: { admits, digest } };
}

interface Facets {
  /** Undefined where there is no condition. */
  readonly meets: ((metadata: Labelled) => boolean) | undefined;
  readonly news: readonly { readonly place: Place; readonly name: string }[];
}

function facetsOf(given: unknown): Facets | string {
  if (typeof given !== 'object' || given === null) return 'is no predicate; make one with functions/core/predicates.ts';
  const predicate = given as Predicate;
  switch (predicate.kind) {
    case 'has':
    case 'changed':
      return isQualifiedName(String(predicate.name))
        ? leafFacets(predicate)
        : `names ${JSON.stringify(predicate.name)}, which no label and no annotation can have as its name`;
    case 'labels-match': {
      const selector = parseLabelSelector(String(predicate.selector));
      if (selector.kind === 'refused') return `has a selector that ${selector.problem}`;
      return { meets: ({ labels }) => matchesLabels(selector.requirements, labels), news: [] };
    }
    case 'not': {
      const inner = facetsOf(predicate.of);
      if (typeof inner === 'string') return inner;
      const { meets, news } = inner;
      if (meets === undefined || news.length > 0) return 'has a not() of a change; only conditions can be turned round';
      return { meets: (metadata) => !meets(metadata), news: [] };
    }
    case 'all':
    case 'any':
      return groupFacets(predicate.kind, predicate.of);
    default:
      return 'is no predicate; make one with functions/core/predicates.ts';
  }
}

function leafFacets(leaf: Extract<Predicate, { kind: 'has' | 'changed' }>): Facets {
  const { place, name } = leaf;
  if (leaf.kind === 'changed') return { meets: undefined, news: [{ place, name }] };
  const { value } = leaf;
  const meets = (metadata: Labelled): boolean => {
    const found = valueAt(metadata, place, name);
    return value === undefined ? found !== undefined : found === value;
  };
  return { meets, news: [] };
}

function groupFacets(kind: 'all' | 'any', of: readonly unknown[]): Facets | string {
  const members: Facets[] = [];
  for (const member of of) {
    const facets = facetsOf(member);
    if (typeof facets === 'string') return facets;
    members.push(facets);
  }
  if (members.length === 0) return `has an ${kind}() of nothing`;
  const conditions = members.flatMap(({ meets }) => meets ?? []);
  const changing = members.filter(({ news }) => news.length > 0);
  if (kind === 'all' && changing.length > 1) return 'has an all() of two changes; either is news: put them into any()';
  if (kind === 'any' && conditions.length > 0 && changing.length > 0) {
    return 'has an any() of a condition and a change; a condition does not say when: put them into all()';
  }
  const news = changing.flatMap((member) => member.news);
  if (conditions.length === 0) return { meets: undefined, news };
  const meets =
    kind === 'all'
      ? (metadata: Labelled): boolean => conditions.every((condition) => condition(metadata))
      : (metadata: Labelled): boolean => conditions.some((condition) => condition(metadata));
  return { meets, news };
}

function valueAt(metadata: Labelled, place: Place, name: string): string | undefined {
  const all = metadata[place];
  return all !== undefined && Object.hasOwn(all, name) ? all[name] : undefined;
}
