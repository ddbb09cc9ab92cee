/** Many settled Tenants in a real API server, and changes to them. */
import { crdYaml } from '../../functions/cli/crds.ts';
import { reconcilers } from '../../functions/reconcilers/index.ts';
import type { ControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { type Api, connectApi, until } from '../real/api.ts';
import { TENANTS } from '../real/tenants.ts';
import { nameOf, tenantBody, tenantStatus } from './tenant-texts.ts';

/** Writers at once; more of them only queue in an API server on two cores. */
const WRITERS = 16;

/** Installs the CRDs of all kinds of the project and creates Tenants 0 to `count` - 1 with the status of a run that succeeded. */
export async function createTenants(plane: ControlPlane, count: number): Promise<void> {
  const crds = reconcilers.map(({ resource }) => resource).filter((resource) => !resource.isDescribed);
  const applied = await plane.kubectl(['apply', '--server-side', '-f', '-'], { input: crds.map(crdYaml).join('---\n') });
  if (applied.code !== 0) throw new Error(`the CRDs were not applied: ${applied.stderr}`);
  await withApis(plane, async (apis) => {
    const [first] = apis;
    if (first === undefined) return;
    await until('Tenants are served', async () => (await first.get(`${TENANTS}?limit=1`)).status === 200 || undefined);
    await forEach(apis, count, async (api, index) => {
      const created = await api.post(TENANTS, { apiVersion: 'platform.example/v1', kind: 'Tenant', ...tenantBody(index) });
      if (created.status !== 201) throw new Error(`creating ${nameOf(index)}: ${created.status} ${created.body.message}`);
      await settle(api, index, 1);
    });
  });
}

/** Writes to objects in turn, mostly annotations; one in fifty is a change of the spec that settles at once. */
export async function churnTenants(plane: ControlPlane, count: number, perSecond: number, seconds: number): Promise<void> {
  await withApis(plane, async (apis) => {
    const began = Date.now();
    await forEach(apis, perSecond * seconds, async (api, change) => {
      const waitMs = began + (change / perSecond) * 1000 - Date.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const index = (change * 7919) % count;
      const body =
        change % 50 === 0 ? { spec: { quota: { pods: change } } } : { metadata: { annotations: { 'bench.example/at': `${change}` } } };
      const { status, body: object } = await api.merge(`${TENANTS}/${nameOf(index)}`, body);
      if (status !== 200) throw new Error(`changing ${nameOf(index)}: ${status} ${object.message}`);
      if (change % 50 === 0) await settle(api, index, object.metadata.generation);
    });
  });
}

async function settle(api: Api, index: number, generation: number): Promise<void> {
  const { status, body } = await api.merge(`${TENANTS}/${nameOf(index)}/status`, { status: tenantStatus(index, generation) });
  if (status !== 200) throw new Error(`settling ${nameOf(index)}: ${status} ${body.message}`);
}

async function withApis(plane: ControlPlane, work: (apis: readonly Api[]) => Promise<void>): Promise<void> {
  const apis = Array.from({ length: WRITERS / 8 }, () => connectApi(plane)); // each has eight connections
  try {
    await work(apis);
  } finally {
    for (const api of apis) api.close();
  }
}

async function forEach(apis: readonly Api[], count: number, work: (api: Api, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async (writer: number): Promise<void> => {
    const api = apis[writer % apis.length];
    while (api !== undefined && next < count) {
      next += 1;
      await work(api, next - 1);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => run(writer)));
}
