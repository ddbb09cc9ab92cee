/**
 * From a row of a Table to what we know of an object. Which cell says what is found by the JSONPath of the CRD's printer
 * columns, never by a column's name alone: names are for people, and anybody may choose `Observed` for something else.
 */
import { PAUSED_ANNOTATION } from './labels.ts';
import type { ColumnDefinition, ObservedObject, ObservedStatus, Row, StatusColumns } from './observed-object.ts';

/** JSONPaths that the framework puts into the CRDs it generates; a CRD by somebody else may have them as well. */
export const STATUS_PATHS = {
  observedGeneration: '.status.observedGeneration',
  attemptedGeneration: '.status.conditions[?(@.type=="Ready")].observedGeneration',
  observedRevision: '.status.observedRevision',
  stalledGeneration: '.status.conditions[?(@.type=="Stalled")].observedGeneration',
  nextReconcileTime: '.status.nextReconcileTime',
  ready: '.status.conditions[?(@.type=="Ready")].status',
} as const;

/**
 * Where the cells stand that say how settled an object is; undefined where no column has `.status.observedGeneration`, so
 * that asking for a Table is of no use.
 *
 * @param printerColumns `additionalPrinterColumns` of the served version, in order
 * @param definitions    `columnDefinitions` of the Table whose rows are to be read; they decide, since the CRD may have
 *                       changed between the two reads
 */
export function statusColumns(
  printerColumns: readonly { readonly name: string; readonly jsonPath: string }[],
  definitions: readonly ColumnDefinition[],
): StatusColumns | undefined {
  const find = (path: string): number | undefined => {
    const at = printerColumns.findIndex((column) => normalizePath(column.jsonPath) === normalizePath(path));
    const column = printerColumns[at];
    return column === undefined ? undefined : locate(column.name, at, definitions);
  };
  const observedGeneration = find(STATUS_PATHS.observedGeneration);
  if (observedGeneration === undefined) return undefined;
  return {
    observedGeneration,
    attemptedGeneration: find(STATUS_PATHS.attemptedGeneration),
    observedRevision: find(STATUS_PATHS.observedRevision),
    stalledGeneration: find(STATUS_PATHS.stalledGeneration),
    nextReconcileTime: find(STATUS_PATHS.nextReconcileTime),
    ready: find(STATUS_PATHS.ready),
  };
}

/**
 * The index of a printer column among the cells. The server puts its own `Name` first and keeps the CRD's order after it,
 * which also tells two columns of one name apart; a name that stands elsewhere counts only where it is the only one. A date
 * column is none: its cells arrive as an age ("5m").
 */
function locate(name: string, at: number, definitions: readonly ColumnDefinition[]): number | undefined {
  const inPlace = definitions[at + 1]?.name === name;
  const isOnlyOne = definitions.filter((column) => column.name === name).length === 1;
  if (!inPlace && !isOnlyOne) return undefined;
  const index = inPlace ? at + 1 : definitions.findIndex((column) => column.name === name);
  return definitions[index]?.type === 'date' ? undefined : index;
}

/** One spelling of the ways in which a JSONPath is written: braces, quotes, spaces, a missing first dot. */
function normalizePath(path: string): string {
  const bare = path
    .replace(/^\s*\{(.*)\}\s*$/, '$1')
    .replace(/\s+/g, '')
    .replaceAll("'", '"');
  return bare.startsWith('.') ? bare : `.${bare}`;
}

/**
 * The projection of one row. `columns` undefined means that no cells were asked for; then, and where a row has fewer cells
 * than its columns promise, `status` is undefined: settledness is not known.
 */
export function observeRow(row: Row, columns: StatusColumns | undefined): ObservedObject {
  const { metadata, cells } = row;
  return {
    ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation,
    isDeleting: metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
    finalizers: metadata.finalizers ?? [],
    isPaused: metadata.annotations?.[PAUSED_ANNOTATION] !== undefined,
    status: columns === undefined || cells.length <= columns.observedGeneration ? undefined : observeCells(cells, columns),
  };
}

function observeCells(cells: readonly unknown[], columns: StatusColumns): ObservedStatus {
  const cell = (index: number | undefined): unknown => (index === undefined ? undefined : cells[index]);
  return {
    observedGeneration: integerCell(cell(columns.observedGeneration)),
    attemptedGeneration: integerCell(cell(columns.attemptedGeneration)),
    observedRevision: integerCell(cell(columns.observedRevision)) ?? 1,
    stalledGeneration: integerCell(cell(columns.stalledGeneration)),
    nextReconcileTime: textCell(cell(columns.nextReconcileTime)),
    ready: textCell(cell(columns.ready)),
  };
}

/** The number in a cell of type integer, or of type string where a CRD declared it so; an empty cell is undefined. */
function integerCell(cell: unknown): number | undefined {
  const value = typeof cell === 'string' && /^[0-9]+$/.test(cell) ? Number(cell) : cell;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

function textCell(cell: unknown): string | undefined {
  return typeof cell === 'string' && cell !== '' ? cell : undefined;
}
