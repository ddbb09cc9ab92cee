/** Sets of paths to fields: what ownership is counted in. */
import { isJsonObject, type JsonObject } from './api-object.ts';
import { type FieldType, fieldOf } from './field-types.ts';
import { compareElements, compareText, fieldName, isKey, type PathElement } from './path-element.ts';

/**
 * A set of paths to fields, as managedFields stores it (fieldsV1). A path may be in the set without its parents, and a parent
 * without its children. Operations return new sets; only `insert` changes one.
 */
export class FieldSet {
  readonly #members: Set<PathElement>;
  readonly #children: Map<PathElement, FieldSet>;

  constructor(members: Iterable<PathElement> = [], children: Iterable<readonly [PathElement, FieldSet]> = []) {
    this.#members = new Set(members);
    this.#children = new Map([...children].filter(([, child]) => !child.isEmpty));
  }

  static of(...paths: readonly (readonly PathElement[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** The set that `fieldsV1` spells. Keys of unknown kinds are left out, as on the server. */
  static decode(fields: JsonObject): FieldSet {
    const members: PathElement[] = [];
    const children: [PathElement, FieldSet][] = [];
    for (const [key, inner] of Object.entries(fields)) {
      if (!/^[fkvi]:/.test(key)) continue;
      const nested = isJsonObject(inner) ? inner : {};
      if (Object.keys(nested).length === 0 || Object.hasOwn(nested, '.')) members.push(key);
      children.push([key, FieldSet.decode(nested)]);
    }
    return new FieldSet(members, children);
  }

  /** The set as `fieldsV1`, keys in order. */
  encode(): JsonObject {
    const keys = new Set([...this.#members, ...this.#children.keys()]);
    return Object.fromEntries(
      [...keys].sort(compareText).map((key) => {
        const child = this.#children.get(key);
        if (child === undefined) return [key, {}];
        return [key, { ...(this.#members.has(key) ? { '.': {} } : {}), ...child.encode() }];
      }),
    );
  }

  /** The root itself belongs to nobody: the empty path is not inserted. */
  insert(path: readonly PathElement[]): void {
    const [first, ...rest] = path;
    if (first === undefined) return;
    if (rest.length === 0) {
      this.#members.add(first);
      return;
    }
    const child = this.#children.get(first) ?? new FieldSet();
    this.#children.set(first, child);
    child.insert(rest);
  }

  get isEmpty(): boolean {
    return this.#members.size === 0 && [...this.#children.values()].every((child) => child.isEmpty);
  }

  has(element: PathElement): boolean {
    return this.#members.has(element);
  }

  /** Paths below `element`, without it. */
  below(element: PathElement): FieldSet {
    return this.#children.get(element) ?? new FieldSet();
  }

  union(other: FieldSet): FieldSet {
    const keys = new Set([...this.#children.keys(), ...other.#children.keys()]);
    return new FieldSet(
      [...this.#members, ...other.#members],
      [...keys].map((key) => [key, this.below(key).union(other.below(key))]),
    );
  }

  intersection(other: FieldSet): FieldSet {
    return new FieldSet(
      [...this.#members].filter((member) => other.has(member)),
      [...this.#children].map(([key, child]) => [key, child.intersection(other.below(key))]),
    );
  }

  /** Without the paths of `other`; children of a path that goes stay. */
  difference(other: FieldSet): FieldSet {
    return new FieldSet(
      [...this.#members].filter((member) => !other.has(member)),
      [...this.#children].map(([key, child]) => [key, child.difference(other.below(key))]),
    );
  }

  /** Without the paths of `other` and all below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    return new FieldSet(
      [...this.#members].filter((member) => !other.has(member)),
      [...this.#children].flatMap(([key, child]) => (other.has(key) ? [] : [[key, child.recursiveDifference(other.below(key))] as const])),
    );
  }

  /** With every named field that has something below it, so that a field goes as a whole when nothing of it stays. */
  withNamedFields(type: FieldType | undefined): FieldSet {
    const named = [...this.#children.keys()].filter((key) => {
      const name = fieldName(key);
      return name !== undefined && type?.map?.fields.has(name) === true;
    });
    return new FieldSet(
      [...this.#members, ...named],
      [...this.#children].map(([key, child]) => [key, child.withNamedFields(typeBelow(type, key))]),
    );
  }

  /** All paths, a level's members before what is below them. */
  *paths(prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
    for (const member of [...this.#members].sort(compareElements)) yield [...prefix, member];
    for (const key of [...this.#children.keys()].sort(compareElements)) yield* this.below(key).paths([...prefix, key]);
  }
}

function typeBelow(type: FieldType | undefined, element: PathElement): FieldType | undefined {
  const name = fieldName(element);
  if (name !== undefined) return type?.map === undefined ? undefined : fieldOf(type.map, name);
  return isKey(element) ? type?.list?.element : undefined;
}
