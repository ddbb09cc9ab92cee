/**
 * `dogwatch replay plan` in front of a real dead-letter queue: letters that the function wrote, one that SQS moved, and bodies of others, in
 * two clusters, one of which is down by then. Each is classed by what became of its object since, and the queue still holds all of them.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { buildEnvelope, encodeEnvelope } from '../../events/envelope.ts';
import type { PlanHead, PlanItem } from '../../functions/replay/plan.ts';
import { exampleData } from '../functions/core/example-data.ts';
import { type Api, until } from './api.ts';
import { connectQueues, queueUrlOf } from './depth.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { type System, startSystem } from './system.ts';
import { changeTenant, conditionOf, createTenant, gone, settled, TENANTS } from './tenants.ts';

/** Of namespaces that are in the way of a tenant's. */
const FAILING = ['failing', 'healed', 'gone', 'again'];
const LETTERS = 8;

describe('dogwatch replay plan', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-replay-'));
  let system: System;
  let moved: string;

  before(async () => {
    system = await startSystem({ clusters: ['east', 'west'], maxReceiveCount: 2 });
    const west = system.apiOf('west');
    await createTenant(system.api, 'quiet');
    await Promise.all([...FAILING.map((name) => fail(system.api, name)), fail(west, 'far')]);
    await sendTo('live', 'nobody knows this text');
    await settled(system.api, 'quiet');
    await until('the letters are written', async () => (await system.depth('dead-letters')).visible === FAILING.length + 2 || undefined);
    await mend();
    await system.drained();
    await Promise.all([system.functionHost.stop(), system.watcher.stop()]);
    moved = await moveBySqs();
    await sendTo('dead-letters', JSON.stringify({ ...JSON.parse(envelopeOf('quiet')), type: 'dev.dogwatch.reconcile.v9' }));
    await system.lab.clusters.get('west')?.stopApiServer('kill');
  });
  after(async () => {
    await system?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** A tenant whose namespace is somebody else's. */
  async function fail(api: Api, name: string): Promise<void> {
    const made = await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `tenant-${name}` } });
    assert.equal(made.status, 201, made.body.message);
    await createTenant(api, name);
    await until(
      `tenant ${name} is given up`,
      async () => conditionOf((await api.get(`${TENANTS}/${name}`)).body, 'Stalled')?.status === 'True' || undefined,
    );
  }

  /** What happens to the tenants after their letters were written. */
  async function mend(): Promise<void> {
    const { api } = system;
    await api.delete('/api/v1/namespaces/tenant-healed');
    for (const name of ['gone', 'again']) await api.delete(`${TENANTS}/${name}`);
    await Promise.all(['gone', 'again'].map((name) => gone(api, `${TENANTS}/${name}`)));
    // Another of the name, which nobody is in the way of.
    await Promise.all([api.delete('/api/v1/namespaces/tenant-again'), gone(api, '/api/v1/namespaces/tenant-healed')]);
    await gone(api, '/api/v1/namespaces/tenant-again');
    await createTenant(api, 'again');
    await changeTenant(api, 'healed', { owner: 'otto@acme.example' });
    await Promise.all(['again', 'healed'].map((name) => settled(api, name)));
  }

  function envelopeOf(name: string): string {
    const data = exampleData({ cluster: 'east', name, uid: undefined, generation: 1 });
    return encodeEnvelope(buildEnvelope(data, { id: `by-hand-${name}`, now: new Date() }));
  }

  async function sendTo(queue: 'live' | 'dead-letters', MessageBody: string): Promise<string> {
    const client = connectQueues(system.lab);
    const { MessageId = '' } = await client.send(new SendMessageCommand({ QueueUrl: queueUrlOf(system.lab, queue), MessageBody }));
    client.destroy();
    return MessageId;
  }

  /** Its receives are used up while no function runs. */
  async function moveBySqs(): Promise<string> {
    const id = await sendTo('live', envelopeOf('quiet'));
    const client = connectQueues(system.lab);
    const receive = new ReceiveMessageCommand({ QueueUrl: queueUrlOf(system.lab, 'live'), VisibilityTimeout: 0 });
    await until('SQS has moved the message', async () => {
      await client.send(receive);
      return (await system.depth('dead-letters')).visible === LETTERS - 1 || undefined;
    });
    client.destroy();
    return id;
  }

  function replay(...words: string[]): RunningProcess {
    const all: Readonly<Record<string, string>> = system.lab.envFor('admin');
    const needed = Object.entries(all).filter(([name]) => /^AWS_|^DOGWATCH_/.test(name));
    return startProcess(
      [process.execPath, join(process.cwd(), 'functions/cli/bin.js'), 'replay', ...words],
      Object.fromEntries(needed),
      dir,
    );
  }

  it('classes every letter right, and the queue still holds all of them, for everybody to see', async () => {
    const command = replay('plan');
    assert.equal(await command.exited, 0, command.lines.join('\n'));
    const path = command.lines.at(-1)?.replace(/^plan: /, '') ?? '';
    const plan = JSON.parse(readFileSync(path, 'utf8')) as PlanHead & { items: PlanItem[] };
    assert.deepEqual(
      plan.items.map(({ class: name, reason, object, letters }) => [name, reason, object?.name, letters.map(({ code }) => code).join()]),
      [
        ['to-replay', 'not-settled', 'failing', 'child-not-owned'],
        ['converged', 'settled', 'healed', 'child-not-owned'],
        ['converged', 'settled', 'quiet', 'undiagnosed'],
        ['gone', 'gone', 'gone', 'child-not-owned'],
        ['superseded', 'other-uid', 'again', 'child-not-owned'],
        ['unknown', 'unreachable', 'far', 'child-not-owned'],
        ['unreadable', 'foreign', undefined, 'bad-envelope'],
        ['unreadable', 'newer-type', undefined, 'newer-type'],
      ],
    );
    const [first, , third] = plan.items;
    assert.deepEqual(
      third?.letters.map(({ messageId }) => messageId),
      [moved],
    );
    assert.equal(first?.state?.conditions.find(({ type }) => type === 'Ready')?.reason, 'ChildNotOwned');
    assert.deepEqual([plan.letters, plan.receivedLetters, plan.warnings], [LETTERS, LETTERS, []]);
    assert.deepEqual(await system.depth('dead-letters'), { visible: LETTERS, inFlight: 0, delayed: 0, total: LETTERS });
  });

  it('lists them, and shows one beside its object', async () => {
    const ls = replay('ls', '--kind', 'tenant', '--code', 'child-not-owned');
    assert.equal(await ls.exited, 0, ls.lines.join('\n'));
    assert.match(ls.lines.join('\n'), /^east +Tenant +child-not-owned +4 +4 /m);
    assert.match(ls.lines.join('\n'), /^west +Tenant +child-not-owned +1 +1 /m);
    const show = replay('show', 'tenant/healed');
    assert.equal(await show.exited, 0, show.lines.join('\n'));
    const text = show.lines.join('\n');
    assert.match(text, /verdict +converged: reconciled since/);
    assert.match(text, /generation 2, 1 change of the spec since the letter's 1; reconciled 2/);
    assert.match(text, /condition +Ready=True Reconciled/);
    assert.equal((await system.depth('dead-letters')).visible, LETTERS);
  });
});
