import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { clusterName } from '../../../events/resource.ts';
import { describeResource, parseDescribed } from '../../../functions/core/described-resource.ts';
import { ConfigError, TerminalError } from '../../../functions/core/errors.ts';
import { configMaps } from '../../../functions/core/kinds.ts';
import { checkPlan } from '../../../functions/core/plan.ts';
import { defineReconciler, type KubernetesObject } from '../../../functions/core/reconciler.ts';
import { metadataOf } from './tickets.ts';

const declaration = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' } as const;
const sources = describeResource(declaration);
const apps = describeResource({
  ...{ group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', scope: 'Namespaced' },
  spec: z.object({ replicas: z.int().default(1) }),
});

function objectOf(fields: Record<string, unknown>): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf({ managedFields: [{ manager: 'kubectl' }] }), ...fields };
}

describe('describeResource', () => {
  const refused: readonly [change: object, says: RegExp][] = [
    [{ kind: 'configMap' }, /kind "configMap"/],
    [{ group: 'Apps' }, /group "Apps"/],
    [{ version: 'v1.2' }, /version/],
    [{ plural: 'ConfigMaps' }, /plural/],
    [{ scope: 'Global' }, /scope/],
    [{ spec: z.string() }, /spec is not a z.object/],
  ];
  for (const [change, says] of refused) {
    it(`refuses ${Object.keys(change)[0]} ${says.source}`, () => {
      assert.throws(
        () => describeResource({ ...declaration, ...change } as typeof declaration),
        (error) => error instanceof ConfigError && says.test(error.message),
      );
    });
  }
});

describe('parseDescribed', () => {
  it('shows the whole object but for managedFields, frozen', () => {
    const parsed = parseDescribed(sources, objectOf({ data: { a: 'b' } }));
    assert.deepEqual(parsed['data'], { a: 'b' });
    assert.equal(parsed.metadata.managedFields, undefined);
    assert.throws(() => {
      (parsed['data'] as Record<string, string>)['a'] = 'c';
    }, TypeError);
  });

  it('validates the spec where there is a schema', () => {
    assert.deepEqual(parseDescribed(apps, objectOf({ spec: { paused: true } })).spec, { replicas: 1 });
    assert.throws(
      () => parseDescribed(apps, objectOf({ spec: { replicas: 'x' } })),
      (error) => error instanceof TerminalError && error.code === 'invalid-object' && /spec\.replicas/.test(error.message),
    );
  });
});

describe('the Plan for an object that is not ours', () => {
  const reconciler = defineReconciler({ resource: sources, owns: [configMaps], reconcile: async () => ({}) });
  const owner = {
    key: { cluster: clusterName('east'), group: '', kind: 'ConfigMap', namespace: 'team', name: 'one' },
    metadata: { uid: 'uid-1' },
  };

  it('has children that are owned as others are', () => {
    const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'team', name: 'copy' } };
    const { children, status } = checkPlan(reconciler, owner, { apply: [child] });
    assert.deepEqual(status, {});
    assert.deepEqual(children[0]?.body.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', uid: 'uid-1', controller: true, blockOwnerDeletion: true },
    ]);
  });

  for (const field of ['status', 'conditions']) {
    it(`has no ${field}`, () => {
      assert.throws(() => checkPlan(reconciler, owner, { [field]: {} }), new RegExp(`unknown field ${field}; known are apply`));
    });
  }

  it('is an object', () => assert.throws(() => checkPlan(reconciler, owner, undefined), /return an object with apply/));
});
