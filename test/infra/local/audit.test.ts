import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { countRequests, readAudit } from '../../../infra/local/control-plane/audit.ts';

let dir: string;
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'dogwatch-test-'));
});
after(() => rmSync(dir, { recursive: true, force: true }));

function line(overrides: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    kind: 'Event',
    level: 'Metadata',
    auditID: 'a1',
    stage: 'ResponseComplete',
    requestURI: '/apis/platform.example/v1/tenants/acme/status?force=true',
    verb: 'patch',
    user: { username: 'dogwatch', groups: ['system:masters'] },
    userAgent: 'dogwatch/0.1',
    objectRef: { resource: 'tenants', name: 'acme', apiGroup: 'platform.example', apiVersion: 'v1', subresource: 'status' },
    responseStatus: { metadata: {}, code: 200 },
    requestReceivedTimestamp: '2026-11-29T12:00:00.123456Z',
    ...overrides,
  });
}

function audit(...text: string[]): string {
  const path = join(dir, 'audit.log');
  writeFileSync(path, text.join(''));
  return path;
}

describe('readAudit', () => {
  it('returns who did what to which resource, when, and what came of it', () => {
    assert.deepEqual(readAudit(audit(line(), '\n')), [
      {
        user: 'dogwatch',
        verb: 'patch',
        group: 'platform.example',
        resource: 'tenants',
        subresource: 'status',
        name: 'acme',
        namespace: '',
        code: 200,
        at: new Date('2026-11-29T12:00:00.123Z'),
        uri: '/apis/platform.example/v1/tenants/acme/status?force=true',
        userAgent: 'dogwatch/0.1',
      },
    ]);
  });

  it('counts a watch once: when it is answered, not again at its end', () => {
    const started = line({ auditID: 'w', verb: 'watch', stage: 'ResponseStarted' });
    const path = audit(started, '\n', line(), '\n', line({ auditID: 'w', verb: 'watch' }), '\n');
    assert.deepEqual(
      readAudit(path).map(({ verb }) => verb),
      ['watch', 'patch'],
    );
    assert.equal(readAudit(audit(started, '\n')).length, 1, 'also while it runs');
  });

  it('does not count the end of a watch that began before the time asked for', () => {
    const started = line({ auditID: 'w', verb: 'watch', stage: 'ResponseStarted' });
    const path = audit(started, '\n', line({ auditID: 'w', verb: 'watch' }), '\n');
    assert.deepEqual(readAudit(path, new Date('2026-11-29T12:00:01Z')), []);
  });

  it('leaves out a last line that is still being written', () => {
    assert.equal(readAudit(audit(line(), '\n', line().slice(0, 50))).length, 1);
    assert.deepEqual(readAudit(audit('')), []);
  });

  it('throws on a line that is no audit event', () => {
    assert.throws(() => readAudit(audit('{"some":"thing"}\n')));
  });
});

describe('countRequests', () => {
  it('counts by user, verb, target and code; a path without resource is its own target', () => {
    const ready = line({ verb: 'get', requestURI: '/readyz?verbose', objectRef: undefined });
    assert.deepEqual(countRequests(readAudit(audit(line(), '\n', line(), '\n', ready, '\n'))), {
      'dogwatch get /readyz 200': 1,
      'dogwatch patch tenants/status 200': 2,
    });
  });
});
