/** Tenants for the real tests: made, watched and counted through the API server. */
import { type Api, type ApiCondition, type ApiObject, until } from './api.ts';

export const TENANTS = '/apis/platform.example/v1/tenants';

export interface TenantSpec {
  readonly owner?: string;
  readonly quota?: { readonly cpu: string; readonly memory: string; readonly pods: number };
  readonly members?: readonly string[];
}

/** A Tenant as a user would write it. */
export function tenant(name: string, spec: TenantSpec = {}): Record<string, unknown> {
  return {
    apiVersion: 'platform.example/v1',
    kind: 'Tenant',
    metadata: { name },
    spec: { owner: 'olga@acme.example', quota: { cpu: '4', memory: '8Gi', pods: 20 }, members: ['ada@acme.example'], ...spec },
  };
}

export async function createTenant(api: Api, name: string, spec?: TenantSpec): Promise<ApiObject> {
  const answer = await api.post(TENANTS, tenant(name, spec));
  if (answer.status !== 201) throw new Error(`creating tenant ${name}: ${answer.status} ${answer.body.message}`);
  return answer.body;
}

/** Changes spec by merge patch, as kubectl edit does; returns the new generation. */
export async function changeTenant(api: Api, name: string, spec: TenantSpec): Promise<number> {
  const answer = await api.merge(`${TENANTS}/${name}`, { spec });
  if (answer.status !== 200) throw new Error(`changing tenant ${name}: ${answer.status} ${answer.body.message}`);
  return answer.body.metadata.generation;
}

export function conditionOf(object: ApiObject, type: string): ApiCondition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

export function isSettled(object: ApiObject): boolean {
  return object.status?.observedGeneration === object.metadata.generation && conditionOf(object, 'Ready')?.status === 'True';
}

/** The Tenant once its status has caught up with its generation and says Ready. */
export function settled(api: Api, name: string, withinMs?: number): Promise<ApiObject> {
  return until(
    `tenant ${name} is settled`,
    async () => {
      const answer = await api.get(`${TENANTS}/${name}`);
      return answer.status === 200 && isSettled(answer.body) ? answer.body : undefined;
    },
    withinMs,
  );
}

/** All Tenants, once every one of `count` is settled. */
export function allSettled(api: Api, count: number, withinMs = 120_000): Promise<readonly ApiObject[]> {
  return until(
    `${count} tenants are settled`,
    async () => {
      const { items } = (await api.get(TENANTS)).body;
      return items.length === count && items.every(isSettled) ? items : undefined;
    },
    withinMs,
    250,
  );
}

/** Resolves when the path answers 404. */
export async function gone(api: Api, path: string, withinMs?: number): Promise<void> {
  await until(`${path} is gone`, async () => (await api.get(path)).status === 404 || undefined, withinMs);
}
