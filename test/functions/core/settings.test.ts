import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SETTINGS, VARIABLES, variableOf } from '../../../functions/core/settings.ts';

describe('VARIABLES', () => {
  it('are the variables of the documentation, by name', () => {
    assert.deepEqual(
      VARIABLES.map(({ name }) => name.replace('DOGWATCH_', '')),
      [
        ...['CLUSTERS', 'QUEUE_URL', 'BULK_QUEUE_URL', 'DEAD_LETTER_QUEUE_URL', 'HTTP_ADDRESS'],
        ...['WATCH_TIMEOUT_SECONDS', 'WATCH_GRACE_SECONDS', 'PROBE_SECONDS', 'HEAL_AFTER_SECONDS', 'RESYNC_SECONDS'],
        ...['HOLD_MAX_SECONDS', 'HEARTBEAT_SECONDS', 'CIRCUIT_OPEN_SECONDS', 'CIRCUIT_OPEN_MAX_SECONDS', 'RETRY_BASE_SECONDS'],
        ...['MAX_AGE_SECONDS', 'RECORD_DEADLINE_SECONDS', 'FUNCTION_TIMEOUT_SECONDS', 'MAX_ATTEMPTS', 'OVERTAKEN_MAX_ATTEMPTS'],
      ],
    );
  });

  for (const { name, field, unit, default: byDefault, bounds, meaning } of VARIABLES) {
    it(`${name} has a unit in its name, a meaning, and a default within its bounds`, () => {
      assert.equal(name, variableOf(field));
      assert.ok(meaning.length > 10);
      assert.equal(name.endsWith('_SECONDS'), unit === 'seconds');
      const { schema } = SETTINGS[field];
      if (byDefault !== undefined) assert.ok(schema.safeParse(byDefault).success);
      if (bounds === undefined) return;
      const [least, most] = bounds;
      const accepted = [least - 1, least, most, most + 1].map((value) => schema.safeParse(String(value)).success);
      assert.deepEqual(accepted, [false, true, true, false]);
    });
  }
});
