/** A kind as a reconciler owns it: what a Plan may apply, and what besides drift of its objects wakes the owner. */
import { groupKind, type ResourceType } from '../../events/resource.ts';
import { ConfigError } from './errors.ts';

/** What `owns` lists. Any ResourceType is one. */
export interface OwnedKind extends ResourceType {
  /** Names of printer columns, as `kubectl get` heads them, whose change of a child wakes its owner. */
  readonly wakeOnColumns?: readonly string[] | undefined;
}

/** The server's own columns: a name never changes, and an age changes with every look. */
const NO_NEWS = new Set(['Name', 'Age']);

class Kind implements OwnedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: ResourceType['scope'];

  constructor({ group, version, kind, plural, scope }: ResourceType) {
    this.group = group;
    this.version = version;
    this.kind = kind;
    this.plural = plural;
    this.scope = scope;
  }

  /**
   * The same kind, whose objects also wake their owner when one of these columns changes: a Deployment that became available,
   * a claim that was bound. A column that the cluster does not have is told of in the watcher's log.
   *
   * @throws ConfigError `bad-wake-on` for no column, one named twice, Name, or Age
   */
  wakeOn(...columns: readonly string[]): OwnedKind {
    const bad = columns.find((column, at) => column === '' || NO_NEWS.has(column) || columns.indexOf(column) !== at);
    if (columns.length === 0 || bad !== undefined) {
      const what = bad === undefined ? 'no column' : `column ${JSON.stringify(bad)}`;
      throw new ConfigError('bad-wake-on', `${groupKind(this)}.wakeOn: ${what} cannot wake anybody; name a column of its state, once`);
    }
    return { ...this, wakeOnColumns: columns };
  }
}

/** `type` with {@link Kind.wakeOn}: `owns: [ownedKind(queues).wakeOn('Ready')]`. The kinds of `kinds.ts` have it already. */
export function ownedKind(type: ResourceType): Kind {
  return new Kind(type);
}
