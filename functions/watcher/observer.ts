/**
 * What a cell makes of the rows it is sent: how it asks for them, what it remembers, what it marks as dirty. No waiting in
 * here but for the question how the kind is served.
 */
import { observeRow, statusColumns } from '../../events/columns.ts';
import type { DirtyMarks } from '../../events/dirty-marks.ts';
import { REASONS } from '../../events/envelope.ts';
import type { Filter } from '../../events/filter.ts';
import { KnownObjects, type Removed, type Sight, type Unsettled } from '../../events/known-objects.ts';
import type { ColumnDefinition, ObservedObject, Row, StatusColumns } from '../../events/observed-object.ts';
import type { Phase } from '../../events/predicate.ts';
import type { ResourceType } from '../../events/resource.ts';
import type { Clock } from '../adapters/clock.ts';
import type { KubernetesClient, ListForm, ListPage, ServedKind } from '../adapters/kubernetes/port.ts';
import { TransientError } from '../core/errors.ts';
import { lateRunsOverSeconds } from '../core/late-runs.ts';
import type { Reconciler } from '../core/reconciler.ts';
import type { CellObserver, DataFrame, ObserverWarning } from './observer-port.ts';
import { createUpkeep, type Upkeep, type UpkeepSettings } from './upkeep.ts';

/** Why a kind is watched without cells, for a warning; undefined where it is watched as a Table. */
type NoTableReason = 'crd-not-readable' | 'no-observed-generation-column';

export interface ObserverOptions {
  readonly type: ResourceType & Partial<Pick<Reconciler['resource'], 'isDescribed'>>;
  readonly revision: number;
  readonly finalization?: Pick<NonNullable<Reconciler['finalization']>, 'name'> | undefined;
  readonly watch?: Omit<Reconciler['watch'], 'selects'> | undefined;
  readonly marks: DirtyMarks;
  readonly settings: ObserverSettings;
  readonly clock: Clock;
}

export interface ObserverSettings extends UpkeepSettings {
  /** How long a run may take that saw an object alive. */
  readonly functionTimeoutSeconds: number;
}

export class Observer implements CellObserver {
  readonly upkeep: Upkeep;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly #filter: Filter | undefined;
  /** How long the message of an object that is gone is held back; undefined where nothing has to be undone. */
  readonly #deletedDelaySeconds: number | undefined;
  readonly #type: ObserverOptions['type'];
  readonly #known: KnownObjects;
  readonly #marks: DirtyMarks;
  readonly #clock: Clock;
  #printerColumns: ServedKind['printerColumns'] = [];
  #definitions: readonly ColumnDefinition[] = [];
  #columns: StatusColumns | undefined;
  #form: ListForm = 'metadata';
  #noTableReason: NoTableReason | undefined;

  constructor({ type, revision, finalization, watch, marks, settings, clock }: ObserverOptions) {
    this.#type = type;
    this.labelSelector = watch?.labelSelector;
    this.fieldSelector = watch?.fieldSelector;
    this.#filter = watch?.filter;
    const hasSelector = (this.labelSelector ?? this.fieldSelector) !== undefined;
    this.#known = new KnownObjects({ revision, finalizer: finalization?.name, hasSelector, isDescribed: type.isDescribed });
    this.#deletedDelaySeconds = finalization === undefined ? undefined : lateRunsOverSeconds(settings.functionTimeoutSeconds);
    this.#marks = marks;
    this.#clock = clock;
    this.upkeep = createUpkeep({ known: this.#known, marks, settings, clock });
  }

  /** How lists and watches ask for the kind, as {@link describe} decided. */
  get form(): ListForm {
    return this.#form;
  }

  get warning(): ObserverWarning | undefined {
    const why = this.#noTableReason;
    if (why === undefined) return undefined;
    return { message: 'kind is watched without status: settled objects cannot be told from others', fields: { why } };
  }

  /** True once one list of this process was complete. */
  get hasListed(): boolean {
    return this.#known.hasListed;
  }

  get size(): number {
    return this.#known.size;
  }

  unsettled(): Unsettled {
    return this.#known.unsettled(this.#clock.steadyMs());
  }

  /** What is remembered of an object; undefined where it is not known, or gone. */
  find(uid: string): Sight | undefined {
    return this.#known.get(uid);
  }

  /**
   * Decides how to ask for the kind: as a Table where a column says which generation was observed, else as metadata. So is one that
   * is not ours: whatever its status has observed was not observed by us.
   */
  async describe(client: KubernetesClient, signal: AbortSignal): Promise<void> {
    if (this.#type.isDescribed) return;
    const served = await client.servedKind(this.#type, { signal });
    this.#printerColumns = served?.printerColumns ?? [];
    const promised = [NAME_COLUMN, ...this.#printerColumns.map(({ name }) => ({ name, type: '' }))];
    const hasColumn = statusColumns(this.#printerColumns, promised) !== undefined;
    this.#form = hasColumn ? 'table' : 'metadata';
    this.#noTableReason = hasColumn ? undefined : served === undefined ? 'crd-not-readable' : 'no-observed-generation-column';
    this.#columns = undefined;
    this.#definitions = [];
  }

  beginList(): void {
    this.#known.beginList();
  }

  abandonList(): void {
    this.#known.abandonList();
  }

  forgetPositions(): void {
    this.#known.forgetPositions();
  }

  /** Something was not handled to its end: an object may be remembered and not marked. The next list judges all anew. */
  distrust(): void {
    this.#known.abandonList();
    this.#known.forgetPositions();
  }

  page(page: ListPage): void {
    this.#definitions = page.columns;
    this.#columns = statusColumns(this.#printerColumns, page.columns);
    for (const row of page.rows) this.#observe(row, this.hasListed ? 'list' : 'first-list');
  }

  /** The list was complete: what it no longer shows was deleted while nobody watched. */
  commitList(resourceVersion: string): void {
    for (const removed of this.#known.endList(resourceVersion)) this.#markDeleted(removed);
  }

  /**
   * Takes in an event or a bookmark.
   *
   * @throws TransientError `columns-changed` where the stream has other columns than the list before it: the CRD was changed
   *         between the two, and the cells can no longer be told apart
   */
  frame(frame: DataFrame): void {
    if (frame.columns !== undefined && namesOf(frame.columns) !== namesOf(this.#definitions)) {
      throw new TransientError('columns-changed', 'the columns of the kind changed between list and watch; the list is read again');
    }
    if (frame.type === 'DELETED') this.#delete(frame.row);
    else if (frame.type !== 'BOOKMARK') this.#observe(frame.row, 'watch');
  }

  #delete(row: Row): void {
    const { uid, namespace, name, resourceVersion, generation } = row.metadata;
    // Also where we never knew it: a message about an object that is gone does no harm, a lost one may.
    this.#markDeleted({ uid, ...(namespace ? { namespace } : {}), name, resourceVersion, generation });
    this.#known.remove(uid, resourceVersion);
  }

  #observe(row: Row, phase: Phase): void {
    const object = this.#filtered(observeRow(row, this.#columns), row);
    const nowMs = this.#clock.steadyMs();
    const verdict = this.#known.observe(object, phase, nowMs, this.#clock.now().getTime());
    if (verdict.kind === 'skip') return;
    const { uid, namespace, name, resourceVersion, generation } = object;
    const { reason, mustRun, lane } = verdict;
    const address = namespace === undefined ? { name } : { namespace, name };
    this.#marks.mark({ uid, ...address, resourceVersion, generation, reason, mustRun, lane, firstSeenAtMs: nowMs });
  }

  #filtered(object: ObservedObject, { metadata }: Row): ObservedObject {
    if (this.#filter === undefined) return object;
    return { ...object, isFiltered: !this.#filter.admits(metadata), watchedDigest: this.#filter.digest?.(metadata) };
  }

  #markDeleted(removed: Removed): void {
    const delaySeconds = this.#deletedDelaySeconds;
    const delay = delaySeconds === undefined ? {} : { delaySeconds };
    this.#marks.mark({ ...removed, reason: 'deleted', ...REASONS.deleted, ...delay, firstSeenAtMs: this.#clock.steadyMs() });
  }
}

/** The server's own first column. */
const NAME_COLUMN: ColumnDefinition = { name: 'Name', type: 'string' };

function namesOf(definitions: readonly ColumnDefinition[]): string {
  return JSON.stringify(definitions.map(({ name }) => name));
}
