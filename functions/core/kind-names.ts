/** A kind by any of the names that kubectl takes for it. */
import type { ResourceType } from '../../events/resource.ts';
import { closestName } from './closest-name.ts';

/** A kind with the names that it may have besides those of its type. */
export interface NamedKind extends ResourceType {
  readonly singular?: string;
  readonly shortNames?: readonly string[];
}

/** `unknown` names the nearest that there is, where one is near; `ambiguous` the full names to choose from. */
export type FoundKind<Kind> =
  | { readonly kind: 'found'; readonly type: Kind }
  | { readonly kind: 'unknown'; readonly nearest: string | undefined }
  | { readonly kind: 'ambiguous'; readonly names: readonly string[] };

/** A name further away than this from every known one is no slip of the pen. */
const HINT_MAX_EDITS = 3;

/** `tenants.platform.example`: what no other kind is called. */
export function fullNameOf({ plural, group }: ResourceType): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/**
 * The kind that `text` names, letter case apart: by kind, plural, singular or short name, each alone, with its group
 * (`tenants.platform.example`) or with version and group.
 */
export function findKind<Kind extends NamedKind>(text: string, kinds: readonly Kind[]): FoundKind<Kind> {
  const wanted = text.toLowerCase();
  const matches = kinds.filter((kind) => namesOf(kind).includes(wanted));
  const [type, ...others] = matches;
  if (type === undefined) return { kind: 'unknown', nearest: closestName(wanted, kinds.flatMap(namesOf), HINT_MAX_EDITS) };
  return others.length === 0 ? { kind: 'found', type } : { kind: 'ambiguous', names: matches.map(fullNameOf) };
}

/** The short ones first: of two that are as near, the shorter is the better hint. */
function namesOf({ kind, plural, singular, shortNames = [], version, group }: NamedKind): string[] {
  const words = [...new Set([kind.toLowerCase(), singular ?? kind.toLowerCase(), plural, ...shortNames])];
  const endings = ['', ...(group === '' ? [`.${version}`] : [`.${group}`, `.${version}.${group}`])];
  return endings.flatMap((ending) => words.map((word) => `${word}${ending}`.toLowerCase()));
}
