/**
 * What a cell makes of the children of a kind: it remembers a little of each and wakes owners. No waiting in here.
 *
 * Owners are woken before a sight is remembered: if that fails, the next list shows the same news again.
 */
import { createHash } from 'node:crypto';
import { type ChildPhase, type ChildVerdict, KnownChildren, type ObservedChild } from '../../events/known-children.ts';
import type { Unsettled } from '../../events/known-objects.ts';
import { OWNER_LABEL, OWNER_REF_ANNOTATION } from '../../events/labels.ts';
import type { ColumnDefinition, Row } from '../../events/observed-object.ts';
import { parseResourceKey } from '../../events/resource.ts';
import type { ListForm, ListPage } from '../adapters/kubernetes/port.ts';
import { TransientError } from '../core/errors.ts';
import type { CellObserver, DataFrame, ObserverWarning } from './observer-port.ts';
import type { Owners } from './owners.ts';

/** Children have no state of their own that anybody waits for. */
const NOTHING_UNSETTLED: Unsettled = { count: 0, oldestSeconds: 0 };

export class ChildObserver implements CellObserver {
  readonly labelSelector = OWNER_LABEL;
  readonly ownFields = true;
  readonly #owners: Owners;
  readonly #known = new KnownChildren();
  /** Names of the columns whose change may wake an owner. */
  readonly #columns: readonly string[];
  /** Where they stand among the cells; -1 where the kind has no such column. */
  #cellsAt: readonly number[] = [];
  #definitions: readonly ColumnDefinition[] = [];
  #hasListed = false;

  constructor(owners: Owners) {
    this.#owners = owners;
    this.#columns = owners.columns;
  }

  /** Cells are asked for only where somebody waits for one. */
  get form(): ListForm {
    return this.#columns.length > 0 ? 'table' : 'metadata';
  }

  get hasListed(): boolean {
    return this.#hasListed;
  }

  get size(): number {
    return this.#known.size;
  }

  get warning(): ObserverWarning | undefined {
    const columns = this.#columns.filter((_, at) => this.#cellsAt[at] === -1);
    if (columns.length === 0) return undefined;
    const known = this.#definitions.map(({ name }) => name);
    return { message: 'a column named in wakeOn is not there, or is an age: it wakes nobody', fields: { columns, known } };
  }

  unsettled(): Unsettled {
    return NOTHING_UNSETTLED;
  }

  /** There is nothing to ask: the columns come with the list. */
  async describe(): Promise<void> {
    this.#definitions = [];
    this.#cellsAt = [];
  }

  beginList(): void {
    this.#known.beginList();
  }

  abandonList(): void {
    this.#known.abandonList();
  }

  /** A list compares no versions, and one comes before the next frame. */
  forgetPositions(): void {}

  /** What was not passed on was not remembered either. */
  distrust(): void {}

  page(page: ListPage): void {
    this.#definitions = page.columns;
    this.#cellsAt = this.#columns.map((name) => page.columns.findIndex((column) => column.name === name && column.type !== 'date'));
    for (const row of page.rows) this.#observe(row, 'list');
  }

  /** The list was complete: what it no longer shows is gone. */
  commitList(): void {
    this.#hasListed = true;
    for (const { uid, ownerUid } of this.#known.endList()) {
      this.#owners.wake(ownerUid, undefined);
      this.#known.forget(uid);
    }
  }

  frame(frame: DataFrame): void {
    if (frame.columns !== undefined && namesOf(frame.columns) !== namesOf(this.#definitions)) {
      throw new TransientError('columns-changed', 'the columns of the kind changed between list and watch; the list is read again');
    }
    if (frame.type === 'BOOKMARK') return;
    if (frame.type !== 'DELETED') this.#observe(frame.row, 'watch');
    else this.#remove(this.#childOf(frame.row));
  }

  #observe(row: Row, phase: ChildPhase): void {
    const child = this.#childOf(row);
    this.#wake(this.#known.judge(child, phase));
    this.#known.remember(child, phase);
  }

  #remove(child: ObservedChild): void {
    const verdict = this.#known.judgeRemoved(child);
    this.#wake(verdict);
    if (verdict.kind === 'pass') this.#known.forget(child.uid);
  }

  #wake(verdict: ChildVerdict): void {
    if (verdict.kind === 'skip') return;
    const columns = verdict.columns.map((at) => this.#columns[at] ?? '');
    this.#owners.wake(verdict.ownerUid, verdict.news === 'cells' ? columns : undefined);
  }

  #childOf({ metadata, cells, ownFields }: Row): ObservedChild {
    const ownerUid = metadata.labels?.[OWNER_LABEL] ?? '';
    const hasReference = metadata.ownerReferences?.some(({ uid }) => uid === ownerUid) ?? false;
    const ownerRef = metadata.annotations?.[OWNER_REF_ANNOTATION];
    return {
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      ownerUid,
      isDeleting: metadata.deletionTimestamp !== undefined,
      ownFields,
      cells: this.#cellsAt.map((at) => digestOf(cells[at])),
      isMarked: ownFields !== undefined || hasReference || (ownerRef !== undefined && parseResourceKey(ownerRef) !== undefined),
    };
  }
}

/** Cells may be long, and are compared only. */
function digestOf(cell: unknown): number {
  return createHash('sha256')
    .update(JSON.stringify(cell ?? null))
    .digest()
    .readUInt32BE(0);
}

function namesOf(definitions: readonly ColumnDefinition[]): string {
  return JSON.stringify(definitions.map(({ name }) => name));
}
