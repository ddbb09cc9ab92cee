/** Which objects of its kind a reconciler wants to see, and which changes of them: as declared, and ready for use. */
import { type Filter, filterOf, type Predicate } from '../../events/filter.ts';

import { matchesFields, matchesLabels, type Parsed, parseFieldSelector, parseLabelSelector } from '../../events/selector.ts';
import { ConfigError } from './errors.ts';
import type { KubernetesObject } from './reconciler.ts';

/** A selector as kubectl takes it, or values that are to be equal. */
type Selector = string | Readonly<Record<string, string>>;

export interface WatchDeclaration {
  /** What is held back, and which labels and annotations are news: made with `predicates.ts`. */
  readonly predicate?: Predicate;
  /**
   * Selects on the API server, which then sends nothing of other objects. One that leaves the selection looks as if it were
   * deleted, and one that comes back is run. Not together with a finalizer.
   */
  readonly labelSelector?: Selector;
  /** The same by fields: `metadata.name`, `metadata.namespace`, and what else the kind lets one select by. */
  readonly fieldSelector?: Selector;
}

export interface WatchRules {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly filter?: Filter;
  /** False for an object that is to be left alone: outside a selector, or held back by the predicate. */
  selects(object: KubernetesObject): boolean;
}

const KNOWN_FIELDS = ['predicate', 'labelSelector', 'fieldSelector'];

/**
 * What a reconciler of `kind` declares.
 *
 * @throws ConfigError for an unknown field, a selector or predicate that cannot be, or a selector together with a finalizer
 */
export function watchRules(kind: string, declared: WatchDeclaration, hasFinalizer: boolean): WatchRules {
  const { predicate } = declared;
  const unknown = Object.keys(declared).find((field) => !KNOWN_FIELDS.includes(field));
  if (unknown !== undefined) throw new ConfigError('unknown-field', `reconciler of ${kind}: unknown field watch.${unknown}`);
  const labelSelector = textOf(declared.labelSelector, (value) => value);
  const fieldSelector = textOf(declared.fieldSelector, (value) => value.replace(/[\\,=]/g, '\\$&'));
  if (hasFinalizer && (labelSelector ?? fieldSelector) !== undefined) {
    const why = 'an object that leaves the selection would keep the finalizer, and its deletion would wait for ever';
    throw new ConfigError(
      'finalizer-with-selector',
      `reconciler of ${kind}: watch has a selector together with a finalizer: ${why}; use predicate`,
    );
  }
  const labels = requirementsOf(kind, 'labelSelector', labelSelector, parseLabelSelector);
  const fields = requirementsOf(kind, 'fieldSelector', fieldSelector, parseFieldSelector);
  const filter = predicate === undefined ? undefined : checkedFilter(kind, predicate);
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(filter === undefined ? {} : { filter }),
    selects(object) {
      const { metadata } = object;
      return matchesLabels(labels, metadata.labels) && matchesFields(fields, object) && (filter === undefined || filter.admits(metadata));
    },
  };
}

function textOf(selector: unknown, written: (value: string) => string): string | undefined {
  if (typeof selector !== 'object' || selector === null) return selector as string | undefined;
  return Object.entries(selector)
    .map(([key, value]) => `${key}=${written(String(value))}`)
    .join(',');
}

function requirementsOf<Requirement>(
  kind: string,
  field: string,
  selector: unknown,
  parse: (text: string) => Parsed<Requirement>,
): readonly Requirement[] {
  if (selector === undefined) return [];
  const parsed =
    typeof selector === 'string' ? parse(selector) : ({ kind: 'refused', problem: 'is neither a text nor an object' } as const);
  if (parsed.kind === 'parsed') return parsed.requirements;
  throw new ConfigError('bad-selector', `reconciler of ${kind}: watch.${field} ${parsed.problem}`);
}

function checkedFilter(kind: string, predicate: unknown): Filter {
  const result = filterOf(predicate);
  if (result.kind === 'filter') return result.filter;
  throw new ConfigError('bad-predicate', `reconciler of ${kind}: watch.predicate ${result.problem}`);
}
