/**
 * Plans a scripted queue of so many letters in this process, which `node --expose-gc` runs, and prints what that keeps in memory as a line of
 * JSON: when all letters are held, and when their objects are read. Letters, receipt handles and objects are as large as real ones.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../functions/adapters/clock.ts';
import type { KubernetesClient } from '../../functions/adapters/kubernetes/port.ts';
import type { LetterQueue, ReceivedLetter } from '../../functions/adapters/letter-queue-port.ts';
import { makePlan } from '../../functions/cli/replay/plan.ts';
import type { KubernetesObject } from '../../functions/core/reconciler.ts';
import { reconcilers } from '../../functions/reconcilers/index.ts';
import { openPlanFile } from '../../functions/replay/plan-file.ts';
import { LETTERS_URL } from '../fakes/letter-queue.ts';
import { letterBody } from '../functions/replay/letters.ts';

/** Of SQS: a base64 text of so many bytes. */
const HANDLE_BYTES = 309;
const [letters = 0, objects = 1] = process.argv.slice(2).map(Number);

const bodies = Array.from({ length: Math.min(letters, 1000) }, () => letterBody({ uid: randomUUID() }, { message: 'm'.repeat(200) }));
let sent = 0;
let keptMb = 0;

/** What is still in use, and not what is only not cleared away yet. */
function usedMb(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}
const beforeMb = usedMb();

function notice(): void {
  keptMb = Math.max(keptMb, usedMb() - beforeMb);
}

function letter(at: number): ReceivedLetter {
  const body = (bodies[at % bodies.length] as string).replace('"name":"t"', `"name":"tenant-${at % objects}"`);
  const receiptHandle = randomBytes(HANDLE_BYTES).toString('base64');
  // Flat, as the SDK has it; randomUUID leaves it in pieces.
  const messageId = JSON.parse(JSON.stringify(randomUUID())) as string;
  return { messageId, receiptHandle, body, attributes: { code: 'invalid' }, sentAtMs: Date.now(), receiveCount: 1 };
}

const depth = { visible: letters, hidden: 0, delayed: 0 };
const description = { url: LETTERS_URL, arn: 'arn', retentionSeconds: 1_209_600, depth, redriveTargetArn: undefined, sourceUrls: [] };
const queue: LetterQueue = {
  describe: async () => description,
  receive: async () => {
    const ten = Array.from({ length: Math.min(10, letters - sent) }, (_, at) => letter(sent + at));
    sent += ten.length;
    await new Promise((resolve) => setImmediate(resolve));
    return ten;
  },
  release: async () => {
    if (keptMb === 0) notice();
    return [];
  },
  extend: async () => [],
  remove: async () => [],
  close() {},
};

const conditions = ['Ready', 'Synced'].map((type) => ({ type, status: 'False', reason: 'Invalid', message: 'm'.repeat(200) }));
const client = {
  get: async (_: unknown, { name }: { name: string }): Promise<KubernetesObject> => {
    await new Promise((resolve) => setImmediate(resolve));
    const metadata = { name, uid: 'uid-of-the-present-object', resourceVersion: '1', generation: 2 };
    return { apiVersion: 'platform.example/v1', kind: 'Tenant', metadata, status: { conditions } };
  },
} as unknown as KubernetesClient;

const path = join(tmpdir(), `dogwatch-bench-plan-${process.pid}.json`);
const quiet = (): void => {};
const desk = { queue, description, clock: systemClock, stop: new AbortController().signal, json: true, print: quiet, say: quiet };
const file = openPlanFile(path);
const write: typeof file.write = (head, items) => {
  notice();
  file.write(head, items);
};
await makePlan(desk, { clientOf: () => client, reconcilers }, {}, { ...file, write });
rmSync(path);
console.log(JSON.stringify({ keptMb }));
