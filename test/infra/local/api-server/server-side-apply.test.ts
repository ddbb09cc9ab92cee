import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyObject } from '../../../../infra/local/api-server/write-object.ts';
import { API_VERSION, atomicKind, bodyOf, contextOf, refusalOf, shortRefusal, Written, widget } from './lab-kinds.ts';

const FIRST = { observedGeneration: 1, phase: 'Ready', detail: 'first' };
const condition = (type: string, status = 'True') => ({
  type,
  status,
  reason: 'Because',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const CONDITION_FIELDS = { '.': {}, 'f:lastTransitionTime': {}, 'f:message': {}, 'f:reason': {}, 'f:status': {}, 'f:type': {} };
const typesOf = (written: Written) => (written.status as { conditions?: { type: string }[] }).conditions?.map(({ type }) => type);

describe('server-side apply on /status', () => {
  it('lists its manager with the subresource, before the creator', () => {
    const f1 = Written.create(widget, 'f1');
    f1.applyStatus('dogwatch', FIRST);
    assert.deepEqual(f1.status, FIRST);
    assert.deepEqual(f1.object.metadata.managedFields, [
      {
        apiVersion: API_VERSION,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': { 'f:detail': {}, 'f:observedGeneration': {}, 'f:phase': {} } },
        manager: 'dogwatch',
        operation: 'Apply',
        subresource: 'status',
        time: '2026-11-29T15:38:44Z',
      },
      {
        apiVersion: API_VERSION,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { '.': {}, 'f:size': {} } },
        manager: 'unknown',
        operation: 'Update',
        time: '2026-11-29T15:38:44Z',
      },
    ]);
    assert.equal(f1.object.metadata.generation, 1);
  });

  it('changes nothing the second time, at a later time either', () => {
    const f1 = Written.create(widget, 'f1');
    f1.applyStatus('dogwatch', FIRST);
    assert.equal(f1.applyStatus('dogwatch', FIRST, { now: new Date('2027-01-01T00:00:00Z') }), false);
  });

  it('makes a new manager of the same value a co-owner', () => {
    const f1 = Written.create(widget, 'f1');
    f1.applyStatus('dogwatch', FIRST);
    assert.equal(f1.applyStatus('second', { phase: 'Ready' }), true);
    assert.deepEqual(f1.fieldsOf('second'), { 'f:status': { 'f:phase': {} } });
    assert.deepEqual(f1.fieldsOf('dogwatch'), { 'f:status': { 'f:detail': {}, 'f:observedGeneration': {}, 'f:phase': {} } });
  });

  it('refuses fields of others with a cause for each field and owner', () => {
    const f1 = Written.create(widget, 'f1');
    f1.applyStatus('dogwatch', FIRST);
    f1.applyStatus('second', { phase: 'Ready' });
    const { message, details, ...rest } = refusalOf(() => f1.applyStatus('third', { phase: 'Bad', detail: 'mine' }));
    assert.deepEqual(rest, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Conflict', code: 409 });
    assert.equal(
      message,
      'Apply failed with 3 conflicts: conflicts with "dogwatch" with subresource "status":\n- .status.detail\n- .status.phase\nconflicts with "second" with subresource "status":\n- .status.phase',
    );
    const cause = (manager: string, field: string) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with "${manager}" with subresource "status"`,
      field,
    });
    assert.deepEqual(details, {
      causes: [cause('dogwatch', '.status.detail'), cause('dogwatch', '.status.phase'), cause('second', '.status.phase')],
    });
  });

  it('takes fields by force; former owners lose them', () => {
    const f1 = Written.create(widget, 'f1');
    f1.applyStatus('dogwatch', FIRST);
    f1.applyStatus('second', { phase: 'Ready' });
    f1.applyStatus('third', { phase: 'Bad', detail: 'mine' }, { force: true });
    assert.deepEqual(f1.status, { observedGeneration: 1, phase: 'Bad', detail: 'mine' });
    assert.deepEqual(f1.fieldsOf('dogwatch'), { 'f:status': { 'f:observedGeneration': {} } });
    assert.equal(f1.fieldsOf('second'), undefined);
  });

  it('drops a field that it leaves out, unless somebody else owns it', () => {
    const f1 = Written.create(widget, 'f1');
    f1.applyStatus('dogwatch', FIRST);
    f1.applyStatus('third', { phase: 'Bad', detail: 'mine' }, { force: true });
    f1.applyStatus('dogwatch', { observedGeneration: 1 });
    assert.deepEqual(f1.status, { observedGeneration: 1, phase: 'Bad', detail: 'mine' });
    f1.applyStatus('third', { phase: 'Bad' });
    assert.deepEqual(f1.status, { observedGeneration: 1, phase: 'Bad' });
    assert.deepEqual(f1.fieldsOf('third'), { 'f:status': { 'f:phase': {} } });
  });

  it('owns the bare status after an empty one, and then holds it against its last other owner', () => {
    const f1 = Written.create(widget, 'f1');
    f1.applyStatus('dogwatch', { observedGeneration: 1 });
    f1.applyStatus('third', {});
    assert.deepEqual(f1.fieldsOf('third'), { 'f:status': {} });
    const refusal = refusalOf(() => f1.apply('dogwatch', {}, { subresource: 'status' }));
    assert.equal(refusal['code'], 422);
    assert.match(String(refusal['message']), /status: Invalid value: "null": {2}in body must be of type object: "null"$/);
  });

  it('conflicts with itself after updates under the same name, and leaves their other fields behind', () => {
    const f5 = Written.create(widget, 'f5');
    f5.merge({ status: { phase: 'Old', detail: 'left over' } }, { subresource: 'status', manager: 'dogwatch' });
    const text = 'conflict with "dogwatch" with subresource "status" using lab.example.com/v1';
    const refusal = refusalOf(() => f5.applyStatus('dogwatch', { phase: 'New' }));
    assert.equal(refusal['message'], `Apply failed with 1 conflict: ${text}: .status.phase`);
    assert.deepEqual(refusal['details'], { causes: [{ reason: 'FieldManagerConflict', message: text, field: '.status.phase' }] });
    f5.applyStatus('dogwatch', { phase: 'New' }, { force: true });
    assert.deepEqual(f5.status, { phase: 'New', detail: 'left over' });
  });

  it('ignores spec, labels, finalizers and the uid of another object', () => {
    const f2 = Written.create(widget, 'f2');
    const body = {
      ...bodyOf(widget, 'f2', { spec: { size: 42 }, status: FIRST }),
      metadata: {
        name: 'f2',
        uid: '00000000-0000-0000-0000-000000000000',
        labels: { from: 'status' },
        finalizers: ['lab.example.com/x'],
      },
    };
    const { uid } = f2.object.metadata;
    const { object } = applyObject(widget, f2.object, body, contextOf({ manager: 'dogwatch', subresource: 'status', name: 'f2' }));
    assert.equal(object.metadata.uid, uid);
    assert.deepEqual([object['spec'], object['status'], object.metadata.labels], [{ size: 1 }, FIRST, undefined]);
    assert.equal(object.metadata.finalizers, undefined);
    assert.deepEqual(object.metadata.managedFields?.[0]?.fieldsV1, {
      'f:status': { 'f:detail': {}, 'f:observedGeneration': {}, 'f:phase': {} },
    });
  });

  it('honours resourceVersion, even where nothing would change', () => {
    const f2 = Written.create(widget, 'f2');
    f2.applyStatus('dogwatch', FIRST);
    const text =
      'Operation cannot be fulfilled on widgets.lab.example.com "f2": the object has been modified; please apply your changes to the latest version and try again';
    const context = contextOf({ manager: 'dogwatch', subresource: 'status', name: 'f2' });
    const with_ = (resourceVersion: string) => () =>
      applyObject(widget, f2.object, { ...bodyOf(widget, 'f2', { status: FIRST }), metadata: { name: 'f2', resourceVersion } }, context);
    assert.deepEqual(shortRefusal(with_('1')), [409, 'Conflict', text]);
    assert.deepEqual(refusalOf(with_('1'))['details'], { name: 'f2', group: 'lab.example.com', kind: 'widgets' });
    for (const none of ['', '0']) {
      const [code, reason, message] = shortRefusal(with_(none));
      assert.deepEqual([code, reason], [422, 'Invalid']);
      assert.match(String(message), /metadata.resourceVersion: Invalid value: 0: must be specified for an update$/);
    }
    assert.equal(with_(f2.object.metadata.resourceVersion)().changed, false);
  });

  it('answers 404 where nothing is, and creates nothing', () => {
    const context = contextOf({ manager: 'dogwatch', subresource: 'status', name: 'f-none' });
    assert.deepEqual(
      shortRefusal(() => applyObject(widget, undefined, bodyOf(widget, 'f-none', { status: FIRST }), context)),
      [404, 'NotFound', 'widgets.lab.example.com "f-none" not found'],
    );
  });

  it('writes to an object that is being deleted', () => {
    const f6 = Written.create(widget, 'f6', { spec: { size: 1 } }, { finalizers: ['lab.example.com/hold'] });
    f6.beginDeletion();
    assert.equal(f6.applyStatus('dogwatch', FIRST), true);
  });
});

describe('conditions in server-side apply', () => {
  it('merge by type: each manager keeps its own', () => {
    const f4 = Written.create(widget, 'f4');
    f4.applyStatus('one', { conditions: [condition('Ready')] });
    f4.applyStatus('two', { conditions: [condition('Synced', 'False')] });
    assert.deepEqual(typesOf(f4), ['Ready', 'Synced']);
    assert.deepEqual(f4.fieldsOf('one'), { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': CONDITION_FIELDS } } });
    assert.deepEqual(f4.owners, ['one/Apply/status', 'two/Apply/status', 'unknown/Update/']);
    f4.applyStatus('one', { conditions: [] });
    assert.deepEqual(typesOf(f4), ['Synced']);
  });

  it('conflict by field of the item', () => {
    const f4 = Written.create(widget, 'f4');
    f4.applyStatus('two', { conditions: [condition('Synced', 'False')] });
    const refusal = refusalOf(() => f4.applyStatus('one', { conditions: [condition('Synced', 'True')] }));
    const { causes } = refusal['details'] as { causes: { field: string }[] };
    assert.deepEqual(
      causes.map(({ field }) => field),
      ['.status.conditions[type="Synced"].status'],
    );
  });

  it('keep the order of the applied ones among those that are there', () => {
    const f4 = Written.create(widget, 'f4');
    f4.applyStatus('one', { conditions: ['A', 'B', 'C'].map((type) => condition(type)) });
    f4.applyStatus('two', { conditions: ['C', 'X', 'A'].map((type) => condition(type)) });
    assert.deepEqual(typesOf(f4), ['B', 'C', 'X', 'A']);
  });

  it('are one value without list keys: conflict as a whole, and force erases the others', () => {
    const f4 = Written.create(atomicKind, 'f4');
    f4.applyStatus('one', { conditions: [condition('Ready')] });
    assert.equal(
      refusalOf(() => f4.applyStatus('two', { conditions: [condition('Synced', 'False')] }))['message'],
      'Apply failed with 1 conflict: conflict with "one" with subresource "status": .status.conditions',
    );
    f4.applyStatus('two', { conditions: [condition('Synced', 'False')] }, { force: true });
    assert.deepEqual(typesOf(f4), ['Synced']);
    assert.deepEqual(f4.fieldsOf('two'), { 'f:status': { 'f:conditions': {} } });
  });
});

describe('server-side apply on the main resource', () => {
  const F = 'lab.example.com/hold';
  const G = 'lab.example.com/other';

  it('creates what is not there, resourceVersion or not, and drops its status', () => {
    const context = contextOf({ manager: 'dogwatch', name: 'new' });
    const { object, changed } = applyObject(
      widget,
      undefined,
      bodyOf(widget, 'new', { spec: { size: 3 }, status: FIRST }, { resourceVersion: '5' }),
      context,
    );
    assert.equal(changed, true);
    assert.deepEqual(
      [object['spec'], object['status'], object.metadata.generation, object.metadata.namespace],
      [{ size: 3 }, undefined, 1, 'lab'],
    );
    assert.deepEqual(
      object.metadata.managedFields?.map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1]),
      [['dogwatch', 'Apply', { 'f:spec': { 'f:size': {} } }]],
    );
  });

  it('refuses to create an object with a uid', () => {
    const body = bodyOf(widget, 'f-ghost', { spec: { size: 3 } }, { uid: '00000000-0000-0000-0000-000000000000' });
    const refusal = refusalOf(() => applyObject(widget, undefined, body, contextOf({ manager: 'dogwatch', name: 'f-ghost', force: true })));
    assert.deepEqual(
      [refusal['code'], refusal['reason'], refusal['message'], refusal['details']],
      [
        409,
        'Conflict',
        'Operation cannot be fulfilled on widgets.lab.example.com "f-ghost": uid mismatch: the provided object specified uid 00000000-0000-0000-0000-000000000000, and no existing object was found',
        { name: 'f-ghost', group: 'lab.example.com', kind: 'widgets' },
      ],
    );
  });

  it('refuses the uid of another object', () => {
    const f2 = Written.create(widget, 'f2');
    const refusal = refusalOf(() => f2.apply('dogwatch', { metadata: { name: 'f2', uid: 'another' } }));
    assert.deepEqual(
      [refusal['code'], refusal['message']],
      [422, 'Widget.lab.example.com "f2" is invalid: metadata.uid: Invalid value: "another": field is immutable'],
    );
  });

  it('adds a finalizer beside that of another', () => {
    const h2 = Written.create(widget, 'h2', { spec: { size: 1 } }, { finalizers: [G] });
    h2.apply('finalizer', { metadata: { name: 'h2', finalizers: [F] } });
    assert.deepEqual(h2.object.metadata.finalizers, [G, F]);
    assert.equal(h2.object.metadata.generation, 1);
    assert.deepEqual(h2.fieldsOf('finalizer'), { 'f:metadata': { 'f:finalizers': { [`v:"${F}"`]: {} } } });
  });

  it('removes only its own finalizer, and then owns nothing', () => {
    const h2 = Written.create(widget, 'h2', { spec: { size: 1 } }, { finalizers: [G] });
    h2.apply('finalizer', { metadata: { name: 'h2', finalizers: [F] } });
    h2.beginDeletion();
    h2.apply('finalizer', {});
    assert.deepEqual(h2.object.metadata.finalizers, [G]);
    assert.deepEqual(h2.owners, ['unknown/Update/']);
    assert.deepEqual(h2.fieldsOf('unknown'), {
      'f:metadata': { 'f:finalizers': { '.': {}, [`v:"${G}"`]: {} } },
      'f:spec': { '.': {}, 'f:size': {} },
    });
  });

  it('leaves a finalizer that its creator owns as well', () => {
    const h2 = Written.create(widget, 'h2', { spec: { size: 1 } }, { finalizers: [G] });
    h2.apply('finalizer', { metadata: { name: 'h2', finalizers: [G] } });
    h2.apply('finalizer', {});
    assert.deepEqual(h2.object.metadata.finalizers, [G]);
  });

  it('removes the last finalizer together with the list', () => {
    const h3 = Written.create(widget, 'h3');
    h3.apply('finalizer', { metadata: { name: 'h3', finalizers: [F] } });
    h3.apply('finalizer', {});
    assert.equal(h3.object.metadata.finalizers, undefined);
  });

  it('adds no finalizer to an object that is being deleted', () => {
    const h2 = Written.create(widget, 'h2', { spec: { size: 1 } }, { finalizers: [G] });
    h2.beginDeletion();
    const refusal = refusalOf(() => h2.apply('finalizer', { metadata: { name: 'h2', finalizers: [F] } }));
    assert.match(
      String(refusal['message']),
      /no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"lab.example.com\/hold"\}$/,
    );
  });

  it('counts a generation for a change of the spec only', () => {
    const w = Written.create(widget, 'w');
    w.apply('dogwatch', { spec: { size: 2 } }, { force: true });
    assert.equal(w.object.metadata.generation, 2);
    w.apply('dogwatch', { spec: { size: 2 }, metadata: { name: 'w', labels: { a: 'b' } } });
    assert.equal(w.object.metadata.generation, 2);
    assert.deepEqual(w.fieldsOf('dogwatch'), { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': { 'f:size': {} } });
  });

  it('gives what was there without managedFields to before-first-apply', () => {
    const w = Written.create(widget, 'w');
    w.put((draft) => {
      draft['metadata'] = { ...(draft['metadata'] as object), managedFields: [{}] };
    });
    assert.equal(w.object.metadata.managedFields, undefined);
    w.apply('dogwatch', { spec: { tier: 'gold' } });
    assert.deepEqual(w.owners, ['dogwatch/Apply/', 'before-first-apply/Update/']);
    assert.deepEqual(w.fieldsOf('before-first-apply'), { 'f:spec': { '.': {}, 'f:size': {} } });
  });
});
