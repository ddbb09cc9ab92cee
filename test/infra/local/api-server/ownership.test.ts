import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ApiFault } from '../../../../infra/local/api-server/api-fault.ts';
import { isJsonObject, type JsonObject, type JsonSchema } from '../../../../infra/local/api-server/api-object.ts';
import { mergeApplied, trackUpdate } from '../../../../infra/local/api-server/field-manager.ts';
import { customKind } from './lab-kinds.ts';

/** A write, and what the Go library made of the object: a new state, the same one, or a conflict. */
interface Step {
  readonly kind: 'apply' | 'update';
  readonly manager: string;
  readonly force: boolean;
  readonly object: JsonObject;
  readonly live?: JsonObject;
  readonly same?: true;
  readonly error?: string;
}

const { schema, cases } = JSON.parse(readFileSync(new URL('samples/ownership.json', import.meta.url), 'utf8')) as {
  schema: JsonSchema;
  cases: Step[][];
};
const thing = customKind('Thing', schema, { hasStatus: false });

/** Times are not recorded, and entries of one operation stand in the order of their times. */
function timeless(object: JsonObject): JsonObject {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const { managedFields, ...rest } = metadata;
  if (!Array.isArray(managedFields)) return { ...object, metadata: rest };
  const entries = (managedFields as { manager: string; operation: string; time?: string }[]).map(({ time: _, ...entry }) => entry);
  return { ...object, metadata: { ...rest, managedFields: entries.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)) } };
}

const nameOf = ({ operation, manager }: { operation: string; manager: string }): string => operation + manager;

function write(live: JsonObject | undefined, { kind, manager, force, object }: Step): JsonObject {
  const writer = { kind: thing, subresource: '', manager, time: '2026-11-29T15:38:44Z' } as const;
  return kind === 'apply' ? mergeApplied(writer, live, object, force) : trackUpdate(writer, live, object);
}

/** The library tells of managers in no order. */
const lines = (text: string): string[] => text.split('\n').sort();

describe('ownership, against what the Go library was recorded to make of random writes', () => {
  for (const [i, steps] of cases.entries()) {
    it(`is the same in case ${i}, of ${steps.length} writes`, () => {
      let live: JsonObject | undefined;
      for (const step of steps) {
        const { error } = step;
        if (error !== undefined) {
          assert.throws(
            () => write(live, step),
            (fault) => fault instanceof ApiFault && lines(fault.message).join() === lines(error).join(),
          );
          continue;
        }
        const next = write(live, step);
        assert.deepEqual(timeless(next), timeless(step.live ?? live ?? {}));
        live = next;
      }
    });
  }
});
