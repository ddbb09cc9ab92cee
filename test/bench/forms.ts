/**
 * What an object costs in each form that a server can send it in: bytes, rows a second, CPU. By the product's own client for
 * Table and metadata; whole objects, which the product never asks for in bulk, go through the same transport and parser.
 */
import { clusterName } from '../../events/resource.ts';
import { createKubernetesClient } from '../../functions/adapters/kubernetes/client.ts';
import { openCredentials } from '../../functions/adapters/kubernetes/credentials.ts';
import { collectionPath, JSON_TYPE } from '../../functions/adapters/kubernetes/paths.ts';
import type { KubernetesClient, ListForm } from '../../functions/adapters/kubernetes/port.ts';
import { parseObject, projectMetadata } from '../../functions/adapters/kubernetes/projection.ts';
import { splitLines } from '../../functions/adapters/kubernetes/stream.ts';
import { createTransport, MAX_BODY_BYTES, type Transport } from '../../functions/adapters/kubernetes/transport.ts';
import { tenant } from '../../functions/reconcilers/tenant.ts';
import { tableOf } from './report-table.ts';
import { type ScriptedProcess, startScriptedServer } from './scripted-process.ts';
import type { Form } from './tenant-texts.ts';

/** Reads `count` objects; returns how many rows it saw. */
type Read = (form: Form, count: number) => Promise<number>;

interface Sample {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly bytes: number;
}

const FORMS: readonly Form[] = ['table', 'metadata', 'full'];
const PAGE_SIZE = 500;
/** Odd, so that the median is one of them. Forms take turns, so that what else the machine does falls on all alike. */
const ROUNDS = 3;

/** A table of figures, each the median of its rounds, and as a multiple of the whole object's. */
export async function measureForms(count: number): Promise<string> {
  const server = await startScriptedServer(count);
  const kubeConfig = { kind: 'file', path: server.kubeconfigPath } as const;
  const client = createKubernetesClient({ cluster: clusterName('east'), kubeConfig });
  const transport = createTransport({ credentials: openCredentials(kubeConfig) });
  try {
    const lists = await sampleAll(server, count, (form) => (form === 'full' ? listWhole(transport) : list(client, form)));
    const watches = await sampleAll(server, count, (form) => (form === 'full' ? watchWhole(transport, count) : watch(client, form, count)));
    const head = [`read by, ${count}`, 'form', 'bytes/object', 'objects/s', 'CPU us/object', 'bytes/full', 'CPU/full'];
    return tableOf([head, ...rowsOf('list', lists, count), ...rowsOf('watch', watches, count)]);
  } finally {
    client.close();
    transport.close();
    server.stop();
  }
}

async function sampleAll(server: ScriptedProcess, count: number, read: Read): Promise<ReadonlyMap<Form, readonly Sample[]>> {
  const samples = new Map<Form, Sample[]>(FORMS.map((form) => [form, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const form of FORMS) {
      const sample = await sampleOf(server, count, () => read(form, count));
      if (round > 0) samples.get(form)?.push(sample); // The first warms caches and compiler up.
    }
  }
  return samples;
}

async function sampleOf(server: ScriptedProcess, count: number, read: () => Promise<number>): Promise<Sample> {
  const before = (await server.ask({ kind: 'report' })).sentBytes;
  const cpu = process.cpuUsage();
  const began = performance.now();
  const seen = await read();
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  if (seen !== count) throw new Error(`${seen} objects read of ${count}`);
  return { seconds, cpuSeconds: (user + system) / 1e6, bytes: (await server.ask({ kind: 'report' })).sentBytes - before };
}

async function list(client: KubernetesClient, form: ListForm): Promise<number> {
  let seen = 0;
  let token: string | undefined;
  do {
    const page = await client.list(tenant.resource, { form, limit: PAGE_SIZE, continue: token });
    seen += page.rows.length;
    token = page.continue;
  } while (token !== undefined);
  return seen;
}

async function watch(client: KubernetesClient, form: ListForm, count: number): Promise<number> {
  const options = { form, resourceVersion: '0', timeoutSeconds: 60, graceSeconds: 5 };
  let seen = 0;
  for await (const frame of await client.watch(tenant.resource, options)) {
    if (frame.type === 'MODIFIED') seen += 1;
    if (seen === count) break;
  }
  return seen;
}

async function listWhole(transport: Transport): Promise<number> {
  let seen = 0;
  let token: string | undefined;
  do {
    const path = collectionPath(tenant.resource, undefined, { limit: PAGE_SIZE, continue: token });
    const { text } = await transport.send({ method: 'GET', path, accept: JSON_TYPE });
    const body = parseObject(text, 'TenantList') as { items: readonly { metadata: unknown }[]; metadata: { continue?: string } };
    seen += body.items.map(({ metadata }) => projectMetadata(metadata)).length;
    token = body.metadata.continue;
  } while (token !== undefined);
  return seen;
}

async function watchWhole(transport: Transport, count: number): Promise<number> {
  const path = collectionPath(tenant.resource, undefined, { watch: true, resourceVersion: '0', timeoutSeconds: 60 });
  const opened = await transport.open({ method: 'GET', path, accept: JSON_TYPE });
  if (opened.kind === 'answer') throw new Error(`the watch was answered with ${opened.status}`);
  let seen = 0;
  for await (const line of splitLines(opened.chunks, MAX_BODY_BYTES)) {
    const { object } = parseObject(line) as { object: { metadata: unknown } };
    if (projectMetadata(object.metadata).name !== '') seen += 1;
    if (seen === count) break;
  }
  opened.close();
  return seen;
}

function rowsOf(by: string, samples: ReadonlyMap<Form, readonly Sample[]>, count: number): (string | number)[][] {
  const figures = FORMS.map((form) => {
    const all = samples.get(form) ?? [];
    return {
      form,
      bytes: median(all.map(({ bytes }) => bytes)) / count,
      perSecond: count / median(all.map(({ seconds }) => seconds)),
      cpu: (median(all.map(({ cpuSeconds }) => cpuSeconds)) / count) * 1e6,
    };
  });
  const full = figures.at(-1);
  return figures.map(({ form, bytes, perSecond, cpu }) => {
    return [by, form, bytes, perSecond, cpu, bytes / (full?.bytes ?? 1), cpu / (full?.cpu ?? 1)];
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
