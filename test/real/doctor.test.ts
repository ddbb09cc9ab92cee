/**
 * `dogwatch doctor` on a real API server with RBAC on, queues of local-aws-sqs and a double of Lambda: a deployment that is well, and one
 * in which much is broken at once, of which it says exactly that.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { customResourceDefinition } from '../../functions/core/custom-resource-definition.ts';
import type { Finding } from '../../functions/core/doctor/finding.ts';
import { isJsonObject } from '../../functions/core/plain-json.ts';
import { groupOf, type PolicyRule, rbacManifests } from '../../functions/core/rbac.ts';
import type { Unit } from '../../functions/core/settings.ts';
import { reconcilers } from '../../functions/reconcilers/index.ts';
import { queueClaim } from '../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../functions/reconcilers/tenant.ts';
import { selfSigned } from '../../infra/local/certificates.ts';
import { type ControlPlane, startControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { type DoctorScene, STACK, startDoctorScene } from '../functions/cli/doctor-scene.ts';
import { type Api, connectApi, until } from './api.ts';
import { rulesOfSelf } from './pod.ts';
import { startProcess } from './process.ts';

type Json = Record<string, unknown>;
const UNITS: readonly Unit[] = ['watcher', 'reconcile'];
/** Both identities at once, as where one registry serves both. */
const BOTH = 'both';

describe('doctor', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-doctor-'));
  let plane: ControlPlane;
  let scene: DoctorScene;
  let self: Api;

  before(async () => {
    const starting = [
      startControlPlane({
        name: 'east',
        controllers: false,
        users: [
          { name: BOTH, groups: UNITS.map((unit) => groupOf(unit).name) },
          { name: 'function', groups: [groupOf('reconcile').name] },
        ],
      }),
      startDoctorScene(),
    ] as const;
    [plane, scene] = await Promise.all(starting);
    await apply(...crds(), ...UNITS.flatMap((unit) => rbacManifests(unit, reconcilers, groupOf(unit))));
    self = connectApi({ url: plane.url, caFile: plane.caFile, token: plane.kubeconfigFor(BOTH).token });
    await hears((rules) => rules.includes('watch platform.example/tenants ') && rules.includes('patch platform.example/tenants/status '));
    await serves((names) => names.includes('tenants/status') && names.includes('queueclaims/status'));
  });
  after(async () => {
    self?.close();
    await Promise.all([plane?.stop(), scene?.stop()]);
    rmSync(dir, { recursive: true, force: true });
  });

  async function apply(...objects: readonly object[]): Promise<void> {
    const input = objects.map((object) => JSON.stringify(object)).join('\n---\n');
    const { code, stderr } = await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input });
    assert.equal(code, 0, stderr);
  }

  /** The API server hears of a role, and serves a kind anew, a moment after it has stored it. */
  function hears(isInForce: (rules: readonly string[]) => boolean): Promise<true> {
    return until('the rights are in force', async () => isInForce(await rulesOfSelf(self, 'default')) || undefined);
  }
  function serves(isServed: (names: readonly string[]) => boolean): Promise<true> {
    return until('the kinds are served', async () => {
      const { resources = [] } = (await self.get('/apis/platform.example/v1')).body as { resources?: { name: string }[] };
      return isServed(resources.map(({ name }) => name)) || undefined;
    });
  }

  function registry(...entries: readonly Json[]): string {
    const path = join(dir, 'clusters.yml');
    writeFileSync(path, JSON.stringify({ clusters: entries }));
    return path;
  }

  /** Another kubeconfig of this cluster for `user`, changed. */
  function kubeconfig(name: string, user: string, change: (text: string) => string = (text) => text): Json {
    const path = join(dir, `${name}.yaml`);
    writeFileSync(path, change(readFileSync(plane.kubeconfigFor(user).path, 'utf8')));
    return { name, kubeconfig: path };
  }

  async function doctor(path: string, ...words: readonly string[]): Promise<{ code: number | string; findings: readonly Finding[] }> {
    const command = startProcess([process.execPath, 'functions/cli/bin.js', 'doctor', '--stage', 'real', '--json', ...words], {
      ...scene.env,
      DOGWATCH_CLUSTERS: path,
    });
    const code = await command.exited;
    const line = command.lines.find((text) => text.startsWith('{'));
    assert.ok(line, command.lines.join('\n'));
    return { code, findings: (JSON.parse(line) as { findings: Finding[] }).findings };
  }

  const problems = (findings: readonly Finding[]): string[] =>
    findings.filter(({ outcome }) => outcome !== 'ok').map(({ outcome, subject, check }) => `${outcome} ${subject}, ${check}`);

  it('finds nothing in a deployment that is well', async () => {
    const { code, findings } = await doctor(registry(kubeconfig('east', BOTH)));
    assert.deepEqual(problems(findings), []);
    assert.equal(code, 0);
    assert.equal(findings.find(({ check }) => check === 'reach')?.says, `as ${BOTH}`);
  });

  it("asks as the function, where the registry is the function's, and reads no CRD then", async () => {
    const { code, findings } = await doctor(registry(kubeconfig('east', 'function')), '--for', 'reconcile');
    assert.deepEqual(problems(findings), ['not-checked cluster east, Tenant: CRD', 'not-checked cluster east, QueueClaim: CRD']);
    assert.equal(code, 0);
  });

  it('finds exactly what is broken', async () => {
    await breakCluster();
    await breakAws();
    const { code, findings } = await doctor(
      registry(
        kubeconfig('east', BOTH),
        kubeconfig('nobody', 'nobody'),
        kubeconfig('revoked', BOTH, (text) => text.replace(/token: .*/, 'token: revoked')),
        kubeconfig('gone', BOTH, (text) => text.replace(/127\.0\.0\.1:\d+/, 'gone.invalid:6443')),
        kubeconfig('moved', BOTH, (text) => text.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:9')),
        kubeconfig('foreign', BOTH, (text) => text.replace(/certificate-authority: .*/, `certificate-authority: ${foreignCa()}`)),
        { name: 'absent', kubeconfig: './absent-kubeconfig.yaml' },
      ),
    );
    assert.equal(code, 1);
    const broken = [
      'failure cluster X, Tenant: status',
      'failure cluster X, QueueClaim: conditions',
      'failure cluster X, QueueClaim: columns',
    ];
    assert.deepEqual(problems(findings), [
      'failure cluster east, rights of the watcher',
      'failure cluster east, rights of the function',
      ...broken.map((text) => text.replace('X', 'east')),
      'failure cluster nobody, rights of the watcher',
      'failure cluster nobody, rights of the function',
      'failure cluster nobody, Tenant: status',
      'not-checked cluster nobody, Tenant: CRD',
      'not-checked cluster nobody, QueueClaim: CRD',
      'failure cluster revoked, credentials',
      'failure cluster gone, DNS',
      'failure cluster moved, route',
      'failure cluster foreign, TLS',
      'failure cluster absent, kubeconfig',
      'failure live queue, visibility',
      'warning live queue, retention',
      'failure live queue, redrive',
      'failure bulk queue, retention',
      'failure bulk queue, redrive',
      'warning dead-letter queue, retention',
      'failure dead-letter queue, redrive allow',
      'failure function, runtime',
      'failure function, time-out',
      'failure function, environment',
      'failure function, RecursiveLoop',
      'failure function, reserved concurrency',
      'failure function, live: event source',
      'failure function, live: partial batch response',
      'failure function, bulk: maximum concurrency',
    ]);
    const says = (subject: string, check: string): string =>
      findings.find((one) => one.subject === subject && one.check === check)?.says ?? '';
    assert.match(says('cluster east', 'rights of the watcher'), /^may not watch resourcequotas \(for Tenant\)$/);
    assert.match(says('cluster east', 'rights of the function'), /^may not patch tenants\.platform\.example\/status \(for Tenant\)$/);
    assert.match(says('cluster nobody', 'rights of the function'), /none of the \d+/);
    assert.match(says('cluster gone', 'DNS'), /gone\.invalid/);
    assert.ok(findings.every(({ outcome, fix }) => outcome === 'ok' || (fix ?? '').endsWith('.')));
  });

  /** One right of each process, and our CRDs as somebody else might have written them. */
  async function breakCluster(): Promise<void> {
    const takes = (unit: Unit, resource: string, verb: string): object[] => {
      const [role, ...rest] = rbacManifests(unit, reconcilers, groupOf(unit));
      assert.ok(role);
      const rules = (role['rules'] as PolicyRule[]).flatMap((rule) => {
        if (!rule.resources.includes(resource) || !rule.verbs.includes(verb as never)) return [rule];
        const others = { ...rule, resources: rule.resources.filter((name) => name !== resource) };
        const fewer = { ...rule, resources: [resource], verbs: rule.verbs.filter((name) => name !== verb) };
        return [others, fewer].filter(({ resources, verbs }) => resources.length > 0 && verbs.length > 0);
      });
      return [{ ...role, rules }, ...rest];
    };
    const [tenants, claims] = crds().map(versionOf) as [Json, Json];
    delete tenants['subresources'];
    const properties = schemaOf(claims, 'status');
    const { 'x-kubernetes-list-map-keys': _, ...conditions } = properties['conditions'] as Json;
    properties['conditions'] = { ...conditions, 'x-kubernetes-list-type': 'atomic' };
    claims['additionalPrinterColumns'] = (claims['additionalPrinterColumns'] as { name: string }[]).filter(
      ({ name }) => name !== 'Observed',
    );
    // Lists of a CRD are replaced, and not merged.
    for (const [name, version] of [['tenants', tenants] as const, ['queueclaims', claims] as const]) {
      const patch = JSON.stringify({ spec: { versions: [version] } });
      const { code, stderr } = await plane.kubectl(['patch', 'crd', `${name}.platform.example`, '--type=merge', '-p', patch]);
      assert.equal(code, 0, stderr);
    }
    await apply(...takes('watcher', 'resourcequotas', 'watch'), ...takes('reconcile', 'tenants/status', 'patch'));
    await hears((rules) => !rules.includes('watch /resourcequotas ') && !rules.includes('patch platform.example/tenants/status '));
    await serves((names) => !names.includes('tenants/status'));
  }

  async function breakAws(): Promise<void> {
    const letters = (lane: string): string => `arn:aws:sqs:us-east-1:000000000000:${STACK}-${lane}`;
    await scene.set('live', {
      VisibilityTimeout: '60',
      MessageRetentionPeriod: '7200',
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: letters('dead-letters'), maxReceiveCount: 2 }),
    });
    await scene.set('bulk', {
      MessageRetentionPeriod: '1209600',
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: letters('live'), maxReceiveCount: 5 }),
    });
    await scene.set('dead-letters', {
      MessageRetentionPeriod: '864000',
      RedriveAllowPolicy: JSON.stringify({ redrivePermission: 'byQueue', sourceQueueArns: [letters('live')] }),
    });
    const { deployed } = scene;
    const [live, bulk] = deployed.mappings as [Json, Json];
    Object.assign(live, { State: 'Disabled', FunctionResponseTypes: [] });
    delete bulk['ScalingConfig'];
    deployed.recursionConfig = { RecursiveLoop: 'Terminate' };
    deployed.concurrency = { ReservedConcurrentExecutions: 3 };
    deployed.configuration['Runtime'] = 'nodejs20.x';
    deployed.configuration['Timeout'] = 20;
    const { Variables } = deployed.configuration['Environment'] as { Variables: Json };
    deployed.configuration['Environment'] = { Variables: { ...Variables, DOGWATCH_MAX_AGE: '3' } };
  }

  function foreignCa(): string {
    const path = join(dir, 'foreign.crt');
    writeFileSync(path, selfSigned(['127.0.0.1']).cert);
    return path;
  }
});

function crds(): object[] {
  return [tenant, queueClaim].map(({ resource }) => structuredClone(customResourceDefinition(resource as never)));
}

function versionOf(crd: object): Json {
  return (crd as { spec: { versions: Json[] } }).spec.versions[0] ?? {};
}

function schemaOf(version: Json, field: string): Json {
  const schema = version['schema'] as { openAPIV3Schema: { properties: Record<string, { properties: Json }> } };
  const found = schema.openAPIV3Schema.properties[field]?.properties;
  assert.ok(isJsonObject(found));
  return found;
}
