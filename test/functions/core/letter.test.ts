import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { buildEnvelope, type EnvelopeData, encodeEnvelope } from '../../../events/envelope.ts';
import { buildHeartbeat, encodeHeartbeat } from '../../../events/heartbeat.ts';
import { clusterName } from '../../../events/resource.ts';
import { deadLetter, foreignLetter } from '../../../functions/core/dead-letter.ts';
import { type Letter, readLetter } from '../../../functions/core/letter.ts';
import { after, exampleData } from './example-data.ts';

const FRAME = { id: 'id-1', now: after(60) };
const bodyOf = (data: EnvelopeData): string => encodeEnvelope(buildEnvelope(data, FRAME));
const failure = { code: 'invalid', errorClass: 'TerminalError', message: 'spec.quota: must be set' };
const own = deadLetter({ data: exampleData(), failure, now: after(60), functionVersion: '7', generationSeen: 3, wrote: true });

/** The body with some of its JSON changed. */
function changed(body: string, change: (json: { type?: unknown; data: Record<string, unknown> }) => void): string {
  const json = JSON.parse(body) as { data: Record<string, unknown> };
  change(json);
  return JSON.stringify(json);
}

const seen = (letter: Letter): object => ({ kind: letter.kind, code: letter.code });

describe('readLetter', () => {
  const rows: readonly [name: string, body: string, attributes: Record<string, string>, wanted: object][] = [
    ['our own, with its diagnosis', bodyOf(own.data), own.attributes, { kind: 'diagnosed', code: 'invalid' }],
    ['our own without attributes', bodyOf(own.data), {}, { kind: 'diagnosed', code: 'invalid' }],
    ['one that SQS moved by itself', bodyOf(exampleData()), {}, { kind: 'undiagnosed', code: 'undiagnosed' }],
    [
      'one whose diagnosis has no code',
      bodyOf({ ...own.data, diagnosis: { ...own.data.diagnosis, code: '' } as never }),
      {},
      { kind: 'diagnosed', code: 'undiagnosed' },
    ],
    [
      'one with fields of a newer release',
      bodyOf({ ...own.data, colour: 'blue', diagnosis: { ...own.data.diagnosis, colour: 'blue' } as never }),
      {},
      { kind: 'diagnosed', code: 'invalid' },
    ],
    [
      'one of an older release, whose diagnosis had fewer fields',
      changed(bodyOf(own.data), ({ data }) => {
        data['diagnosis'] = { code: 'invalid' };
      }),
      {},
      { kind: 'undiagnosed', code: 'invalid' },
    ],
    [
      'an older type',
      changed(bodyOf(exampleData()), (json) => {
        json.type = 'dev.dogwatch.reconcile.v0';
      }),
      {},
      { kind: 'other-release', code: 'older-type' },
    ],
    [
      'a newer type',
      changed(bodyOf(exampleData()), (json) => {
        json.type = 'dev.dogwatch.reconcile.v2';
      }),
      {},
      { kind: 'other-release', code: 'newer-type' },
    ],
    ['a type that is new altogether', '{"type":"dev.dogwatch.census.v1"}', {}, { kind: 'other-release', code: 'newer-type' }],
    [
      'a reason that is new',
      changed(bodyOf(exampleData()), ({ data }) => {
        data['reason'] = 'moved';
      }),
      {},
      { kind: 'other-release', code: 'newer-type' },
    ],
    ['a heartbeat', encodeHeartbeat(buildHeartbeat(clusterName('east'), [], FRAME)), {}, { kind: 'heartbeat', code: 'heartbeat' }],
    [
      'a body that the function refused',
      'hello',
      foreignLetter({ body: 'hello', reason: 'body is not JSON', now: after(0), functionVersion: '7' }).attributes,
      { kind: 'foreign', code: 'bad-envelope' },
    ],
    ['a body of somebody else', '{"Records":[]}', {}, { kind: 'foreign', code: 'foreign' }],
    ['an event of somebody else', '{"type":"com.example.order","data":{}}', {}, { kind: 'foreign', code: 'foreign' }],
    [
      'an envelope that lacks a field',
      changed(bodyOf(own.data), ({ data }) => {
        delete data['name'];
      }),
      {},
      { kind: 'foreign', code: 'foreign' },
    ],
    ['nothing', '', {}, { kind: 'foreign', code: 'foreign' }],
  ];
  for (const [name, body, attributes, wanted] of rows) {
    it(`takes ${name} for what it is`, () => assert.deepEqual(seen(readLetter({ body, attributes })), wanted));
  }

  it('says what is wrong with a diagnosis, and keeps what the letter is about', () => {
    const body = changed(bodyOf(own.data), ({ data }) => {
      data['diagnosis'] = { code: 'invalid' };
    });
    const letter = readLetter({ body, attributes: {} });
    assert.ok(letter.kind === 'undiagnosed');
    assert.match(letter.note ?? '', /its diagnosis cannot be read: field data\.diagnosis\.errorClass/);
    assert.equal(letter.envelope.data.name, 't');
  });

  it('reads of another release where it is about, and no more than has a sane form', () => {
    const body = changed(bodyOf(exampleData({ namespace: 'team' })), (json) => {
      json.type = 'dev.dogwatch.reconcile.v9';
      Object.assign(json.data, { cluster: 'East!', name: 'x'.repeat(300) });
    });
    const letter = readLetter({ body, attributes: {} });
    assert.ok(letter.kind === 'other-release');
    assert.deepEqual([letter.type, letter.place], ['dev.dogwatch.reconcile.v9', { kind: 'Tenant', namespace: 'team' }]);
  });

  it("never quotes a body that is nobody's", () => {
    const letter = readLetter({ body: '{"type":"x","password":"hunter2"}', attributes: {} });
    assert.doesNotMatch(JSON.stringify(letter), /hunter2/);
  });

  it('cuts a code, and never throws, whatever there is', () => {
    assert.equal(readLetter({ body: 'x', attributes: { code: 'c'.repeat(500) } }).code.length, 64);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.option(fc.string(), { nil: undefined }), (body, code) => {
        readLetter({ body, attributes: code === undefined ? {} : { code } });
      }),
    );
  });
});
