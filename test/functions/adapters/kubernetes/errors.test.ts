import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorOf, isAbsent, type RequestContext, retryAfterOf } from '../../../../functions/adapters/kubernetes/errors.ts';
import type { Answer } from '../../../../functions/adapters/kubernetes/transport.ts';
import type { ConflictError, TransientError } from '../../../../functions/core/errors.ts';
import { answerOf } from './samples.ts';

const widget = { kind: 'Widget', plural: 'widgets' };
const at = { namespace: 'lab', name: 'x' };
const NOW_MS = Date.parse('2026-01-01T00:00:00Z');

function context(verb: RequestContext['verb'], guard: RequestContext['guard'] = {}): RequestContext {
  return { verb, type: widget, at, guard };
}

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'answer', status, headers: { 'content-type': 'application/json', ...headers }, text };
}

function status(code: number, more: Record<string, unknown> = {}): Answer {
  return answer(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'made up', code, ...more });
}

describe('errorOf, on recorded answers', () => {
  const rows: [sample: string, context: RequestContext, name: string, code: string][] = [
    ['unauthorized', context('get'), 'TransientError', 'unauthorized'],
    ['forbidden', context('get'), 'TransientError', 'forbidden'],
    ['get-resource-unknown', context('get'), 'TransientError', 'not-served'],
    ['create-namespace-missing', context('apply'), 'TransientError', 'namespace-missing'],
    ['get-not-acceptable', context('list'), 'TerminalError', 'bad-request'],
    ['unsupported-media-type', context('apply'), 'TerminalError', 'bad-request'],
    ['request-too-large', context('apply'), 'TerminalError', 'bad-request'],
    ['create-over-etcd-limit', context('apply'), 'TerminalError', 'final-server-error'],
    ['status-apply-unknown-field', context('apply-status'), 'TerminalError', 'final-server-error'],
    ['get-resource-version-invalid', context('get'), 'TerminalError', 'final-server-error'],
    ['get-resource-version-too-large', context('get'), 'TransientError', 'resource-version-too-large'],
    ['status-apply-field-manager-conflict', context('apply-status', { resourceVersion: true }), 'ConflictError', 'field-manager-conflict'],
    [
      'status-apply-resource-version-conflict',
      context('apply-status', { resourceVersion: true }),
      'ConflictError',
      'resource-version-conflict',
    ],
    [
      'update-optimistic-lock-conflict',
      context('patch', { uid: true, resourceVersion: true }),
      'ConflictError',
      'resource-version-conflict',
    ],
    ['delete-uid-precondition', context('delete', { uid: true }), 'ConflictError', 'uid-conflict'],
    ['apply-create-with-uid', context('apply', { uid: true }), 'ConflictError', 'uid-conflict'],
    ['create-already-exists', context('create'), 'ConflictError', 'uid-conflict'],
    ['create-validation-failure', context('apply'), 'TerminalError', 'invalid'],
    ['status-apply-validation-failure', context('apply-status'), 'TerminalError', 'invalid'],
    ['finalizer-add-while-deleting', context('patch', { uid: true, resourceVersion: true }), 'TerminalError', 'invalid'],
    ['watch-list-invalid', context('watch'), 'TerminalError', 'invalid'],
    ['too-many-requests-fairness', context('get'), 'TransientError', 'throttled'],
    ['too-many-requests-max-in-flight', context('get'), 'TransientError', 'throttled'],
    ['watch-cache-not-ready', context('watch'), 'TransientError', 'throttled'],
    ['list-continue-expired', context('list'), 'TransientError', 'expired'],
  ];
  for (const [name, asked, errorName, code] of rows) {
    it(`reads ${name} on ${asked.verb} as ${errorName} ${code}`, () => {
      const error = errorOf(answerOf(name), asked, NOW_MS);
      assert.deepEqual([error.name, error.code], [errorName, code]);
      assert.equal(error.facts['httpStatus'], answerOf(name).status);
    });
  }

  it('takes Retry-After from the header of a plain-text 429', () => {
    assert.equal((errorOf(answerOf('too-many-requests-fairness'), context('get'), NOW_MS) as TransientError).retryAfterSeconds, 7);
  });

  it('takes Retry-After from the details where there is no header', () => {
    const { text } = answerOf('watch-cache-not-ready');
    const error = errorOf(answer(429, text), context('watch'), NOW_MS) as TransientError;
    assert.equal(error.retryAfterSeconds, 1);
  });
});

describe('errorOf, on answers as the documents have them', () => {
  const rows: [what: string, answer: Answer, context: RequestContext, name: string, code: string][] = [
    [
      'a terminating namespace',
      status(403, { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] } }),
      context('apply'),
      'TransientError',
      'namespace-terminating',
    ],
    [
      'another object behind the uid of an apply',
      status(422, { reason: 'Invalid', details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }] } }),
      context('apply', { uid: true }),
      'ConflictError',
      'uid-conflict',
    ],
    [
      'a uid refused where none was demanded',
      status(422, { reason: 'Invalid', details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }] } }),
      context('apply'),
      'TerminalError',
      'invalid',
    ],
    ['a 422 without details', status(422, { reason: 'Invalid' }), context('patch', { uid: true }), 'TerminalError', 'invalid'],
    [
      'uid and resourceVersion both demanded',
      status(409, { reason: 'Conflict' }),
      context('apply', { uid: true, resourceVersion: true }),
      'ConflictError',
      'resource-version-conflict',
    ],
    [
      'a conflict although nothing was demanded, as of a quota',
      status(409, { reason: 'Conflict', details: { kind: 'resourcequotas', name: 'q' } }),
      context('apply'),
      'TransientError',
      'server-error',
    ],
    ['a failing webhook', status(500, { reason: 'InternalError' }), context('apply'), 'TransientError', 'server-error'],
    [
      'a 500 with a final text but a reason',
      status(500, { reason: 'InternalError', message: 'etcdserver: request is too large' }),
      context('apply'),
      'TransientError',
      'server-error',
    ],
    [
      'a 500 without a reason and another text',
      status(500, { message: 'etcdserver: leader changed' }),
      context('apply'),
      'TransientError',
      'server-error',
    ],
    ['a 503', status(503, { reason: 'ServiceUnavailable' }), context('get'), 'TransientError', 'server-error'],
    ['a 504 of a load balancer', answer(504, '<html>'), context('get'), 'TransientError', 'server-error'],
    ['a 408', answer(408, ''), context('get'), 'TransientError', 'server-error'],
    ['a redirect to a login page', answer(302, ''), context('get'), 'TransientError', 'server-error'],
    ['a 410 of a watch', status(410, { reason: 'Expired' }), context('watch'), 'TransientError', 'expired'],
    ['a 405', status(405, { reason: 'MethodNotAllowed' }), context('apply'), 'TerminalError', 'bad-request'],
  ];
  for (const [what, refused, asked, name, code] of rows) {
    it(`reads ${what} as ${name} ${code}`, () => {
      const error = errorOf(refused, asked, NOW_MS);
      assert.deepEqual([error.name, error.code], [name, code]);
    });
  }
});

describe('errorOf', () => {
  it('names what was asked', () => {
    const { facts } = errorOf(answerOf('forbidden'), context('get'), NOW_MS);
    const { serverMessage, ...rest } = facts;
    assert.deepEqual(rest, { httpStatus: 403, httpReason: 'Forbidden', verb: 'get', kind: 'Widget', namespace: 'lab', name: 'x' });
    assert.match(String(serverMessage), /^widgets\.lab\.example\.com "i1" is forbidden/);
  });

  it('does not quote a body that is not a Status', () => {
    const error = errorOf(answer(500, { kind: 'Secret', data: { password: 'hunter2' } }), context('get'), NOW_MS);
    assert.doesNotMatch(JSON.stringify(error.facts) + error.message, /hunter2/);
  });

  it('does not repeat what the server says of a Secret', () => {
    const asked: RequestContext = { verb: 'apply', type: { kind: 'Secret', plural: 'secrets' }, at };
    const error = errorOf(status(422, { reason: 'Invalid', message: 'data: Invalid value: "hunter2"' }), asked, NOW_MS) as ConflictError;
    assert.doesNotMatch(JSON.stringify(error.facts) + error.message, /hunter2/);
  });

  it('cuts a long text at 256 characters', () => {
    const error = errorOf(answer(500, 'x'.repeat(10_000), { 'content-type': 'text/plain' }), context('get'), NOW_MS);
    assert.ok(String(error.facts['serverMessage']).length <= 256);
  });
});

describe('isAbsent', () => {
  const rows: [what: string, answer: Answer, absent: boolean][] = [
    ['an object that is not there', answerOf('get-object-missing'), true],
    ['a CRD without status subresource', answerOf('status-apply-no-subresource'), true],
    ['a kind that is not served', answerOf('get-resource-unknown'), false],
    ['the page of a proxy', answer(404, '<html>not found</html>', { 'content-type': 'text/html' }), false],
    ['another JSON', answer(404, { error: 'NotFound' }), false],
  ];
  for (const [what, given, absent] of rows) it(`is ${absent} for ${what}`, () => assert.equal(isAbsent(given), absent));
});

describe('retryAfterOf', () => {
  const rows: [header: string | undefined, seconds: number | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['7', 7],
    ['0', 0],
    ['1.2', 2],
    ['-1', undefined],
    ['soon', undefined],
    ['999999', 3600],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ];
  for (const [header, seconds] of rows) {
    it(`reads ${JSON.stringify(header)} as ${seconds}`, () => assert.equal(retryAfterOf(header, NOW_MS), seconds));
  }
});
