/** An envelope's data for tests: a change of tenant `t`, seen for the first time at noon. */
import type { EnvelopeData } from '../../../events/envelope.ts';

export const NOON = '2026-03-01T12:00:00.000Z';

/** `seconds` after noon. */
export function after(seconds: number): Date {
  return new Date(Date.parse(NOON) + seconds * 1000);
}

export function exampleData(overrides: Partial<EnvelopeData> = {}): EnvelopeData {
  return {
    cluster: 'east',
    group: 'platform.example',
    version: 'v1',
    plural: 'tenants',
    kind: 'Tenant',
    name: 't',
    uid: 'uid-1',
    resourceVersion: '100',
    generation: 2,
    reason: 'generation-changed',
    mustRun: false,
    attempt: 1,
    firstSeenAt: NOON,
    ...overrides,
  };
}
