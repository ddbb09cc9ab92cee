import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ConfigError, ConflictError, TerminalError, TransientError } from '../../../functions/core/errors.ts';
import {
  FAILURE_MESSAGE_MAX,
  failureOf,
  newerTypeFailure,
  outcomeOf,
  overtakenFailure,
  type Stage,
} from '../../../functions/core/outcome.ts';

const STAGES: readonly Stage[] = ['read', 'author', 'write'];
const transient = (code: string) => new TransientError(code, 'text');
const conflict = (code: string) => new ConflictError(code, 'text');
const terminal = (code: string) => new TerminalError(code, 'text');

describe('outcomeOf', () => {
  const inEveryStage: readonly [error: Error & { code: string }, kind: string][] = [
    [transient('unreachable'), 'transient'],
    [transient('timeout'), 'transient'],
    [transient('throttled'), 'transient'],
    [transient('server-error'), 'transient'],
    [transient('resource-version-too-large'), 'transient'],
    [transient('a-code-of-the-author'), 'transient'],
    [transient('toString'), 'transient'],
    [transient('unauthorized'), 'denied'],
    [transient('forbidden'), 'denied'],
    [transient('namespace-terminating'), 'waiting'],
    [transient('namespace-missing'), 'waiting'],
    [transient('predecessor'), 'waiting'],
    [conflict('predecessor'), 'waiting'],
    [transient('not-served'), 'unknown-target'],
    [transient('unknown-cluster'), 'unknown-target'],
    [transient('unknown-kind'), 'unknown-target'],
    [conflict('field-manager-conflict'), 'field-conflict'],
    [terminal('invalid-plan'), 'author-error'],
    [terminal('invalid'), 'refused'],
    [terminal('invalid-object'), 'refused'],
    [terminal('final-server-error'), 'refused'],
    [terminal('bad-request'), 'refused'],
    [terminal('child-not-owned'), 'refused'],
    [new ConfigError('status-subresource-missing', 'text'), 'refused'],
    [new ConfigError('unreadable-kubeconfig', 'text'), 'unknown'],
    [transient('deadline'), 'unknown'],
  ];
  for (const [error, kind] of inEveryStage) {
    it(`calls ${error.name} ${error.code} ${kind} wherever it comes from`, () => {
      for (const stage of STAGES) assert.equal(outcomeOf(error, stage).kind, kind);
    });
  }

  it('calls an error of the author an author-error, with a code of its own', () => {
    assert.deepEqual(outcomeOf(new RangeError('bad quota'), 'author'), {
      kind: 'author-error',
      failure: { code: 'author-error', errorClass: 'RangeError', message: 'bad quota' },
    });
  });

  it('calls an invalid Plan the author’s in its class too, since a TerminalError would not be tried again', () => {
    const outcome = outcomeOf(terminal('invalid-plan'), 'author');
    assert.deepEqual(outcome, { kind: 'author-error', failure: { code: 'invalid-plan', errorClass: 'AuthorError', message: 'text' } });
  });

  it('calls an unclassified error outside of the author unknown', () => {
    for (const stage of ['read', 'write'] as const) {
      assert.deepEqual(outcomeOf(new TypeError('x is undefined'), stage), {
        kind: 'unknown',
        failure: { code: 'unclassified', errorClass: 'TypeError', message: 'x is undefined' },
      });
    }
  });

  it('names who overtook a run whose write met another version or another object', () => {
    assert.deepEqual(outcomeOf(conflict('resource-version-conflict'), 'write'), { kind: 'overtaken', by: 'newer-run' });
    assert.deepEqual(outcomeOf(conflict('uid-conflict'), 'write'), { kind: 'overtaken', by: 'replacement' });
  });

  it('calls an aborted run unknown with code deadline, whoever noticed', () => {
    for (const stage of ['read', 'write'] as const) {
      const outcome = outcomeOf(new DOMException('This operation was aborted', 'AbortError'), stage);
      assert.equal(outcome.kind, 'unknown');
      assert.equal('failure' in outcome && outcome.failure.code, 'deadline');
    }
    assert.equal(outcomeOf(new DOMException('timed out', 'TimeoutError'), 'write').kind, 'unknown');
  });

  it('holds a limit of the author against the author', () => {
    for (const name of ['TimeoutError', 'AbortError']) {
      assert.equal(outcomeOf(new DOMException('stopped', name), 'author').kind, 'author-error');
    }
  });
});

describe('failureOf', () => {
  it('brings the facts of our own errors, with HTTP status, reason and Retry-After apart', () => {
    const error = new TransientError('throttled', 'the API server is busy', {
      retryAfterSeconds: 4,
      facts: { httpStatus: 429, httpReason: 'TooManyRequests', cluster: 'east', tries: 2 },
    });
    assert.deepEqual(failureOf(error), {
      code: 'throttled',
      errorClass: 'TransientError',
      message: 'the API server is busy (cluster: east, tries: 2)',
      httpStatus: 429,
      httpReason: 'TooManyRequests',
      retryAfterSeconds: 4,
    });
  });

  it('keeps causes of our own errors out, since they may quote a body', () => {
    const cause = new SyntaxError('Unexpected token, "password"... is not valid JSON');
    assert.equal(failureOf(new TerminalError('bad-frame', 'a frame does not parse', { cause })).message, 'a frame does not parse');
  });

  it('brings the cause of an error that is not ours along', () => {
    const error = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') });
    assert.equal(failureOf(error).message, 'fetch failed: connect ECONNREFUSED 127.0.0.1:1');
  });

  it('does not say the same twice', () => {
    assert.equal(failureOf(new Error('outer: inner', { cause: new Error('inner') })).message, 'outer: inner');
  });

  const odd: readonly [name: string, thrown: unknown, errorClass: string, message: string][] = [
    ['a string', 'no quota', 'string', 'no quota'],
    ['undefined', undefined, 'undefined', 'undefined'],
    ['null', null, 'null', 'null'],
    ['a symbol', Symbol('s'), 'symbol', 'Symbol(s)'],
    ['a function', () => 1, 'function', 'a function was thrown'],
    ['an object without serialising it', { password: 'secret' }, 'object', 'an error without message was thrown'],
    ['an object that looks like an error', { name: 'Custom', message: 'm' }, 'Custom', 'm'],
    ['an object without prototype', Object.create(null), 'object', 'an error without message was thrown'],
    ['an error without message', new Error(''), 'Error', 'an error without message was thrown'],
  ];
  for (const [name, thrown, errorClass, message] of odd) {
    it(`reads ${name}`, () => assert.deepEqual(failureOf(thrown), { code: 'unclassified', errorClass, message }));
  }

  it('survives what cannot be read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const trap = Object.defineProperty(new Error('m'), 'message', {
      get() {
        throw new Error('no');
      },
    });
    for (const thrown of [proxy, trap]) {
      assert.deepEqual(failureOf(thrown), {
        code: 'unclassified',
        errorClass: 'object',
        message: 'something was thrown that cannot be read',
      });
    }
  });

  it('takes a code and facts of ours that are no text', () => {
    const thrown = new TransientError(5 as unknown as string, 'busy', { facts: { why: Symbol('x') as unknown as string } });
    assert.deepEqual(failureOf(thrown), { code: '5', errorClass: 'TransientError', message: 'busy (why: Symbol(x))' });
  });

  it('never throws and stays within its limits, whatever is thrown', () => {
    const anything = fc.oneof(
      fc.anything(),
      fc.string({ size: 'large' }).map((text) => new Error(text)),
      fc.string({ size: 'large' }).map((text) => new TerminalError('code', 'text', { facts: { text } })),
    );
    fc.assert(
      fc.property(anything, fc.constantFrom(...STAGES), (thrown, stage) => {
        const failure = failureOf(thrown);
        assert.ok(failure.message.length > 0 || thrown === '');
        assert.ok(failure.message.length <= FAILURE_MESSAGE_MAX && failure.message.isWellFormed());
        assert.ok(failure.errorClass.length <= 64);
        assert.ok(outcomeOf(thrown, stage).kind.length > 0);
      }),
    );
  });
});

describe('the failure of a message that was tried for too long', () => {
  it('says how to run its object again', () => {
    for (const { message } of [newerTypeFailure('dev.dogwatch.reconcile.v2'), overtakenFailure('newer-spec')])
      assert.match(message, /then change the spec, or set and remove the annotation dogwatch\.dev\/paused$/);
  });
});
