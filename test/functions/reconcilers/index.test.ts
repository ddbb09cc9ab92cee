import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { customResourceDefinition } from '../../../functions/core/custom-resource-definition.ts';
import { reconcilers } from '../../../functions/reconcilers/index.ts';

describe('the list of reconcilers', () => {
  it('is not empty', () => assert.ok(reconcilers.length > 0));

  for (const { resource } of reconcilers) {
    if (resource.isDescribed) continue;
    it(`has a CustomResourceDefinition for ${resource.kind}`, () => {
      assert.equal(customResourceDefinition(resource).metadata.name, `${resource.plural}.${resource.group}`);
    });
  }
});
