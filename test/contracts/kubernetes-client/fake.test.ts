import { FakeCluster } from '../../fakes/kubernetes-client.ts';
import { isJson, type Json } from '../../fakes/server-side-apply.ts';
import { COLUMNS, plains, things } from './kinds.ts';
import { describeKubernetesClient } from './suite.ts';

describeKubernetesClient('the fake cluster', async () => {
  const cluster = new FakeCluster();
  cluster.serve(
    things,
    COLUMNS.map(({ name, jsonPath }) => ({ name, jsonPath })),
  );
  cluster.serve(plains, [], false);
  return {
    client: cluster.client,
    create: async (type, at, fields) => void cluster.create(type, at, fields),
    edit: async (type, at, patch) => void cluster.edit(type, at, (draft) => mergePatch(draft, patch)),
    delete: async (type, at) => cluster.delete(type, at),
    close: async () => cluster.client.close(),
  };
});

/** RFC 7396, in place. */
function mergePatch(target: Json, patch: Json): void {
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete target[field];
    else if (isJson(value)) {
      const inner = isJson(target[field]) ? target[field] : {};
      target[field] = inner;
      mergePatch(inner, value);
    } else target[field] = value;
  }
}
