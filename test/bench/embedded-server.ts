/** What the embedded API server costs: memory by object, and how fast it writes, lists and tells of changes. In this process, client included. */
import { setTimeout as wait } from 'node:timers/promises';
import { startApiServer } from '../../infra/local/api-server/api-server.ts';
import { AS_TABLE, Lab } from '../contracts/kubernetes/lab.ts';
import { tableOf } from './report-table.ts';

/** Writes at a time. */
const WRITERS = 8;
const PAGE = 500;

/** A table for people. */
export async function measureEmbeddedServer(objects: number): Promise<string> {
  const server = await startApiServer();
  const lab = new Lab(server);
  await lab.install();
  const before = residentMb();
  const written = await timed(() =>
    inParallel(objects, async (n) => {
      await lab.create('widgets', { spec: { size: n, tier: 'bench' } }, { labels: { half: String(n % 2) } });
    }),
  );
  const perObject = ((residentMb() - before) * 1024) / objects;
  const whole = await timed(async () => void (await lab.send('GET', lab.path('widgets'))));
  const paged = await timed(() => walk(lab));
  const events = await timed(() => replay(lab, objects));
  const live = await timed(() => follow(lab, objects / 10));
  lab.close();
  await server.stop();
  const rows: (string | number)[][] = [
    [`embedded server, ${objects}`, 'seconds', 'a second'],
    ['creates', written, objects / written],
    ['LIST as a whole', whole, objects / whole],
    [`LIST as Table, pages of ${PAGE}`, paged, objects / paged],
    ['watch, all that was written', events, objects / events],
    ['watch, status applies as they come', live, objects / 10 / live],
  ];
  return `${tableOf(rows)}\n${perObject.toFixed(1)} KB resident an object, ${residentMb().toFixed(0)} MB in all`;
}

async function walk(lab: Lab): Promise<void> {
  let token = '';
  do {
    const path = `${lab.path('widgets')}?limit=${PAGE}${token === '' ? '' : `&continue=${token}`}`;
    token = (await lab.send('GET', path, { accept: AS_TABLE })).body.metadata.continue ?? '';
  } while (token !== '');
}

/** Everything from the beginning, as initial events. */
async function replay(lab: Lab, count: number): Promise<void> {
  await lab.wire.watch(`${lab.path('widgets')}?watch=true`, (events) => events.length >= count, { accept: AS_TABLE, withinMs: 120_000 });
}

async function follow(lab: Lab, count: number): Promise<void> {
  const { items } = (await lab.send('GET', `${lab.path('widgets')}?limit=${count}`)).body;
  const path = `${lab.path('widgets')}?watch=true&resourceVersion=${await lab.position('widgets')}`;
  await lab.wire.watch(path, (events) => events.length >= count, {
    accept: AS_TABLE,
    withinMs: 120_000,
    onOpen: () =>
      inParallel(
        count,
        async (n) => void (await lab.applyStatus('widgets', items[n].metadata.name, { observedGeneration: 1, phase: `${n}` })),
      ),
  });
}

async function inParallel(count: number, run: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      while (next < count) {
        next += 1;
        await run(next - 1);
      }
    }),
  );
}

/** Seconds, from when what was done before has settled. */
async function timed(run: () => Promise<void>): Promise<number> {
  await wait(100);
  const begin = performance.now();
  await run();
  return (performance.now() - begin) / 1000;
}

const residentMb = (): number => process.memoryUsage.rss() / 1024 / 1024;
