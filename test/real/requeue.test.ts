/** An object that wants to run again: one chain of wake-ups, whatever comes in between. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { crdYaml } from '../../functions/cli/crds.ts';
import { type ApiObject, until } from './api.ts';
import { beatResource } from './reconcilers/beating.ts';
import { runsOf } from './runs.ts';
import { type System, startSystem } from './system.ts';
import { isSettled } from './tenants.ts';

const BEATS = '/apis/test.dogwatch.dev/v1/namespaces/default/beats';
const PATH = `${BEATS}/heart`;
const CHILD = '/api/v1/namespaces/default/configmaps/heart';
const EVERY_SECONDS = 5;
const CHILD_EVENTS = 20;
/** Some fold into one run, and the runs go by while wake-ups come due. */
const CHILD_EVERY_MS = 600;
const PERIODS = 3;

describe('an object that asks to be run again every few seconds', () => {
  let system: System;

  before(async () => {
    system = await startSystem({
      reconcilers: 'test/real/reconcilers/beating.ts',
      crds: crdYaml(beatResource),
      env: { DOGWATCH_HOLD_MAX_SECONDS: '1' },
    });
    await until('the kind is served', async () => (await system.api.get(BEATS)).status === 200 || undefined);
    const body = { apiVersion: 'test.dogwatch.dev/v1', kind: 'Beat', metadata: { name: 'heart' } };
    const answer = await system.api.post(BEATS, { ...body, spec: { everySeconds: EVERY_SECONDS, text: 'one' } });
    assert.equal(answer.status, 201, answer.body.message);
    await until('its first run has ended', () => count('created') > 0 || undefined);
  });
  after(async () => {
    await system?.stop();
  });

  const textOfChild = async (): Promise<string> => ((await system.api.get(CHILD)).body as unknown as { data: { text: string } }).data.text;
  const read = async (): Promise<ApiObject> => (await system.api.get(PATH)).body;
  const next = async (): Promise<string> => String((await read()).status?.['nextReconcileTime']);
  const count = (reason: string, from = 0): number =>
    runsOf(system, 'default/heart')
      .slice(from)
      .filter((run) => run.reason === reason).length;

  /** The messages that there are, at a moment when none of them is being worked on. */
  async function messages(): Promise<number> {
    const isOver = async (): Promise<number | undefined> => {
      const [live, bulk] = await Promise.all([system.depth('live'), system.depth('bulk')]);
      const isQuiet = live.visible + live.inFlight + bulk.visible + bulk.inFlight === 0;
      return isQuiet && (await system.metric('dogwatch_outbox_depth')) === 0 ? live.total + bulk.total : undefined;
    };
    // What a killed function held comes back after its visibility time-out.
    return until('nothing but delayed messages', isOver, 60_000);
  }

  /**
   * How many wake-ups come within some periods; each must be the one that the object waits for. One more than periods may be: lines
   * do not come as evenly as runs. A second chain would double them.
   */
  async function beatsWithin(periods: number): Promise<number> {
    const from = runsOf(system, 'default/heart').length;
    const began = Date.now();
    await until('some periods', () => Date.now() > began + periods * EVERY_SECONDS * 1000 || undefined, 120_000);
    const runs = runsOf(system, 'default/heart').slice(from);
    assert.deepEqual(
      [...new Set(runs.map(({ reason, branch, apiRequestCount }) => `${reason} ${branch} ${apiRequestCount > 0}`))],
      ['requeue requeue-after true'],
    );
    return runs.length;
  }

  it('is woken once a period, by the one message that there is', async (t) => {
    const beats = await beatsWithin(PERIODS);
    t.diagnostic(`${beats} wake-ups in ${PERIODS * EVERY_SECONDS} s`);
    assert.ok(beats >= 1 && beats <= PERIODS + 1, `${beats} wake-ups`);
    assert.equal(await messages(), 1);
  });

  it(`keeps exactly one chain through ${CHILD_EVENTS} events of its child`, async (t) => {
    const from = runsOf(system, 'default/heart').length;
    const began = Date.now();
    for (let event = 1; event <= CHILD_EVENTS; event += 1) {
      assert.equal((await system.api.merge(CHILD, { data: { text: `drifted ${event}` } })).status, 200);
      await until('the next event', () => Date.now() >= began + CHILD_EVERY_MS * event || undefined, 5_000, 20);
    }
    await until('the child is as it was', async () => (await textOfChild()) === 'one' || undefined);
    const runs = runsOf(system, 'default/heart').slice(from);
    const sent = runs.filter(({ disposition }) => disposition === 'requeue').length;
    t.diagnostic(
      `${count('child-changed', from)} runs for the child and ${count('requeue', from)} wake-ups; ${sent} of these runs sent for the next`,
    );
    assert.equal(await messages(), 1);
    const beats = await beatsWithin(PERIODS);
    t.diagnostic(`${beats} wake-ups in ${PERIODS * EVERY_SECONDS} s afterwards`);
    assert.ok(beats >= 1 && beats <= PERIODS + 1, `${beats} wake-ups`);
  });

  it('keeps it when the spec changes and function and watcher are killed in between', async (t) => {
    for (const text of ['two', 'three', 'four']) {
      system.functionHost.signal('SIGKILL');
      system.watcher.signal('SIGKILL');
      await Promise.all([system.functionHost.exited, system.watcher.exited]);
      assert.equal((await system.api.merge(PATH, { spec: { text } })).status, 200);
      await Promise.all([system.startWatcher(), system.startFunction()]);
      await until('it is settled again', async () => isSettled(await read()) || undefined, 60_000);
    }
    await until('one message is left', async () => (await messages()) === 1 || undefined, 90_000, 1_000);
    const beats = await beatsWithin(PERIODS);
    t.diagnostic(`${beats} wake-ups in ${PERIODS * EVERY_SECONDS} s afterwards`);
    assert.ok(beats >= 1 && beats <= PERIODS + 1, `${beats} wake-ups`);
    assert.equal(await messages(), 1);
  });

  it('ends with the Plan that asks no more', async () => {
    const before = await next();
    assert.match(before, /Z$/);
    assert.equal((await system.api.merge(PATH, { spec: { everySeconds: 0 } })).status, 200);
    await until('it waits for nothing', async () => (await next()) === 'undefined' || undefined);
    await system.drained();
    assert.equal((await system.depth('dead-letters')).total, 0);
  });
});
