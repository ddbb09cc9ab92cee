import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  admit,
  afterAnswer,
  afterFailure,
  afterProbe,
  type Circuit,
  type CircuitLimits,
  CLOSED,
  type ClusterFailure,
  callResult,
  cutShortResult,
  secondsUntil,
} from '../../../functions/core/circuit.ts';
import { ConflictError, TerminalError, TransientError } from '../../../functions/core/errors.ts';

const LIMITS: CircuitLimits = { openSeconds: 10, openMaxSeconds: 300 };
const failure = (code = 'timeout', retryAfterSeconds?: number): ClusterFailure => ({ kind: 'failure', code, retryAfterSeconds });

/** The circuit after so many failures in a row at `nowMs`. */
function failed(times: number, nowMs = 0, circuit: Circuit = CLOSED): Circuit {
  let next = circuit;
  for (let count = 0; count < times; count += 1) next = afterFailure(next, failure(), nowMs, LIMITS);
  return next;
}

/** The open circuit, asked once its wait is over. */
function probed(circuit: Circuit): { circuit: Circuit; nowMs: number } {
  assert.equal(circuit.kind, 'open');
  const nowMs = circuit.kind === 'open' ? circuit.untilMs : 0;
  const admission = admit(circuit, nowMs, LIMITS);
  assert.equal(admission.kind, 'probe');
  return { circuit: admission.kind === 'probe' ? admission.circuit : circuit, nowMs };
}

function waitOf(circuit: Circuit, nowMs: number): number | undefined {
  const admission = admit(circuit, nowMs, LIMITS);
  return admission.kind === 'wait' ? admission.seconds : undefined;
}

describe('a closed circuit', () => {
  it('opens with the fifth failure in a row, and not before', () => {
    assert.deepEqual(admit(failed(4), 0, LIMITS).kind, 'go');
    assert.deepEqual(failed(5), { kind: 'open', era: 1, failures: 5, openSeconds: 10, code: 'timeout', untilMs: 10_000 });
  });

  it('begins to count anew with any answer', () => {
    assert.equal(failed(4, 0, afterAnswer(failed(4))).kind, 'closed');
    assert.equal(failed(5, 0, afterAnswer(failed(4))).kind, 'open');
  });

  it('stays open for as long as any of the five asked', () => {
    const first = afterFailure(CLOSED, failure('throttled', 120), 1_000, LIMITS);
    const open = failed(4, 2_000, first);
    assert.equal(waitOf(open, 2_000), 119);
    assert.equal(open.kind === 'open' && open.openSeconds, 10, 'what the server asked for is not what doubles');
    assert.equal(waitOf(failed(5, 2_000, afterAnswer(first)), 2_000), 10, 'an answer takes the wish back');
  });
});

describe('an open circuit', () => {
  it('says how long to wait, in whole seconds of 1 or more, and lets one try when that is over', () => {
    const open = failed(5, 1_000);
    assert.deepEqual(
      [1_000, 1_001, 10_000, 10_999, 11_000].map((nowMs) => waitOf(open, nowMs)),
      [10, 10, 1, 1, undefined],
    );
  });

  it('is not kept open by those who were under way when it opened', () => {
    const open = failed(5);
    assert.equal(afterFailure(open, failure('throttled', 900), 9_000, LIMITS), open);
    assert.equal(afterAnswer(open), open);
  });
});

describe('a probe', () => {
  it('is one at a time: the others wait for the first wait again, however long the circuit was open', () => {
    let { circuit, nowMs } = probed(failed(5));
    for (let round = 0; round < 6; round += 1) ({ circuit, nowMs } = probed(afterFailure(circuit, failure(), nowMs, LIMITS)));
    assert.equal(waitOf(circuit, nowMs), 10);
  });

  it('doubles the wait with its first failure, up to the longest', () => {
    let circuit = failed(5);
    const waits: (number | undefined)[] = [];
    for (let round = 0; round < 7; round += 1) {
      const probe = probed(circuit);
      circuit = afterFailure(probe.circuit, failure('unreachable'), probe.nowMs, LIMITS);
      waits.push(waitOf(circuit, probe.nowMs));
    }
    assert.deepEqual(waits, [20, 40, 80, 160, 300, 300, 300]);
    assert.equal(circuit.kind === 'open' && circuit.failures, 12);
    assert.equal(circuit.kind === 'open' && circuit.code, 'unreachable');
  });

  it('keeps it open for as long as the server asks', () => {
    const { circuit, nowMs } = probed(failed(5));
    assert.equal(waitOf(afterFailure(circuit, failure('throttled', 77), nowMs, LIMITS), nowMs), 77);
  });

  it('closes it when it ends after an answer, and the next outage begins with the first wait', () => {
    const { circuit, nowMs } = probed(failed(5));
    const closed = afterProbe(afterAnswer(circuit), true, nowMs);
    assert.equal(closed.kind, 'closed');
    assert.equal(waitOf(failed(4, nowMs, closed), nowMs), undefined);
    assert.equal(waitOf(failed(5, nowMs, closed), nowMs), 10);
  });

  it('that asked nothing lets the next one try at once', () => {
    const { circuit, nowMs } = probed(failed(5));
    assert.equal(admit(afterProbe(circuit, false, nowMs), nowMs, LIMITS).kind, 'probe');
  });

  it('that has failed changes nothing any more by its end', () => {
    const { circuit, nowMs } = probed(failed(5));
    const open = afterFailure(circuit, failure(), nowMs, LIMITS);
    assert.equal(afterProbe(open, true, nowMs), open);
  });
});

describe('callResult', () => {
  for (const code of ['unreachable', 'timeout', 'throttled', 'unauthorized']) {
    it(`takes ${code} for a failure of the cluster`, () => {
      const error = new TransientError(code, 'text', { retryAfterSeconds: 7 });
      assert.deepEqual(callResult(error), { kind: 'failure', code, retryAfterSeconds: 7 });
    });
  }

  it('takes whatever else the server said for an answer', () => {
    const answers = [
      undefined,
      ...['server-error', 'forbidden', 'not-served', 'expired', 'namespace-terminating', 'resource-version-too-large', 'bad-response'].map(
        (code) => new TransientError(code, 'text'),
      ),
      new ConflictError('resource-version-conflict', 'text'),
      new TerminalError('invalid', 'text'),
      new TerminalError('final-server-error', 'text'),
    ];
    for (const error of answers) assert.deepEqual(callResult(error), { kind: 'answer' });
  });

  it('learns nothing from what is no error of ours', () => {
    for (const error of [new TypeError('boom'), 'text', null]) assert.deepEqual(callResult(error), { kind: 'nothing' });
  });

  it('takes a call that our deadline ended for a time-out, unless it had hardly begun', () => {
    assert.deepEqual(cutShortResult(500), { kind: 'failure', code: 'timeout', retryAfterSeconds: undefined });
    assert.deepEqual(cutShortResult(499), { kind: 'nothing' });
  });
});

describe('a circuit, whatever happens', () => {
  const step = fc.record({
    what: fc.constantFrom('ask', 'answer', 'fail', 'end', 'end unanswered'),
    afterMs: fc.nat(40_000),
    retryAfterSeconds: fc.option(fc.nat(600), { nil: undefined }),
  });

  it('never has two probes, never keeps anybody longer than its limits and the server say, and opens after five failures only', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let circuit: Circuit = CLOSED;
        let nowMs = 0;
        let inARow = 0;
        let askedUntilMs = 0;
        for (const { what, afterMs, retryAfterSeconds } of steps) {
          nowMs += afterMs;
          const before = circuit;
          if (what === 'ask') {
            const admission = admit(circuit, nowMs, LIMITS);
            if (admission.kind !== 'wait') circuit = admission.circuit;
            assert.equal(admission.kind === 'probe', before.kind === 'open' && before.untilMs <= nowMs);
            if (admission.kind !== 'wait') continue;
            const longestMs = Math.max(nowMs + LIMITS.openMaxSeconds * 1000, askedUntilMs);
            assert.ok(Number.isInteger(admission.seconds) && admission.seconds >= 1);
            assert.ok(admission.seconds <= secondsUntil(longestMs, nowMs));
          } else if (what === 'answer') {
            circuit = afterAnswer(circuit);
            inARow = 0;
          } else if (what === 'fail') {
            askedUntilMs = Math.max(askedUntilMs, nowMs + (retryAfterSeconds ?? 0) * 1000);
            circuit = afterFailure(circuit, failure('throttled', retryAfterSeconds), nowMs, LIMITS);
            inARow += 1;
            if (before.kind === 'closed') assert.equal(circuit.kind === 'open', inARow >= 5);
          } else {
            circuit = afterProbe(circuit, what === 'end', nowMs);
          }
          if (before.kind === 'closed' && circuit.kind === 'closed') assert.equal(circuit.failures, inARow);
          if (circuit.kind === 'closed' && before.kind !== 'closed') inARow = 0;
          assert.equal(circuit.era - before.era, Number(circuit.kind === 'open' && before.kind !== 'open' && what === 'fail'));
        }
      }),
    );
  });
});
