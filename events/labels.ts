/** Names that Dogwatch puts on objects. The prefix `dogwatch.dev/` is reserved: a Plan may not set anything under it. */

export const RESERVED_PREFIX = 'dogwatch.dev/';

/** Label of a child: the uid of its owner (a label's value holds 63 characters, so not the key). */
export const OWNER_LABEL = 'dogwatch.dev/owner';

/** Annotation of a child: the ResourceKey of its owner. */
export const OWNER_REF_ANNOTATION = 'dogwatch.dev/owner-ref';

/** Annotation of an object that is to be left alone, whatever its value. */
export const PAUSED_ANNOTATION = 'dogwatch.dev/paused';

/** Field manager of every apply: what the API server calls us in managedFields. */
export const FIELD_MANAGER = 'dogwatch';
