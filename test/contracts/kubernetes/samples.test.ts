/** Exchanges recorded with a real API server, replayed against the embedded one: the same status, headers and body, but for what never repeats. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { type ApiServer, startApiServer } from '../../../infra/local/api-server/api-server.ts';
import { labDefinitions } from './definitions.ts';
import { REPLAYS, type Replay, type Step } from './sample-steps.ts';
import { type Body, Wire } from './wire.ts';

interface Sample {
  readonly title: string;
  readonly request: { readonly method: string; readonly path: string; readonly headers: Record<string, string>; readonly body?: unknown };
  readonly response: {
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly body?: unknown;
    readonly bodyText?: string;
    readonly lines?: readonly unknown[];
    readonly ended?: string;
  };
}

type Snapshot = ReturnType<ApiServer['snapshot']>;

const NAMESPACE = '/apis/lab.example.com/v1/namespaces/lab';
const MEDIA_TYPES = { MERGE: 'application/merge-patch+json', APPLY: 'application/apply-patch+yaml' };

/** Entries of managedFields are in the order of their seconds: here all are of one. */
const NOW = new Date('2026-11-29T16:00:00Z');

const sampleOf = (name: string): Sample => JSON.parse(readFileSync(new URL(`samples/${name}.json`, import.meta.url), 'utf8')) as Sample;
const absolute = (path: string): string => (path.startsWith('/') ? path : `${NAMESPACE}/${path}`);

describe('recorded exchanges', { concurrency: 8 }, () => {
  let snapshot: Snapshot;
  before(async () => {
    const server = await startApiServer({ tls: false });
    const wire = new Wire(server);
    for (const body of labDefinitions()) await done(wire, ['POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body]);
    await done(wire, ['POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lab' } }]);
    // Positions of a hundred and more stand for those that were recorded.
    snapshot = server.snapshot();
    wire.close();
    await server.stop();
  });

  for (const replay of REPLAYS) {
    const sample = sampleOf(replay.sample);
    it(`${replay.sample}: ${sample.title}`, async () => {
      const bookmarkSeconds = replay.bookmarked === undefined ? 60 : 0.02;
      const server = await startApiServer({ tls: false, from: snapshot, now: () => NOW, bookmarkSeconds });
      const wire = new Wire(server);
      try {
        await play(replay, sample, server, wire, snapshot);
      } finally {
        wire.close();
        await server.stop();
      }
    });
  }

  it('are replayed, all of them', () => {
    const files = readdirSync(new URL('samples/', import.meta.url)).map((file) => file.replace(/\.json$/, ''));
    assert.deepEqual(REPLAYS.map(({ sample }) => sample).sort(), files.sort());
  });
});

async function done(wire: Wire, [method, path, body]: Step): Promise<void> {
  const isPatch = method === 'MERGE' || method === 'APPLY';
  const options = { body, ...(isPatch ? { type: MEDIA_TYPES[method] } : {}) };
  const answer = await wire.send(isPatch ? 'PATCH' : method, absolute(path), options);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
}

async function play(replay: Replay, { request, response }: Sample, server: ApiServer, wire: Wire, snapshot: Snapshot): Promise<void> {
  const { given = [], since = [], meanwhile = [], bookmarked, continues, fault } = replay;
  for (const step of given) await done(wire, step);
  const token = continues === undefined ? undefined : (await wire.send('GET', absolute(continues))).body.metadata.continue;
  const position = String(server.revision);
  for (const step of since) await done(wire, step);
  if (fault === 'restore') {
    await server.restart({ from: snapshot });
    wire.close();
  }
  if (fault === 'expire') {
    await done(wire, ['MERGE', 'atomics/d0', { spec: { size: 9 } }]);
    server.faults.expireHistory();
  }
  if (fault === 'throttle') server.faults.add({ kind: 'throttle', retryAfterSeconds: Number(response.headers['retry-after']) });
  if (fault === 'initializing') server.faults.add({ kind: 'initializing' });
  // What is far ahead or at the very beginning stays; other positions are those of the recording.
  const path = request.path
    .replace(/resourceVersion=(\d{3,5})\b/, `resourceVersion=${position}`)
    .replace(/continue=[^&]+/, (found) => (token === undefined ? found : `continue=${token}`));
  const isStranger = fault === 'wrong token' || fault === 'no token';
  const asker = isStranger ? new Wire({ ...server, token: fault === 'no token' ? '' : 'wrong' }) : wire;
  if (response.lines === undefined) return await compareAnswer(asker, { ...request, path }, response);
  const { lines, ended } = response;
  const { events, ended: how } = await wire.watch(path, (seen) => ended === 'client' && lines.length > 0 && seen.length === lines.length, {
    ...(request.headers['accept'] === undefined ? {} : { accept: request.headers['accept'] }),
    // Of a watch that says nothing there is nothing to wait for.
    ...(lines.length === 0 && ended === 'client' ? { withinMs: 300 } : {}),
    onOpen: async () => {
      for (const step of meanwhile) await done(wire, step);
      if (fault === 'kill') setImmediate(() => server.faults.dropWatches('reset'));
    },
    onEvents: async () => {
      if (fault === 'stop') server.faults.dropWatches('end');
      else if (bookmarked !== undefined) await done(wire, bookmarked);
    },
  });
  assert.deepEqual(withoutRepeated(events, lines), steady(lines));
  assert.equal(how, fault === 'kill' ? 'broken' : ended);
}

async function compareAnswer(wire: Wire, { method, path, headers, body }: Sample['request'], response: Sample['response']): Promise<void> {
  const { 'impersonate-user': impersonated = '', ...own } = headers;
  const answer = await wire.send(method, path, { headers: own, ...(body === undefined ? {} : { body: expanded(body) }) });
  assert.equal(answer.status, response.status, answer.text);
  assert.equal(answer.headers['content-type'], response.headers['content-type']);
  assert.equal(answer.headers['retry-after'], response.headers['retry-after']);
  if (response.bodyText !== undefined) return assert.equal(answer.text, response.bodyText);
  // Who has no rights is somebody without a token here.
  const recorded = JSON.parse(JSON.stringify(response.body).replaceAll(`User \\"${impersonated}\\"`, 'User \\"system:anonymous\\"'));
  assert.deepEqual(steady(answer.body), steady(impersonated === '' ? response.body : recorded));
}

/** A bookmark more at the end is no difference: they come by the clock. */
function withoutRepeated(events: readonly unknown[], lines: readonly unknown[]): unknown {
  return steady(events.filter((event, at) => at < lines.length || (event as Body).type !== 'BOOKMARK'));
}

/** A long text is written as its length. */
function expanded(body: unknown): unknown {
  const text = JSON.stringify(body).replace(/\((\d+) characters\)/, (_, count: string) => 'x'.repeat(Number(count)));
  return JSON.parse(text);
}

const VOLATILE = new Set(['uid', 'resourceVersion', 'time', 'creationTimestamp', 'deletionTimestamp', 'continue']);

/** Without what no two servers have alike: uids, versions, times, tokens, numbers in messages; causes in one order. */
function steady(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value === 'string' && /^\d+[smhdy]$/.test(value)) return 'an age';
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    if (VOLATILE.has(key)) return [[key, `any ${typeof each}`]];
    if (key === 'description' && !String(each).startsWith('Custom resource')) return [];
    if (key === 'message' && typeof each === 'string') return [[key, each.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b\d{2,}\b/g, 'N')]];
    return [[key, steady(each)]];
  });
  return Object.fromEntries(entries);
}
