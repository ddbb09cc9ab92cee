import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { ConfigError, TerminalError } from '../../../functions/core/errors.ts';
import { defineResource, parseObject, RESERVED_STATUS_FIELDS } from '../../../functions/core/resource-definition.ts';
import { declaration, metadataOf, ticketOf, tickets } from './tickets.ts';

describe('defineResource', () => {
  it('fills in what Kubernetes would', () => {
    assert.equal(tickets.singular, 'ticket');
    assert.deepEqual([tickets.shortNames, tickets.columns], [[], []]);
  });

  const column = { name: 'Phase', type: 'string', jsonPath: '.status.phase' } as const;
  const refused: { name: string; change: object; code: string; says: RegExp }[] = [
    { name: 'a spec that is no object', change: { spec: z.string() }, code: 'schema-no-object', says: /spec/ },
    { name: 'a status that is no object', change: { status: z.string() }, code: 'schema-no-object', says: /status/ },
    { name: 'a kind in lower case', change: { kind: 'ticket' }, code: 'bad-resource-name', says: /kind "ticket"/ },
    { name: 'a group without a dot', change: { group: 'lab' }, code: 'bad-resource-name', says: /group "lab"/ },
    { name: 'a version with a dot', change: { version: 'v1.2' }, code: 'bad-resource-name', says: /version/ },
    { name: 'a plural with capitals', change: { plural: 'Tickets' }, code: 'bad-resource-name', says: /plural/ },
    { name: 'a short name with a space', change: { shortNames: ['t k'] }, code: 'bad-resource-name', says: /shortNames/ },
    { name: 'a scope of neither kind', change: { scope: 'Global' }, code: 'bad-resource-name', says: /scope/ },
    { name: 'a column of the framework', change: { columns: [{ ...column, name: 'Ready' }] }, code: 'column-twice', says: /Ready/ },
    { name: 'a column twice', change: { columns: [column, column] }, code: 'column-twice', says: /Phase/ },
    { name: 'a path without a dot', change: { columns: [{ ...column, jsonPath: 'status' }] }, code: 'bad-column', says: /Phase/ },
    ...RESERVED_STATUS_FIELDS.map((field) => ({
      name: `a status field ${field}`,
      change: { status: z.object({ [field]: z.string() }) },
      code: 'reserved-status-field',
      says: new RegExp(field),
    })),
  ];
  for (const { name, change, code, says } of refused) {
    it(`refuses ${name}`, () => {
      assert.throws(
        () => defineResource({ ...declaration, ...change } as typeof declaration),
        (error) => error instanceof ConfigError && error.code === code && says.test(error.message),
      );
    });
  }
});

describe('parseObject', () => {
  it('applies defaults and drops fields that the schema does not have', () => {
    const { spec } = parseObject(tickets, ticketOf({ spec: { title: 'leak', gone: true } }));
    assert.deepEqual(spec, { title: 'leak', size: 1 });
  });

  it('freezes everything it hands out', () => {
    const object = parseObject(tickets, ticketOf({ metadata: metadataOf({ labels: { a: 'b' } }), status: { phase: 'Open' } }));
    assert.throws(() => Object.assign(object.spec, { size: 2 }), TypeError);
    assert.throws(() => Object.assign(object.metadata.labels as object, { a: 'c' }), TypeError);
    assert.throws(() => Object.assign(object.status as object, { phase: 'Shut' }), TypeError);
  });

  it('hands out no managedFields, which nobody may send back', () => {
    const { metadata } = parseObject(tickets, ticketOf({ metadata: metadataOf({ managedFields: [{ manager: 'x' }] }) }));
    assert.deepEqual(metadata, metadataOf());
  });

  it('drops the fields of an old status that do not fit, and those of the framework', () => {
    const status = { phase: 7, count: 3, observedGeneration: 1, conditions: [] };
    assert.deepEqual(parseObject(tickets, ticketOf({ status })).status, { count: 3 });
  });

  it('has no status where the object has none', () => {
    assert.equal(parseObject(tickets, ticketOf()).status, undefined);
  });

  it('names the fields of a spec that does not fit, and quotes no value', () => {
    const secret = 's';
    assert.throws(
      () => parseObject(tickets, ticketOf({ spec: { title: secret, size: 'hunter2' } })),
      (error) => {
        assert.ok(error instanceof TerminalError);
        assert.equal(error.code, 'invalid-object');
        assert.match(error.message, /spec\.title: .*; spec\.size: /);
        assert.doesNotMatch(error.message + JSON.stringify(error.facts), /hunter2/);
        return true;
      },
    );
  });

  it('refuses an object without the spec it needs', () => {
    assert.throws(
      () => parseObject(tickets, ticketOf({ spec: undefined })),
      (error) => error instanceof TerminalError && /spec\.title/.test(error.message),
    );
  });
});
