import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { clusterName, type ResourceType } from '../../../../events/resource.ts';
import { createKubernetesClient, type ResponseObservation } from '../../../../functions/adapters/kubernetes/client.ts';
import type { KubernetesClient } from '../../../../functions/adapters/kubernetes/port.ts';
import { configMaps, namespaces } from '../../../../functions/core/kinds.ts';
import { ApiStub, hang, json, reset, text } from '../../../fakes/api-stub.ts';
import { bodyOf } from './samples.ts';

const tenants: ResourceType = { group: 'platform.example', version: 'v1', kind: 'Tenant', plural: 'tenants', scope: 'Cluster' };
const partial = {
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { name: 'a', uid: 'u1', resourceVersion: '8', generation: 2, managedFields: [{}] },
};
const body = { apiVersion: 'platform.example/v1', kind: 'Tenant', metadata: { name: 'a', uid: 'u1', resourceVersion: '7' } };
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

let stub: ApiStub;
let client: KubernetesClient;
let observations: ResponseObservation[];

beforeEach(async () => {
  stub = await ApiStub.start();
  observations = [];
  client = createKubernetesClient({
    cluster: clusterName('east'),
    kubeConfig: { kind: 'file', path: stub.kubeconfig() },
    onResponse: (observation) => observations.push(observation),
  });
});
afterEach(async () => {
  client.close();
  await stub.close();
});

/** Answers the next request with a recorded sample. */
function replay(name: string, status: number): void {
  stub.reply(json(status, JSON.parse(bodyOf(name))));
}

function lastRequest() {
  const request = stub.requests.at(-1);
  assert.ok(request !== undefined);
  return { line: `${request.method} ${request.path}`, ...request, json: request.body === '' ? undefined : JSON.parse(request.body) };
}

describe('client.get', () => {
  it('reads not older than a resourceVersion and keeps managedFields', async () => {
    stub.reply(json(200, { ...body, metadata: partial.metadata, spec: {} }));
    const object = await client.get(tenants, { name: 'a' }, { resourceVersion: '7' });
    assert.deepEqual(object?.metadata, partial.metadata);
    assert.equal(lastRequest().line, 'GET /apis/platform.example/v1/tenants/a?resourceVersion=7');
    assert.equal(lastRequest().headers.accept, 'application/json');
  });

  it('is undefined for an object that is not there', async () => {
    replay('get-object-missing', 404);
    assert.equal(await client.get(tenants, { name: 'a' }), undefined);
  });

  it('is an error, not an absence, where the kind is not served or a proxy says 404', async () => {
    stub.reply(text(404, '404 page not found\n'), text(404, '<html>', { 'content-type': 'text/html' }));
    await assert.rejects(client.get(tenants, { name: 'a' }), { code: 'not-served' });
    await assert.rejects(client.get(tenants, { name: 'a' }), { code: 'not-served' });
  });

  it('refuses an answer of another kind and one that is no JSON', async () => {
    stub.reply(json(200, { kind: 'Login' }), text(200, '<html>'));
    await assert.rejects(client.get(tenants, { name: 'a' }), { name: 'TransientError', code: 'bad-response' });
    await assert.rejects(client.get(tenants, { name: 'a' }), { name: 'TransientError', code: 'bad-response' });
  });

  it('does not send a resourceVersion that is no number', async () => {
    await assert.rejects(client.get(tenants, { name: 'a' }, { resourceVersion: 'undefined' }), {
      name: 'TerminalError',
      code: 'bad-request',
    });
    assert.equal(client.requestCount, 0);
  });

  it('reads metadata alone', async () => {
    stub.reply(json(200, partial));
    const metadata = await client.getMetadata(configMaps, { namespace: 'lab', name: 'a' });
    assert.deepEqual(metadata, { name: 'a', uid: 'u1', resourceVersion: '8', generation: 2 });
    assert.equal(lastRequest().line, 'GET /api/v1/namespaces/lab/configmaps/a');
    assert.equal(lastRequest().headers.accept, METADATA);
  });
});

describe('client.list', () => {
  it('asks for a page of a Table not older than a resourceVersion', async () => {
    replay('table-list', 200);
    const page = await client.list(tenants, { form: 'table', resourceVersion: '7', limit: 2, labelSelector: 'a' });
    assert.equal(
      lastRequest().line,
      'GET /apis/platform.example/v1/tenants?includeObject=Metadata&limit=2&labelSelector=a&resourceVersion=7&resourceVersionMatch=NotOlderThan',
    );
    assert.equal(page.rows.length, 2);
  });

  it('lists what a field selector selects, also of one name', async () => {
    replay('list-metadata-only', 200);
    replay('list-metadata-only', 200);
    await client.list(tenants, { form: 'metadata', fieldSelector: 'spec.color=a' });
    await client.list(tenants, { form: 'metadata', at: { name: 'a' }, fieldSelector: 'spec.color=a', limit: 1 });
    assert.deepEqual(
      stub.requests.map(({ path }) => path.split('fieldSelector=')[1]),
      ['spec.color%3Da', 'metadata.name%3Da%2Cspec.color%3Da'],
    );
  });

  it('lists one object by its name, in its namespace', async () => {
    replay('list-metadata-only', 200);
    replay('list-metadata-only', 200);
    await client.list(tenants, { form: 'metadata', at: { name: 'a' }, limit: 1 });
    await client.list(configMaps, { form: 'metadata', at: { namespace: 'n', name: 'b' }, limit: 1 });
    assert.deepEqual(
      stub.requests.map(({ path }) => path),
      [
        '/apis/platform.example/v1/tenants?limit=1&fieldSelector=metadata.name%3Da',
        '/api/v1/namespaces/n/configmaps?limit=1&fieldSelector=metadata.name%3Db',
      ],
    );
  });

  it('sends the token of the page before without a resourceVersion, which the server would refuse', async () => {
    replay('table-list-page-2', 200);
    await client.list(tenants, { form: 'table', resourceVersion: '7', continue: 'tok=' });
    assert.equal(lastRequest().line, 'GET /apis/platform.example/v1/tenants?includeObject=Metadata&limit=500&continue=tok%3D');
  });

  it('asks for metadata in the list form', async () => {
    replay('list-metadata-only', 200);
    await client.list(tenants, { form: 'metadata' });
    assert.match(String(lastRequest().headers.accept), /as=PartialObjectMetadataList;/);
  });

  it('says which fields are ours where that is asked, and reads no managedFields where it is not', async () => {
    const managedFields = [{ manager: 'dogwatch', operation: 'Apply', fieldsV1: { 'f:data': {} } }];
    const items = [{ metadata: { name: 'a', uid: 'u', resourceVersion: '8', managedFields, labels: { managedFields: 'x' } } }];
    const answer = json(200, { kind: 'PartialObjectMetadataList', metadata: { resourceVersion: '9' }, items });
    stub.reply(answer, answer);
    const asked = await client.list(tenants, { form: 'metadata', ownFields: true });
    const plain = await client.list(tenants, { form: 'metadata' });
    assert.equal(asked.rows[0]?.ownFields?.count, 1);
    assert.equal(plain.rows[0]?.ownFields, undefined);
    assert.deepEqual(plain.rows[0]?.metadata, asked.rows[0]?.metadata);
  });

  it('is expired when the token is too old', async () => {
    replay('list-continue-expired', 410);
    await assert.rejects(client.list(tenants, { form: 'table', continue: 'x' }), { name: 'TransientError', code: 'expired' });
  });
});

describe('client writes', () => {
  it('applies with force as our field manager and asks for metadata back', async () => {
    stub.reply(json(201, partial));
    const metadata = await client.apply(tenants, body);
    assert.equal(metadata.resourceVersion, '8');
    const { line, headers, json: sent } = lastRequest();
    assert.equal(line, 'PATCH /apis/platform.example/v1/tenants/a?fieldManager=dogwatch&force=true');
    assert.deepEqual([headers['content-type'], headers.accept, sent], ['application/apply-patch+yaml', METADATA, body]);
  });

  it('applies a finalizer as a manager of its own', async () => {
    stub.reply(json(200, partial));
    await client.apply(tenants, body, { fieldManager: 'dogwatch-finalizer' });
    assert.equal(lastRequest().line, 'PATCH /apis/platform.example/v1/tenants/a?fieldManager=dogwatch-finalizer&force=true');
  });

  it('applies into a namespace, and says which is missing', async () => {
    replay('create-namespace-missing', 404);
    const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'nowhere', name: 'c' } };
    await assert.rejects(client.apply(configMaps, child), { code: 'namespace-missing' });
    assert.equal(lastRequest().line, 'PATCH /api/v1/namespaces/nowhere/configmaps/c?fieldManager=dogwatch&force=true');
  });

  it('is a uid-conflict when the object of an apply with uid alone is gone', async () => {
    replay('apply-create-with-uid', 409);
    const { resourceVersion: _, ...metadata } = body.metadata;
    await assert.rejects(client.apply(tenants, { ...body, metadata }), { name: 'ConflictError', code: 'uid-conflict' });
  });

  it('applies a status to the subresource', async () => {
    stub.reply(json(200, partial));
    await client.applyStatus(tenants, { ...body, status: { observedGeneration: 2 } });
    assert.equal(lastRequest().line, 'PATCH /apis/platform.example/v1/tenants/a/status?fieldManager=dogwatch&force=true');
  });

  it('is undefined for the status of what is absent, or has no status', async () => {
    replay('status-apply-no-subresource', 404);
    assert.equal(await client.applyStatus(tenants, body), undefined);
  });

  it('tells a status that lost its race', async () => {
    replay('status-apply-resource-version-conflict', 409);
    await assert.rejects(client.applyStatus(tenants, body), { name: 'ConflictError', code: 'resource-version-conflict' });
  });

  it('replaces finalizers by merge patch with uid and resourceVersion', async () => {
    stub.reply(json(200, partial));
    await client.patchFinalizers(tenants, { name: 'a' }, { uid: 'u1', resourceVersion: '7' }, []);
    const { line, headers, json: sent } = lastRequest();
    assert.equal(line, 'PATCH /apis/platform.example/v1/tenants/a?fieldManager=dogwatch');
    assert.equal(headers['content-type'], 'application/merge-patch+json');
    assert.deepEqual(sent, { metadata: { uid: 'u1', resourceVersion: '7', finalizers: [] } });
  });

  it('is undefined for the finalizers of an object that is gone', async () => {
    replay('get-object-missing', 404);
    assert.equal(await client.patchFinalizers(tenants, { name: 'a' }, { uid: 'u', resourceVersion: '7' }, []), undefined);
  });

  it('deletes in the background only the object with that uid', async () => {
    stub.reply(json(200, { kind: 'Status', status: 'Success' }));
    assert.equal(await client.delete(tenants, { name: 'a' }, 'u1'), 'deleted');
    assert.equal(lastRequest().line, 'DELETE /apis/platform.example/v1/tenants/a');
    assert.deepEqual(lastRequest().json, {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u1' },
      propagationPolicy: 'Background',
    });
  });

  it('tells a deletion of what is absent from one of another object', async () => {
    replay('get-object-missing', 404);
    replay('delete-uid-precondition', 409);
    assert.equal(await client.delete(tenants, { name: 'a' }, 'u1'), 'absent');
    await assert.rejects(client.delete(tenants, { name: 'a' }, 'u1'), { name: 'ConflictError', code: 'uid-conflict' });
  });

  it('creates an Event, and takes one that exists for the copy of a repeated request', async () => {
    stub.reply(json(201, partial));
    replay('create-already-exists', 409);
    const event = { metadata: { name: 'e' }, reason: 'Ready' };
    await client.createEvent(event, 'lab');
    await client.createEvent(event, 'lab');
    assert.equal(lastRequest().line, 'POST /apis/events.k8s.io/v1/namespaces/lab/events?fieldManager=dogwatch');
    assert.deepEqual(lastRequest().json, { ...event, apiVersion: 'events.k8s.io/v1', kind: 'Event' });
  });
});

describe('client.servedKind', () => {
  it('reads the columns from the CRD', async () => {
    const columns = [{ name: 'Observed', type: 'integer', jsonPath: '.status.observedGeneration', priority: 1 }];
    const versions = [{ name: 'v1', served: true, subresources: { status: {} }, additionalPrinterColumns: columns }];
    stub.reply(json(200, { kind: 'CustomResourceDefinition', spec: { versions } }));
    assert.deepEqual(await client.servedKind(tenants), {
      printerColumns: [{ name: 'Observed', jsonPath: '.status.observedGeneration' }],
      hasStatusSubresource: true,
    });
    assert.equal(lastRequest().line, 'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/tenants.platform.example');
  });

  it('is undefined where the CRD is absent or not ours to read, and for the core group without asking', async () => {
    replay('get-object-missing', 404);
    replay('forbidden', 403);
    assert.equal(await client.servedKind(tenants), undefined);
    assert.equal(await client.servedKind(tenants), undefined);
    assert.equal(await client.servedKind(namespaces), undefined);
    assert.equal(client.requestCount, 2);
  });

  it('is an error where we do not know', async () => {
    stub.reply(text(503, 'x'));
    await assert.rejects(client.servedKind(tenants), { code: 'server-error' });
  });
});

describe('client', () => {
  it('says of every error what was asked, also where no answer came', async () => {
    stub.reply(reset);
    await assert.rejects(client.get(configMaps, { namespace: 'lab', name: 'a' }), (error: Error & { facts: object }) => {
      assert.deepEqual(error.facts, { errorCode: 'ECONNRESET', verb: 'get', kind: 'ConfigMap', namespace: 'lab', name: 'a' });
      return true;
    });
  });

  it('passes the reason of an aborted signal on as it is', async () => {
    stub.reply(hang);
    const controller = new AbortController();
    const call = client.get(tenants, { name: 'a' }, { signal: controller.signal });
    await stub.arrived(1);
    const reason = new Error('deadline');
    controller.abort(reason);
    await assert.rejects(call, reason);
  });

  it('reports every call: verb, kind, status and warning', async () => {
    stub.reply(json(200, partial, { warning: '299 - "old"' }), reset);
    await client.getMetadata(tenants, { name: 'a' });
    await client.getMetadata(tenants, { name: 'a' }).catch(() => {});
    const [first] = observations;
    assert.deepEqual([first?.verb, first?.kind, first?.status, first?.warning], ['get', 'Tenant', 200, '299 - "old"']);
  });
});
