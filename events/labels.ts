/** Names that Dogwatch puts on objects. The prefix `dogwatch.dev/` is reserved: a Plan may not set anything under it. */
import { isDnsSubdomain } from './resource.ts';

export const RESERVED_PREFIX = 'dogwatch.dev/';

/** Label of a child: the uid of its owner (a label's value holds 63 characters, so not the key). */
export const OWNER_LABEL = 'dogwatch.dev/owner';

/** Annotation of a child: the ResourceKey of its owner. */
export const OWNER_REF_ANNOTATION = 'dogwatch.dev/owner-ref';

/** Annotation of an object that is to be left alone, whatever its value. */
export const PAUSED_ANNOTATION = 'dogwatch.dev/paused';

/** Field manager of our applies, that of a finalizer apart: what the API server calls us in managedFields. */
export const FIELD_MANAGER = 'dogwatch';

/**
 * Field manager of the apply that adds a finalizer. Another one, since an apply takes out what its manager said before: an object that
 * one reconciler plans and another finalizes would lose its spec by the finalizer, and the finalizer by the next plan.
 */
export const FINALIZER_MANAGER = 'dogwatch-finalizer';

const QUALIFIED_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** True for a key of a label or an annotation: a name of at most 63 characters, with or without a domain and a slash before it. */
export function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/');
  return QUALIFIED_NAME.test(key.slice(slash + 1)) && (slash < 0 || isDnsSubdomain(key.slice(0, slash)));
}

/** True for the value of a label: empty, or at most 63 characters of the few that are allowed. */
export function isLabelValue(value: string): boolean {
  return LABEL_VALUE.test(value);
}
