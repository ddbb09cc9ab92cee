import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../infra/local/api-server/api-object.ts';
import { applyObject } from '../../../../infra/local/api-server/write-object.ts';
import { bodyOf, configMap, contextOf, customKind, shortRefusal, Written, widget } from './lab-kinds.ts';

const A = { type: 'A', status: 'True' };
const untyped = (text: string) => [500, undefined, `failed to create typed patch object (/f1; lab.example.com/v1, Kind=Widget): ${text}`];
const bad = (text: string) => [400, 'BadRequest', text];
const wrong = (text: string) => [422, 'Invalid', `Widget.lab.example.com "f1" is invalid: ${text}`];

/** What the body has in place of the right thing, and the refusal. */
const ROWS: readonly { readonly name: string; readonly body: JsonObject; readonly refusal: readonly unknown[] }[] = [
  {
    name: 'another version',
    body: { apiVersion: 'lab.example.com/v2' },
    refusal: bad('invalid object type: lab.example.com/v2, Kind=Widget'),
  },
  { name: 'another kind', body: { kind: 'Gadget' }, refusal: bad('invalid object type: lab.example.com/v1, Kind=Gadget') },
  { name: 'no kind', body: { kind: undefined }, refusal: bad('invalid object type: lab.example.com/v1, Kind=') },
  { name: 'managedFields', body: { metadata: { name: 'f1', managedFields: [] } }, refusal: bad('metadata.managedFields must be nil') },
  {
    name: 'another name',
    body: { metadata: { name: 'other' } },
    refusal: bad('the name of the object (other) does not match the name on the URL (f1)'),
  },
  {
    name: 'another namespace',
    body: { metadata: { name: 'f1', namespace: 'elsewhere' } },
    refusal: bad('the namespace of the provided object does not match the namespace sent on the request'),
  },
  { name: 'an unknown field', body: { status: { typo: 1 } }, refusal: untyped('.status.typo: field not declared in schema') },
  {
    name: 'a text for a number',
    body: { status: { observedGeneration: 'one' } },
    refusal: untyped('.status.observedGeneration: expected numeric (int or float), got string'),
  },
  {
    name: 'a number for a text',
    body: { status: { phase: 5 } },
    refusal: untyped('.status.phase: expected string, got &value.valueUnstructured{Value:5}'),
  },
  { name: 'a number for a list', body: { status: { conditions: 5 } }, refusal: untyped('.status.conditions: expected list, got &{5}') },
  { name: 'a text for an object', body: { status: 'ready' }, refusal: untyped('.status: expected map, got &{ready}') },
  {
    name: 'two faults',
    body: { status: { a: 1, b: 2 } },
    refusal: untyped('errors:\n  .status.a: field not declared in schema\n  .status.b: field not declared in schema'),
  },
  {
    name: 'an item twice',
    body: { status: { conditions: [A, { ...A, status: 'False' }] } },
    refusal: untyped('.status.conditions: duplicate entries for key [type="A"]'),
  },
  {
    name: 'an item without its key',
    body: { status: { conditions: [{ status: 'True' }] } },
    refusal: untyped(
      '.status.conditions: element 0: associative list with keys has an element that omits all key fields ["type"] (and doesn\'t have default values for any key fields)',
    ),
  },
  {
    name: 'null',
    body: { status: { phase: null } },
    refusal: wrong('status.phase: Invalid value: "null": phase in body must be of type string: "null"'),
  },
  {
    name: 'a value out of the enum',
    body: { status: { conditions: [{ type: 'Ready', status: 'Maybe' }] } },
    refusal: wrong('status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"'),
  },
];

describe('a body that server-side apply refuses', () => {
  for (const { name, body, refusal } of ROWS) {
    it(`has ${name}`, () => {
      const f1 = Written.create(widget, 'f1');
      const context = contextOf({ manager: 'dogwatch', subresource: 'status', name: 'f1', force: true, fieldValidation: 'Strict' });
      assert.deepEqual(
        shortRefusal(() => applyObject(widget, f1.object, { ...bodyOf(widget, 'f1'), ...body }, context)),
        refusal,
      );
    });
  }

  it('is told about as a core kind with an empty group', () => {
    const body = { ...bodyOf(configMap, 'c'), typo: 1 };
    const [code, , message] = shortRefusal(() => applyObject(configMap, undefined, body, contextOf({ manager: 'm', name: 'c' })));
    assert.deepEqual(
      [code, message],
      [500, 'failed to create typed patch object (/c; /v1, Kind=ConfigMap): .typo: field not declared in schema'],
    );
  });

  it('needs its name only to create', () => {
    const body = { ...bodyOf(widget, 'f1', { spec: { size: 2 } }), metadata: {} };
    const context = contextOf({ manager: 'm', name: 'f1', force: true });
    assert.equal(applyObject(widget, Written.create(widget, 'f1').object, body, context).changed, true);
    assert.deepEqual(
      shortRefusal(() => applyObject(widget, undefined, body, context)),
      bad('the name of the object (f1 based on URL) was undeterminable: name must be provided'),
    );
  });

  it('takes unknown fields where the schema preserves them, owned one by one', () => {
    const free = customKind('Free', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { hasStatus: false });
    const context = contextOf({ manager: 'm', name: 'x' });
    const { object } = applyObject(free, undefined, bodyOf(free, 'x', { spec: { a: { b: 1 }, list: [{ c: 2 }] } }), context);
    assert.deepEqual(object.metadata.managedFields?.[0]?.fieldsV1, {
      'f:spec': { '.': {}, 'f:a': { '.': {}, 'f:b': {} }, 'f:list': {} },
    });
  });
});
