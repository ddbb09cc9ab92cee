/**
 * Each refusal of an API server, met at each step of a run, over and over: the batch's other object settles every time, and the
 * one that meets it settles once it is over, or ends as one letter.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConflictError, TerminalError, TransientError } from '../../../functions/core/errors.ts';
import type { FaultMatch } from '../../fakes/kubernetes-client.ts';
import { Harness, widgets } from './harness.ts';
import { DEAD_LETTER_QUEUE_URL, QUEUE_URLS, rawRecord } from './records.ts';

const transient = (code: string, retryAfterSeconds?: number) => new TransientError(code, 'a fault', { retryAfterSeconds });

interface Fault {
  readonly error: Error;
  readonly branch: string;
  /** The first wait, in seconds. */
  readonly waits?: readonly [least: number, most: number];
  readonly steps?: readonly Step[];
}

type Step = 'read' | 'list' | 'child' | 'confirm';

const STEPS: Readonly<Record<Step, FaultMatch>> = {
  read: { verb: 'get', name: 'bad' },
  // Only the bad one lists: the set of children of the good one stays.
  list: { verb: 'list' },
  child: { verb: 'apply', name: 'widget-bad' },
  confirm: { verb: 'applyStatus', name: 'bad' },
};
const EVERY: readonly Step[] = ['read', 'list', 'child', 'confirm'];
const WRITES: readonly Step[] = ['child', 'confirm'];

const FAULTS: Readonly<Record<string, Fault>> = {
  '429': { error: transient('throttled'), branch: 'transient', waits: [1, 2] },
  '429 with a Retry-After of 50 s': { error: transient('throttled', 50), branch: 'transient', waits: [50, 50] },
  'a 5xx that may pass': { error: transient('server-error'), branch: 'transient', waits: [1, 2] },
  'a reset': { error: transient('unreachable'), branch: 'transient', waits: [1, 2] },
  'a time-out of a call': { error: transient('timeout'), branch: 'transient', waits: [1, 2] },
  'an answer that is none': { error: transient('bad-response'), branch: 'transient', waits: [1, 2] },
  'an answer that is too large': { error: transient('response-too-large'), branch: 'transient', waits: [1, 2] },
  '504, it has not come that far': {
    error: transient('resource-version-too-large'),
    branch: 'transient',
    waits: [1, 2],
    steps: ['read', 'list'],
  },
  '410 for a list token': { error: transient('expired'), branch: 'transient', waits: [1, 2], steps: ['list'] },
  '401': { error: transient('unauthorized'), branch: 'denied', waits: [15, 30] },
  '403': { error: transient('forbidden'), branch: 'denied', waits: [15, 30] },
  'a namespace that is terminating': { error: transient('namespace-terminating'), branch: 'waiting', waits: [2, 3], steps: WRITES },
  'a namespace that is missing': { error: transient('namespace-missing'), branch: 'waiting', waits: [2, 3], steps: WRITES },
  'a kind that is not served': { error: transient('not-served'), branch: 'unknown-target', waits: [300, 300] },
  'a conflict of field managers': {
    error: new ConflictError('field-manager-conflict', 'a fault'),
    branch: 'field-conflict',
    waits: [15, 30],
    steps: WRITES,
  },
  '422': { error: new TerminalError('invalid', 'a fault'), branch: 'refused', steps: WRITES },
  'a 500 that is final': { error: new TerminalError('final-server-error', 'a fault'), branch: 'refused', steps: WRITES },
  'another 4xx': { error: new TerminalError('bad-request', 'a fault'), branch: 'refused' },
};

/** Settled `good`, and `bad` that was never run; every call of `step` for the bad one throws while `isOn`. */
async function scene(step: Step, error: Error) {
  const harness = new Harness();
  harness.createWidget('good');
  await harness.deliver({ name: 'good', reason: 'created' });
  harness.createWidget('bad');
  const state = { isOn: true };
  const first = (): void => {
    if (state.isOn) throw error;
  };
  harness.east.fault(STEPS[step], { first }, 1e9);
  let changes = 0;
  /** Delivers what there is of the bad one beside a change of the good one, which settles. */
  async function deliver(body?: string) {
    changes += 1;
    harness.east.edit(widgets, { name: 'good' }, (draft) => {
      draft['touched'] = changes;
    });
    const bad = body === undefined ? harness.recordFor({ name: 'bad', reason: 'created' }) : rawRecord(body);
    assert.deepEqual(await harness.invoke(bad, harness.recordFor({ name: 'good' })), []);
    assert.equal(harness.status('good')['observedGeneration'], changes + 1, 'the good one settled');
    const line = harness.lines.findLast(({ fields, message }) => message === 'record processed' && String(fields['key']).endsWith('/bad'));
    return line?.fields ?? {};
  }
  /** The message of the bad one that was sent last, once its delay is over. */
  async function nextBody(): Promise<string> {
    const last = harness.queue.accepted.at(-1);
    assert.equal(last?.queueUrl, QUEUE_URLS.live);
    await harness.clock.advance((last?.message.delaySeconds ?? 0) * 1000);
    return last?.message.body ?? '';
  }
  return { harness, state, deliver, nextBody };
}

/** Of these a circuit is opened, which holds messages: functions/core/circuit.ts. */
const HELD = ['unreachable', 'timeout', 'throttled', 'unauthorized'];
const shown = new Set<string>();

/** Whether the end of something that waits like this was shown before. */
function isShown(branch: string, waits: Fault['waits'], code: string): boolean {
  const like = [branch, waits, ...(HELD.includes(code) ? [code] : [])].join();
  return shown.size === shown.add(like).size;
}

for (const [name, { error, branch, waits, steps = EVERY }] of Object.entries(FAULTS)) {
  describe(`a cluster that answers ${name}`, () => {
    for (const step of steps) {
      if (waits === undefined) {
        it(`at the ${step} gets its object a letter at once, and the next change of it settles`, async () => {
          const { harness, state, deliver } = await scene(step, error);
          const line = await deliver();
          assert.deepEqual([line['branch'], line['disposition'], line['because']], [branch, 'dead-letter', 'refused']);
          assert.equal(harness.queue.envelopes(DEAD_LETTER_QUEUE_URL).length, 1);
          state.isOn = false;
          harness.setConfig(['two'], 'bad');
          assert.equal((await deliver())['branch'], 'reconciled');
        });
        continue;
      }

      it(`at the ${step} has its object wait, which settles once that is over`, async () => {
        const { harness, state, deliver, nextBody } = await scene(step, error);
        const line = await deliver();
        assert.deepEqual([line['branch'], line['disposition'], line['attempt']], [branch, 'requeue', 1]);
        assert.equal(line['code'], (error as TransientError).code, 'named in the line');
        const [least, most] = waits;
        assert.ok(Number(line['delaySeconds']) >= least && Number(line['delaySeconds']) <= most, String(line['delaySeconds']));
        state.isOn = false;
        assert.equal((await deliver(await nextBody()))['branch'], 'reconciled');
        assert.deepEqual([harness.status('bad')['observedGeneration'], harness.configNames('bad')], [1, ['one']]);
      });

      // How a message ages is the same at every step, and for what waits alike; hundreds of tries take their time.
      if (step !== steps[0] || isShown(branch, waits, (error as TransientError).code)) continue;
      it(`at the ${step}, for ever, gets its object one letter when it is six hours old, after few tries`, async () => {
        const { harness, deliver, nextBody } = await scene(step, error);
        const startedAt = harness.clock.now().getTime();
        let line = await deliver();
        let runs = 1;
        for (; line['disposition'] === 'requeue' && runs < 500; runs += 1) line = await deliver(await nextBody());
        const hours = (harness.clock.now().getTime() - startedAt) / 3_600_000;
        assert.deepEqual([line['disposition'], line['because']], ['dead-letter', 'age']);
        assert.ok(hours >= 6 && hours < 6.5, `${hours} hours`);
        // The shortest of the longest waits is half of 60 s.
        assert.ok(runs < 6 * 120 + 20, `${runs} runs`);
        const letters = harness.queue.envelopes(DEAD_LETTER_QUEUE_URL);
        assert.deepEqual(
          [letters.length, letters[0]?.data.name, letters[0]?.data.diagnosis?.code],
          [1, 'bad', (error as TransientError).code],
        );
      });
    }
  });
}
