/** `dogwatch doctor`: what it asks of clusters and of AWS, what it makes of the answers, and how it prints them. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { SERVICE } from '../../../functions/cli/doctor/deployment-facts.ts';
import { examine } from '../../../functions/cli/doctor.ts';
import { main } from '../../../functions/cli/main.ts';
import type { Finding } from '../../../functions/core/doctor/finding.ts';
import { rightsOf } from '../../../functions/core/rights.ts';
import { reconcilers } from '../../../functions/reconcilers/index.ts';
import { type ApiServer, startApiServer } from '../../../infra/local/api-server/api-server.ts';
import { ApiStub, hang, json, type Reply, type StubRequest, text } from '../../fakes/api-stub.ts';
import { servedKinds, storedCrds } from '../core/doctor/healthy.ts';
import { type DoctorScene, LANES, startDoctorScene } from './doctor-scene.ts';

const dir = mkdtempSync(join(tmpdir(), 'dogwatch-doctor-'));
const AWS_KEYS = ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_ENDPOINT_URL_SQS', 'AWS_ENDPOINT_URL_LAMBDA'];
const OURS_BEFORE = Object.fromEntries(AWS_KEYS.map((name) => [name, process.env[name]]));

function registry(clusters: readonly object[]): string {
  const path = join(dir, 'clusters.yml');
  writeFileSync(path, JSON.stringify({ clusters }));
  return path;
}

/** `outcome subject, check` of whatever is not ok. */
function problems(findings: readonly Finding[]): string[] {
  return findings.filter(({ outcome }) => outcome !== 'ok').map(({ outcome, subject, check }) => `${outcome} ${subject}, ${check}`);
}

const ofClusters = (findings: readonly Finding[]): Finding[] => findings.filter(({ subject }) => subject.startsWith('cluster '));

/** A cluster in which all is well for whoever may do what `isAllowed` says. */
function healthy(isAllowed: (attributes: Record<string, string>) => boolean): Reply {
  const answers: Record<string, (request: StubRequest) => unknown> = {
    '/version': () => ({ gitVersion: 'v1.36.2' }),
    '/apis/authentication.k8s.io/v1/selfsubjectreviews': () => ({ status: { userInfo: { username: 'tester' } } }),
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': ({ body }) => ({
      status: { allowed: isAllowed(JSON.parse(body).spec.resourceAttributes) },
    }),
  };
  for (const [groupVersion, asked] of servedKinds()) {
    const resources =
      asked.kind === 'told' ? asked.value?.map(({ name, kind, isNamespaced }) => ({ name, kind, namespaced: isNamespaced })) : [];
    answers[`/${groupVersion.includes('/') ? 'apis' : 'api'}/${groupVersion}`] = () => ({ resources });
  }
  for (const [name, asked] of storedCrds()) {
    answers[`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`] = () => (asked.kind === 'told' ? asked.value : undefined);
  }
  return (response, request) => {
    const answer = answers[request.path];
    return (answer === undefined ? text(404, '404 page not found') : json(200, answer(request)))(response, request);
  };
}

describe('dogwatch doctor', () => {
  let scene: DoctorScene;
  let stub: ApiStub;
  let silent: ApiStub;
  let server: ApiServer;
  before(async () => {
    [scene, stub, silent, server] = await Promise.all([
      startDoctorScene(),
      ApiStub.start({ tls: true }),
      ApiStub.start({ tls: true }),
      startApiServer(),
    ]);
    Object.assign(process.env, scene.env);
  });
  beforeEach(() => {
    stub.otherwise = healthy(() => true);
    silent.otherwise = hang;
  });
  after(async () => {
    for (const name of AWS_KEYS) {
      if (OURS_BEFORE[name] === undefined) delete process.env[name];
      else process.env[name] = OURS_BEFORE[name];
    }
    await Promise.all([scene.stop(), stub.close(), silent.close(), server.stop()]);
    rmSync(dir, { recursive: true, force: true });
  });
  const ask = (clusters: readonly object[], options = {}, limits = {}): Promise<Finding[]> =>
    examine({ DOGWATCH_CLUSTERS: registry(clusters) }, { stage: 'real', ...options }, reconcilers, limits);

  it('finds nothing where all is well', async () => {
    const findings = await ask([{ name: 'east', kubeconfig: stub.kubeconfig() }]);
    assert.deepEqual(problems(findings), []);
    assert.ok(findings.some(({ check, says }) => check === 'reach' && says === 'as tester'));
  });

  it('asks for exactly the rights that the processes need, and for those of one of them', async () => {
    const seen: string[] = [];
    stub.otherwise = healthy(({ verb, group, resource, subresource, name, ...more }) => {
      assert.deepEqual(more, {});
      seen.push(`${verb} ${group}/${resource}${subresource === undefined ? '' : `/${subresource}`} ${name ?? ''}`);
      return true;
    });
    const needed = (unit: 'watcher' | 'reconcile'): string[] =>
      rightsOf(unit, reconcilers).map(({ verb, group, resource, name = '' }) => `${verb} ${group}/${resource} ${name}`);
    const clusters = [{ name: 'east', kubeconfig: stub.kubeconfig() }];
    await ask(clusters);
    assert.deepEqual(seen.splice(0).sort(), [...needed('watcher'), ...needed('reconcile')].sort());
    await ask(clusters, { for: 'watcher' });
    assert.deepEqual(seen.sort(), needed('watcher').sort());
  });

  it('tells which rights are missing', async () => {
    stub.otherwise = healthy(({ verb, subresource }) => verb !== 'watch' && subresource !== 'status');
    const found = ofClusters(await ask([{ name: 'east', kubeconfig: stub.kubeconfig() }])).filter(({ outcome }) => outcome !== 'ok');
    const saying = (text: string): boolean => found.some(({ says }) => says.includes(text));
    assert.ok(saying('may not watch tenants.platform.example (for Tenant)'));
    assert.ok(saying('may not patch queueclaims.platform.example/status (for QueueClaim)'));
    assert.equal(found.length, rightsOf('watcher', reconcilers).filter(({ verb }) => verb === 'watch').length + 2);
  });

  it('gives up a cluster that never answers, with the others unharmed', async () => {
    const clusters = [
      { name: 'silent', kubeconfig: silent.kubeconfig() },
      { name: 'east', kubeconfig: stub.kubeconfig() },
    ];
    const findings = await ask(clusters, {}, { timeouts: { totalMs: 2000, connectMs: 5000 } });
    assert.deepEqual(problems(findings), ['failure cluster silent, answer']);
  });

  it('gives up one that falls silent in the middle, and says what it did not tell', async () => {
    silent.otherwise = (response, request) => (request.path.includes('access') ? undefined : healthy(() => true)(response, request));
    const findings = await ask([{ name: 'east', kubeconfig: silent.kubeconfig() }], {}, { limitMs: 3000 });
    assert.deepEqual(problems(findings), [
      'not-checked cluster east, rights of the watcher',
      'not-checked cluster east, rights of the function',
    ]);
  });

  it('tells the ways apart in which a cluster is not reached', async () => {
    const gone = await ApiStub.start({ tls: true });
    const gonePath = gone.kubeconfig({ token: 'x' }, {}, 'gone.yaml');
    const keep = join(dir, 'gone.yaml');
    copyFileSync(gonePath, keep);
    await gone.close();
    stub.otherwise = json(401, { kind: 'Status', status: 'Failure', reason: 'Unauthorized', code: 401 });
    const findings = await ask([
      { name: 'dns', kubeconfig: stub.kubeconfig({}, { server: 'https://nowhere.invalid:6443' }, 'dns.yaml') },
      { name: 'refused', kubeconfig: keep },
      { name: 'tls', kubeconfig: stub.kubeconfig({}, { 'tls-server-name': 'other.example' }, 'tls.yaml') },
      { name: 'denied', kubeconfig: stub.kubeconfig({ token: 'old' }, {}, 'denied.yaml') },
      { name: 'absent', kubeconfig: join(dir, 'absent.yaml') },
      {
        name: 'plugin',
        kubeconfig: stub.kubeconfig({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'false' } }, {}, 'plugin.yaml'),
      },
      { name: 'plain', kubeconfig: stub.kubeconfig({}, { server: scene.lambda.url.replace('http:', 'https:') }, 'plain.yaml') },
      { name: 'inside', inCluster: true },
    ]);
    assert.deepEqual(problems(findings), [
      'failure cluster dns, DNS',
      'failure cluster refused, route',
      'failure cluster tls, TLS',
      'failure cluster denied, credentials',
      'failure cluster absent, kubeconfig',
      'failure cluster plugin, credentials',
      'failure cluster plain, TLS',
      'not-checked cluster inside, reach',
    ]);
    assert.match(findings.find(({ check }) => check === 'DNS')?.says ?? '', /nowhere\.invalid/);
    // OpenSSL's own words end in a newline.
    for (const { check, says } of findings) assert.doesNotMatch(says, /\n/, check);
  });

  it('looks at kinds on the embedded server, which has no access reviews', async () => {
    const path = join(dir, 'embedded.yaml');
    writeFileSync(path, server.kubeconfig('east'));
    const clusters = [{ name: 'east', kubeconfig: path }];
    const reviews = ['not-checked cluster east, rights of the watcher', 'not-checked cluster east, rights of the function'];
    assert.deepEqual(problems(await ask(clusters)), [
      ...reviews,
      'failure cluster east, Tenant: served',
      'failure cluster east, QueueClaim: served',
    ]);
    assert.equal(await run(['crds', '--apply', '--cluster', 'east']), 0);
    assert.deepEqual(problems(await ask(clusters)), reviews);
  });

  async function run(words: readonly string[]): Promise<number> {
    const lines: string[] = [];
    const { log } = console;
    console.log = (line: string) => lines.push(line);
    process.env['DOGWATCH_CLUSTERS'] = join(dir, 'clusters.yml');
    try {
      return await main(words);
    } finally {
      console.log = log;
      delete process.env['DOGWATCH_CLUSTERS'];
      printed = lines.join('\n');
    }
  }
  let printed = '';

  it('ends with 0, 1 and 2, and prints a table or JSON', async () => {
    registry([{ name: 'east', kubeconfig: stub.kubeconfig() }]);
    assert.equal(await run(['doctor', '--stage', 'real']), 0);
    assert.match(
      printed,
      /^SUBJECT +CHECK +RESULT\nregistry +read +ok +clusters\.yml: east\ncluster east +reach +ok +as tester\n +version +ok/,
    );
    assert.match(printed, /\n\n0 failures, 0 warnings, 0 not checked, \d+ ok$/);
    const { deployed } = scene;
    deployed.recursionConfig = { RecursiveLoop: 'Terminate' };
    assert.equal(await run(['doctor', '--stage', 'real']), 1);
    assert.match(printed, /\n\nFAILURE {6}function, RecursiveLoop: .+\n {13}Run aws lambda .+\n\n1 failure, 0 warnings/);
    assert.equal(await run(['doctor', '--function', 'dogwatch-real-reconcile', '--json']), 1);
    const { counts, findings } = JSON.parse(printed);
    assert.equal(counts.failure, 1);
    assert.deepEqual(problems(findings), ['failure function, RecursiveLoop']);
    deployed.recursionConfig = { RecursiveLoop: 'Allow' };
  });

  it('says of each thing that nobody named that it was not checked', async () => {
    const findings = await examine({}, {}, reconcilers);
    assert.deepEqual(problems(findings), [
      'not-checked registry, read',
      'not-checked live queue, found',
      'not-checked bulk queue, found',
      'not-checked dead-letter queue, found',
      'not-checked function, found',
    ]);
  });

  it('looks for function and queues by the names that serverless.yml gives', async () => {
    const template = readFileSync(join(import.meta.dirname, '../../../serverless.yml'), 'utf8');
    const queues = readFileSync(join(import.meta.dirname, '../../../infra/queues.yml'), 'utf8');
    assert.match(template, new RegExp(`^service: ${SERVICE}$`, 'm'));
    assert.match(template, /^functions:\n {2}reconcile:$/m);
    for (const lane of LANES) assert.ok(queues.includes(`\${self:service}-\${self:custom.stage.name}-${lane}\n`), lane);
    // Where the function may not be asked for its variables, the queues are found by name.
    scene.lambda.refusals.set('configuration', 'AccessDeniedException');
    const findings = await ask([{ name: 'east', kubeconfig: stub.kubeconfig() }]);
    scene.lambda.refusals.clear();
    assert.deepEqual(problems(findings), ['not-checked function, configuration']);
    assert.equal(findings.find(({ subject, check }) => subject === 'live queue' && check === 'visibility')?.outcome, 'ok');
  });

  it('takes what AWS refuses to tell for not checked, and never for a failure', async () => {
    scene.lambda.refusals.set('recursion-config', 'AccessDeniedException').set('concurrency', 'AccessDeniedException');
    const findings = await ask([{ name: 'east', kubeconfig: stub.kubeconfig() }]);
    scene.lambda.refusals.clear();
    assert.deepEqual(problems(findings), ['not-checked function, RecursiveLoop', 'not-checked function, reserved concurrency']);
    assert.match(findings.find(({ check }) => check === 'RecursiveLoop')?.fix ?? '', /lambda:GetFunctionRecursionConfig/);
  });

  it('refuses a cluster that is not in the registry with 2', async () => {
    registry([{ name: 'east', kubeconfig: stub.kubeconfig() }]);
    const { error } = console;
    const lines: string[] = [];
    console.error = (line: string) => lines.push(line);
    try {
      assert.equal(await run(['doctor', '--cluster', 'west']), 2);
    } finally {
      console.error = error;
    }
    assert.match(lines.join('\n'), /no cluster is named west; there are: east/);
  });
});
