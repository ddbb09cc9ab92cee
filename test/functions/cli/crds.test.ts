/** `dogwatch crds --apply` where the API server says no. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { crds } from '../../../functions/cli/crds.ts';
import { ApiStub, json } from '../../fakes/api-stub.ts';

describe('dogwatch crds --apply', () => {
  let stub: ApiStub;
  let registry = '';
  before(async () => {
    stub = await ApiStub.start();
    registry = join(stub.dir, 'clusters.yml');
    writeFileSync(registry, JSON.stringify({ clusters: [{ name: 'east', kubeconfig: stub.kubeconfig() }] }));
  });
  after(async () => {
    await stub.close();
    rmSync(registry, { force: true });
  });
  const apply = (): Promise<unknown> => crds({ DOGWATCH_CLUSTERS: registry }, { apply: true, cluster: 'east' });

  it('says where it is forbidden how an administrator does it without Dogwatch', async () => {
    const message = 'customresourcedefinitions.apiextensions.k8s.io is forbidden: User "dogwatch" cannot patch';
    stub.otherwise = json(403, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', message, code: 403 });
    await assert.rejects(apply(), (error: Error & { facts?: Record<string, unknown> }) => {
      assert.equal(error.name, 'TransientError');
      assert.equal(
        error.message,
        'east: the API server forbids this; grant the right to create and patch CustomResourceDefinitions, or have an administrator of ' +
          'the cluster apply them: npm run -s dogwatch -- crds | kubectl --context CONTEXT apply --server-side --force-conflicts --field-manager dogwatch -f -',
      );
      assert.deepEqual([error.facts?.['verb'], error.facts?.['httpStatus'], error.facts?.['serverMessage']], ['apply', 403, message]);
      return true;
    });
  });

  it('passes on any other refusal as it is', async () => {
    stub.otherwise = json(401, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Unauthorized', message: 'no', code: 401 });
    await assert.rejects(apply(), { message: 'east: the API server does not accept our credentials; renew them' });
  });
});
