/**
 * The heartbeat of a cluster, version 1: a CloudEvents 1.0 event that says how its cells are. It goes the way of every change,
 * so that it proves the way; when none comes, that is the alarm.
 */
import * as z from 'zod';
import { byteSize, ENVELOPE_MAX_BYTES, type EnvelopeFrame, escapeForSqs } from './envelope.ts';
import { isDnsLabel } from './resource.ts';

export const HEARTBEAT_TYPE = 'dev.dogwatch.heartbeat.v1';

const instant = z.iso.datetime({ offset: false });
const count = z.int().min(0);

/** Cells that a body holds at most: a cell is a few tens of bytes at least, so that more would not fit. */
const CELLS_MAX = 64;

// Unknown fields are dropped and not kept: a heartbeat is written down and never sent on.

/** One kind in the cluster. `phase` is open: a newer watcher may know others. */
const cell = z.object({
  kind: z.string().min(1).max(320),
  role: z.string().max(32).optional(),
  phase: z.string().min(1).max(32),
  objectCount: count,
  unsettledCount: count,
  oldestUnsettledSeconds: z.number().min(0),
  lastEventAt: instant.optional(),
  /** Code of what is wrong, while something is. */
  code: z.string().max(64).optional(),
});

const data = z.object({
  cluster: z.string().refine(isDnsLabel, 'must be a DNS label'),
  cellCount: count,
  streamingCount: count,
  unsettledCount: count,
  /** Of all cells, the longest; 0 where nothing is unsettled. */
  oldestUnsettledSeconds: z.number().min(0),
  /** When the cluster last sent anything. */
  lastEventAt: instant.optional(),
  /** The worst first. Those that did not fit are left out, and counted above all the same. */
  cells: z.array(cell).max(CELLS_MAX),
});

const heartbeat = z.object({
  specversion: z.literal('1.0'),
  id: z.string().min(1),
  type: z.literal(HEARTBEAT_TYPE),
  source: z.string(),
  time: instant,
  traceparent: z.string().max(128).optional(),
  data,
});

export type Heartbeat = z.infer<typeof heartbeat>;
export type HeartbeatCell = z.infer<typeof cell>;

/** The heartbeat of a cluster with these cells. Pure: id and time come in `frame`. */
export function buildHeartbeat(cluster: string, cells: readonly HeartbeatCell[], frame: EnvelopeFrame): Heartbeat {
  const events = cells.flatMap(({ lastEventAt }) => lastEventAt ?? []).sort();
  const lastEventAt = events.at(-1);
  return {
    specversion: '1.0',
    id: frame.id,
    type: HEARTBEAT_TYPE,
    source: `/clusters/${cluster}`,
    time: frame.now.toISOString(),
    ...(frame.traceparent === undefined ? {} : { traceparent: frame.traceparent }),
    data: {
      cluster,
      cellCount: cells.length,
      streamingCount: cells.filter(isStreaming).length,
      unsettledCount: cells.reduce((sum, { unsettledCount }) => sum + unsettledCount, 0),
      oldestUnsettledSeconds: Math.max(0, ...cells.map(({ oldestUnsettledSeconds }) => oldestUnsettledSeconds)),
      ...(lastEventAt === undefined ? {} : { lastEventAt }),
      cells: [...cells].sort(byTrouble),
    },
  };
}

/** The body as it is sent, of {@link ENVELOPE_MAX_BYTES} at most: the cells in the least trouble are left out where it must be. */
export function encodeHeartbeat(content: Heartbeat): string {
  const { cells } = content.data;
  const encode = (cellCount: number): string =>
    escapeForSqs(JSON.stringify({ ...content, data: { ...content.data, cells: cells.slice(0, cellCount) } }));
  let cellCount = Math.min(cells.length, CELLS_MAX);
  let body = encode(cellCount);
  while (cellCount > 0 && byteSize(body) > ENVELOPE_MAX_BYTES) {
    cellCount -= 1;
    body = encode(cellCount);
  }
  return body;
}

/** What a body of type {@link HEARTBEAT_TYPE} turned out to be. `reason` says what is wrong without quoting the body. */
export type DecodedHeartbeat =
  | { readonly kind: 'heartbeat'; readonly heartbeat: Heartbeat }
  | { readonly kind: 'foreign'; readonly reason: string };

/** Never throws for JSON. @throws SyntaxError where the body is none, which a body of a known type is not */
export function decodeHeartbeat(body: string): DecodedHeartbeat {
  const parsed = heartbeat.safeParse(JSON.parse(body));
  if (parsed.success) return { kind: 'heartbeat', heartbeat: parsed.data };
  const issue = parsed.error.issues[0];
  return { kind: 'foreign', reason: `heartbeat, field ${issue?.path.join('.') || '(root)'}: ${issue?.message ?? 'invalid'}` };
}

function isStreaming({ phase }: HeartbeatCell): boolean {
  return phase === 'streaming';
}

/** Those that do not stream first, then those with the longest unsettled object. */
function byTrouble(a: HeartbeatCell, b: HeartbeatCell): number {
  return Number(isStreaming(a)) - Number(isStreaming(b)) || b.oldestUnsettledSeconds - a.oldestUnsettledSeconds;
}
