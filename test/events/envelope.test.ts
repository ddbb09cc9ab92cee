import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  buildEnvelope,
  byteSize,
  type Decoded,
  decodeEnvelope,
  ENVELOPE_MAX_BYTES,
  type Envelope,
  type EnvelopeData,
  encodeEnvelope,
  escapeForSqs,
  HISTORY_MAX,
  REASONS,
  type Reason,
} from '../../events/envelope.ts';

const frame = { id: 'c5f2a6ce-4f6f-4f0e-9d0e-0a6f2a0b7d11', now: new Date('2026-03-01T10:00:00.123Z') };
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

function data(overrides: Partial<EnvelopeData> = {}): EnvelopeData {
  return {
    cluster: 'east',
    group: 'platform.example',
    version: 'v1',
    plural: 'tenants',
    kind: 'Tenant',
    name: 'acme',
    uid: '2b7a4f9c-6f0d-4a53-9f55-6d1f1f3b8c21',
    resourceVersion: '9007199254740993',
    generation: 2,
    reason: 'generation-changed',
    mustRun: false,
    attempt: 1,
    firstSeenAt: '2026-03-01T09:59:59.900Z',
    ...overrides,
  };
}

function reconcile(decoded: Decoded): Envelope {
  assert.equal(decoded.kind, 'reconcile', JSON.stringify(decoded));
  return (decoded as Decoded & { kind: 'reconcile' }).envelope;
}

/** What SQS takes: tab, line feed, carriage return, and XML 1.0's characters. @see SQS SendMessage */
const SQS_CHARACTERS = /^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u;

/** Any UTF-16 there is: lone surrogates, controls, noncharacters, and text that looks like an escape. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.nat(0xffff), { maxLength: 12 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('\ufffe', '\uffff', '\ud800', '\udc00x', 'a\u0000b', '\\ufffe', '\\\ufffe', '\u007f\u0085', '😀\ud83d', '"\\"', '\u2028'),
);
const name = anyText.filter((text) => text !== '' && text.isWellFormed() && !/[/%]/.test(text) && text !== '.' && text !== '..');

describe('an envelope', () => {
  it('is a CloudEvents 1.0 event that refers to its object', () => {
    assert.deepEqual(buildEnvelope(data({ namespace: 'ns' }), { ...frame, traceparent }), {
      specversion: '1.0',
      id: frame.id,
      type: 'dev.dogwatch.reconcile.v1',
      source: '/clusters/east',
      subject: 'platform.example/v1/tenants/ns/acme',
      time: '2026-03-01T10:00:00.123Z',
      traceparent,
      data: data({ namespace: 'ns' }),
    });
  });

  it('has an empty place for the namespace of a cluster-scoped kind, and none for a trace that is not there', () => {
    const envelope = buildEnvelope(data(), frame);
    assert.equal(envelope.subject, 'platform.example/v1/tenants//acme');
    assert.equal('traceparent' in envelope, false);
  });

  it('comes back as it was, whatever characters it holds, in characters that SQS takes (B29)', () => {
    const content = fc.record({
      name,
      namespace: name,
      code: anyText,
      unknown: anyText,
      key: anyText.filter((text) => text !== '__proto__'),
    });
    fc.assert(
      fc.property(content, ({ name, namespace, code, unknown, key }) => {
        const failed = { attempt: 1, at: '2026-03-01T10:00:00Z', code, [`x${key}`]: unknown };
        const envelope = buildEnvelope(data({ name, namespace, history: [failed], [`x${key}`]: { inner: unknown } }), frame);
        const body = encodeEnvelope(envelope);
        assert.match(body, SQS_CHARACTERS);
        assert.deepEqual(reconcile(decodeEnvelope(body)), envelope);
      }),
    );
  });

  it('keeps fields that this release does not know, at every level', () => {
    const body = JSON.stringify({
      ...buildEnvelope(data({ later: { a: [1] } }), frame),
      dataschema: 'urn:x',
      data: { ...data({ later: { a: [1] } }), history: [{ attempt: 1, at: '2026-03-01T10:00:00Z', code: 'x', cost: 3 }] },
    });
    assert.deepEqual(JSON.parse(encodeEnvelope(reconcile(decodeEnvelope(body)))), JSON.parse(body));
  });
});

describe('the size of an envelope', () => {
  const DNS_SUBDOMAIN = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
  const label = 'n'.repeat(63);
  const code = 'resource-version-too-large-and-then-some-more-words-to-fill-it-up';
  const largest = data({
    cluster: label,
    group: DNS_SUBDOMAIN,
    version: label,
    plural: label,
    kind: label,
    namespace: label,
    name: DNS_SUBDOMAIN,
    resourceVersion: '18446744073709551615',
    generation: Number.MAX_SAFE_INTEGER,
    reason: (Object.keys(REASONS) as Reason[]).reduce((a, b) => (a.length < b.length ? b : a)),
    attempt: 1_000_000,
    heldSeconds: 100_000_000,
    notBefore: '2026-03-01T10:00:00Z',
    lane: 'bulk',
    failures: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`field-conflict-${index}`, 1_000_000])),
    history: Array.from({ length: HISTORY_MAX }, () => ({ attempt: 1_000_000, at: '2026-03-01T10:00:00.123Z', code })),
  });

  it('stays within the bound for the longest names that the API server takes and a full history', (t) => {
    assert.equal(DNS_SUBDOMAIN.length, 253);
    const body = encodeEnvelope(buildEnvelope(largest, { ...frame, traceparent }));
    t.diagnostic(`${byteSize(body)} bytes of ${ENVELOPE_MAX_BYTES}`);
    assert.ok(byteSize(body) <= ENVELOPE_MAX_BYTES - 300, `${byteSize(body)} bytes`);
    assert.equal(reconcile(decodeEnvelope(body)).data.name, DNS_SUBDOMAIN);
  });

  it('is refused over the bound, in bytes and not in characters (B30)', () => {
    const room = ENVELOPE_MAX_BYTES - byteSize(encodeEnvelope(buildEnvelope(data({ pad: '' }), frame)));
    assert.equal(byteSize(encodeEnvelope(buildEnvelope(data({ pad: 'x'.repeat(room) }), frame))), ENVELOPE_MAX_BYTES);
    assert.throws(() => encodeEnvelope(buildEnvelope(data({ pad: 'x'.repeat(room + 1) }), frame)), RangeError);
    assert.throws(() => encodeEnvelope(buildEnvelope(data({ pad: '€'.repeat(room / 2) }), frame)), RangeError);
  });
});

describe('escapeForSqs', () => {
  it('changes no value that JSON text stands for, and nothing in text that SQS takes already', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.json().map((text) => JSON.parse(text) as unknown),
        ),
        (value) => {
          const json = JSON.stringify(value);
          assert.deepEqual(JSON.parse(escapeForSqs(json)), JSON.parse(json));
          assert.match(escapeForSqs(json), SQS_CHARACTERS);
        },
      ),
    );
    assert.equal(escapeForSqs('"grüß 😀 \\n"'), '"grüß 😀 \\n"');
  });
});

describe('decodeEnvelope', () => {
  const good = buildEnvelope(data(), frame);
  const withData = (fields: Record<string, unknown>): string => JSON.stringify({ ...good, data: { ...good.data, ...fields } });
  const rows: readonly [name: string, body: string, expected: Decoded['kind'], reason?: RegExp][] = [
    ['an empty body', '', 'foreign', /not JSON/],
    ['half a body', '{oops', 'foreign', /not JSON/],
    ['null', 'null', 'foreign', /not a JSON object/],
    ['an array', '[]', 'foreign', /not a JSON object/],
    ['a string', '"dev.dogwatch.reconcile.v1"', 'foreign', /not a JSON object/],
    ['no type', '{}', 'foreign', /no CloudEvents type/],
    ['somebody else’s event', '{"type":"com.example.order"}', 'foreign', /not ours/],
    ['a newer version of ours', JSON.stringify({ ...good, type: 'dev.dogwatch.reconcile.v2' }), 'newer'],
    ['another type of ours', '{"type":"dev.dogwatch.heartbeat.v1"}', 'newer'],
    ['a type too long to be ours', JSON.stringify({ type: `dev.dogwatch.${'x'.repeat(200)}` }), 'foreign', /not ours/],
    ['no data', JSON.stringify({ ...good, data: undefined }), 'foreign', /field data/],
    ['the largest resourceVersion', withData({ resourceVersion: '18446744073709551615' }), 'reconcile'],
    ['a resourceVersion over 64 bits', withData({ resourceVersion: '18446744073709551616' }), 'foreign', /data\.resourceVersion/],
    ['a resourceVersion of 40 digits', withData({ resourceVersion: '9'.repeat(40) }), 'foreign', /data\.resourceVersion/],
    ['an attempt that cannot be counted on', withData({ attempt: Number.MAX_SAFE_INTEGER }), 'foreign', /data\.attempt/],
    ['a count that cannot be counted on', withData({ failures: { transient: Number.MAX_SAFE_INTEGER } }), 'foreign', /data\.failures/],
    ['a time with thousands of digits', withData({ firstSeenAt: `2026-11-29T00:00:00.${'1'.repeat(5000)}Z` }), 'foreign', /firstSeenAt/],
    ['a cluster that is no label', withData({ cluster: 'East_1' }), 'foreign', /field data\.cluster/],
    ['a version that is no number', withData({ resourceVersion: 'abc' }), 'foreign', /field data\.resourceVersion/],
    ['a reason that a release adds', withData({ reason: 'lease-expired' }), 'newer'],
    ['no reason', withData({ reason: undefined }), 'foreign', /field data\.reason/],
    ['an unknown reason, and more that is wrong', withData({ reason: 'lease-expired', attempt: 0 }), 'foreign', /field data\./],
    ['attempt 0', withData({ attempt: 0 }), 'foreign', /field data\.attempt/],
    ['attempt as text', withData({ attempt: '7' }), 'foreign', /field data\.attempt/],
    ['a local time', withData({ firstSeenAt: '2026-03-01T10:00:00+01:00' }), 'foreign', /field data\.firstSeenAt/],
    ['a name that leads elsewhere', withData({ name: '..' }), 'foreign', /field data\.name/],
    ['a name with a slash', withData({ name: 'a/status' }), 'foreign', /field data\.name/],
    ['a namespace that is half an emoji', withData({ namespace: '\ud83d' }), 'foreign', /field data\.namespace/],
    ['a plural with a query', withData({ plural: 'tenants%3Fwatch' }), 'foreign', /field data\.plural/],
    ['an empty name', withData({ name: '' }), 'foreign', /field data\.name/],
    ['the core group', withData({ group: '' }), 'reconcile'],
    ['times of another precision', withData({ firstSeenAt: '2026-03-01T10:00:00.123456Z' }), 'reconcile'],
    ['no uid, as a person may send it', withData({ uid: undefined }), 'reconcile'],
    ['nesting that could not be written again', `{"type":"x","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'foreign', /nested/],
  ];
  for (const [name, body, expected, reason] of rows) {
    it(`takes ${name} as ${expected}`, () => {
      const decoded = decodeEnvelope(body);
      assert.equal(decoded.kind, expected, JSON.stringify(decoded));
      if (decoded.kind === 'foreign') assert.match(decoded.reason, reason ?? /$^/);
    });
  }

  it('does not quote the body in its reason', () => {
    for (const fields of [
      { cluster: 'S3CRET' },
      { reason: 'S3CRET' },
      { attempt: 'S3CRET' },
      { firstSeenAt: 'S3CRET' },
      { failures: { S3CRET: -1 } },
    ]) {
      assert.doesNotMatch(JSON.stringify(decodeEnvelope(withData(fields))), /S3CRET/);
    }
  });

  it('never throws, for any text and any JSON', () => {
    const broken = fc
      .tuple(fc.constantFrom(...Object.keys(good.data)), fc.jsonValue())
      .map(([field, value]) => withData({ [field]: value }));
    const kinds = new Set(['reconcile', 'newer', 'foreign']);
    fc.assert(
      fc.property(fc.oneof(anyText, fc.json(), broken), (body) => {
        const decoded = decodeEnvelope(body);
        assert.ok(kinds.has(decoded.kind));
        if (decoded.kind === 'reconcile') assert.equal(typeof encodeEnvelope(decoded.envelope), 'string');
      }),
    );
  });
});

describe('the samples', () => {
  const folder = new URL('../../events/samples/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  for (const file of ['created.json', 'retry.json', 'letter.json']) {
    it(`contain ${file}`, () => assert.ok(files.includes(file)));
  }
  for (const file of files) {
    it(`${file} decodes and encodes to what it was`, () => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const envelope = reconcile(decodeEnvelope(text));
      const body = encodeEnvelope(envelope);
      assert.deepEqual(JSON.parse(body), JSON.parse(text));
      const rebuilt = buildEnvelope(envelope.data, { id: envelope.id, now: new Date(envelope.time), traceparent: envelope.traceparent });
      assert.deepEqual(rebuilt, envelope);
    });
  }
});
