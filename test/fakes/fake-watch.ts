/** A watch stream under the test's hand, and the projection of objects to rows. */
import type { ColumnDefinition, Row } from '../../events/observed-object.ts';
import { matchesFields, matchesLabels, type Parsed, parseFieldSelector, parseLabelSelector } from '../../events/selector.ts';
import type { ListForm, ServedKind, WatchFrame, WatchOptions } from '../../functions/adapters/kubernetes/port.ts';
import { TerminalError } from '../../functions/core/errors.ts';
import { ownFieldsOf } from '../../functions/core/own-fields.ts';
import type { KubernetesObject } from '../../functions/core/reconciler.ts';
import type { Change, ObjectStore } from './object-store.ts';
import { isJson } from './server-side-apply.ts';

type Columns = ServedKind['printerColumns'];

/** Changes of the store arrive by themselves; `push`, `bookmark`, `end` and `fail` are the test's. Time never ends it. */
export class FakeWatch implements AsyncIterable<WatchFrame> {
  readonly kind: string;
  readonly options: WatchOptions;
  /** Frames that the reader has taken. */
  deliveredCount = 0;
  /** Changes are remembered, not delivered, while this is true: see {@link resume}. */
  paused = false;
  readonly #columns: Columns;
  readonly #store: ObjectStore;
  readonly #frames: WatchFrame[] = [];
  readonly #held: Change[] = [];
  #ending: { readonly error?: Error } | undefined;
  #closed = false;
  #wake: () => void = () => {};

  constructor(kind: string, options: WatchOptions, columns: Columns, store: ObjectStore) {
    this.kind = kind;
    this.options = options;
    this.#columns = columns;
    this.#store = store;
    options.signal?.addEventListener('abort', () => this.#close(), { once: true });
    if (Number(options.resourceVersion) < store.compactedAt) {
      this.push({ type: 'ERROR', code: 410, reason: 'Expired', message: 'too old resource version', retryAfterSeconds: undefined });
      this.end();
    } else {
      for (const change of store.history) this.offer(change);
    }
  }

  /** False once it ended, failed or was left by its reader. */
  get open(): boolean {
    return !this.#closed && this.#ending === undefined;
  }

  /** A change of the cluster; what is not of this kind, position or selector is ignored. */
  offer(change: Change): void {
    if (!this.open || change.kind !== this.kind || change.resourceVersion <= Number(this.options.resourceVersion)) return;
    if (this.paused) this.#held.push(change);
    else this.#deliver(change);
  }

  resume(): void {
    this.paused = false;
    for (const change of this.#held.splice(0)) this.#deliver(change);
  }

  bookmark(resourceVersion = String(this.#store.resourceVersion)): void {
    this.push({ type: 'BOOKMARK', resourceVersion });
  }

  push(frame: WatchFrame): void {
    this.#frames.push(frame);
    this.#wake();
  }

  /** A clean end of the body. */
  end(): void {
    this.#ending ??= {};
    this.#wake();
  }

  /** The connection breaks: the reader gets the frames so far, then the error. */
  fail(error: Error): void {
    this.#ending ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchFrame, void, undefined> {
    try {
      for (;;) {
        this.options.signal?.throwIfAborted();
        const frame = this.#frames.shift();
        if (frame !== undefined) {
          const columns = this.deliveredCount === 0 && frame.type !== 'ERROR' && this.options.form === 'table';
          this.deliveredCount += 1;
          yield columns ? { ...frame, columns: columnsOf('table', this.#columns) } : frame;
        } else if (this.#ending !== undefined) {
          if (this.#ending.error !== undefined) throw this.#ending.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.#close();
    }
  }

  #close(): void {
    this.#closed = true;
    this.#wake();
  }

  #deliver({ type, object, before, resourceVersion }: Change): void {
    const was = before !== undefined && matches(before, this.options);
    const is = type !== 'DELETED' && matches(object, this.options);
    if (!was && !is) return;
    const shown = is
      ? object
      : { ...object, ...before, metadata: { ...(before ?? object).metadata, resourceVersion: String(resourceVersion) } };
    this.push({ type: is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', row: projectRow(shown, this.options, this.#columns) });
  }
}

interface Selection {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** True where the object meets both selectors. A field that it does not have is not held against it. */
export function matches(object: KubernetesObject, { labelSelector = '', fieldSelector = '' }: Selection): boolean {
  const meetsLabels = labelSelector === '' || matchesLabels(requirementsOf(parseLabelSelector(labelSelector)), object.metadata.labels);
  const meetsFields = fieldSelector === '' || matchesFields(requirementsOf(parseFieldSelector(fieldSelector)), object);
  return meetsLabels && meetsFields;
}

/** @throws TerminalError as for a selector that the API server does not understand */
function requirementsOf<Requirement>(parsed: Parsed<Requirement>): readonly Requirement[] {
  if (parsed.kind === 'refused') throw new TerminalError('bad-request', `the selector ${parsed.problem}`);
  return parsed.requirements;
}

/** The columns of a list or of a stream's first frame: Name, then those of the CRD. None in the metadata form. */
export function columnsOf(form: ListForm, columns: Columns): ColumnDefinition[] {
  if (form === 'metadata') return [];
  return [{ name: 'Name', type: 'string' }, ...columns.map(({ name }) => ({ name, type: 'string' }))];
}

export function projectRow(
  object: KubernetesObject,
  { form, ownFields }: { readonly form: ListForm; readonly ownFields?: boolean | undefined },
  columns: Columns,
): Row {
  const { managedFields, ...metadata } = object.metadata;
  const own = ownFields === true ? ownFieldsOf(managedFields) : undefined;
  const cells = form === 'metadata' ? [] : [object.metadata.name, ...columns.map(({ jsonPath }) => cellOf(object, jsonPath))];
  return { metadata, cells, ...(own === undefined ? {} : { ownFields: own }) };
}

/** The value of a JSONPath of the two forms that printer columns of ours have; null where it is absent. */
function cellOf(object: KubernetesObject, jsonPath: string): unknown {
  let value: unknown = object;
  for (const step of jsonPath.matchAll(/\.([A-Za-z]+)(?:\[\?\(@\.([A-Za-z]+)=="([^"]*)"\)\])?/g)) {
    const [, field = '', key, wanted] = step;
    value = isJson(value) ? value[field] : undefined;
    if (key !== undefined && Array.isArray(value)) value = value.filter(isJson).find((entry) => entry[key] === wanted);
  }
  return value ?? null;
}
