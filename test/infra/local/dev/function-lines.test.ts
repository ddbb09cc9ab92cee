import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventOfLine } from '../../../../infra/local/dev/function-lines.ts';

describe('eventOfLine', () => {
  it('makes an outcome of every line that has a branch', () => {
    const line = { level: 'INFO', message: 'record processed', branch: 'reconciled', key: 'east//Tenant//acme', attempt: 1 };
    assert.deepEqual(eventOfLine(JSON.stringify(line)), { kind: 'outcome', line });
  });

  const silent: readonly string[] = [
    '{"level":"INFO","message":"heartbeat","branch":"heartbeat"}',
    '{"_aws":{"Timestamp":1},"Records":1}',
    '',
    '   ',
  ];
  for (const text of silent) it(`is silent about ${JSON.stringify(text)}`, () => assert.equal(eventOfLine(text), undefined));

  const notices: readonly [text: string, level: string, shown: string][] = [
    ['hello', 'info', 'function: hello'],
    ['{ not json', 'info', 'function: { not json'],
    ['{"level":"INFO","message":"of an author","key":"k"}', 'info', 'function: of an author'],
    ['{"level":"WARN","message":"circuit opened","code":"timeout"}', 'warn', 'function: circuit opened (timeout)'],
    ['{"level":"ERROR","message":"not sent","code":"a","error":"b"}', 'error', 'function: not sent (a: b)'],
    ['{"level":"ERROR","message":"not sent","error":{"name":"E"}}', 'error', 'function: not sent'],
  ];
  for (const [text, level, shown] of notices)
    it(`makes a notice of ${text}`, () => assert.deepEqual(eventOfLine(text), { kind: 'notice', level, text: shown }));

  it('cuts a line that has no end', () => {
    const event = eventOfLine('x'.repeat(5_000));
    assert.ok(event?.kind === 'notice' && event.text.length < 600);
  });
});
