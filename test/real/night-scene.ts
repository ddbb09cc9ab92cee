/**
 * The night itself: 600 letters are written by the function and by SQS, and then everything happens to their objects that may, until the
 * clusters are as the person on call finds them. No watcher runs: every message is sent by the script, so that it knows each letter.
 */
import { buildEnvelope, type EnvelopeData, encodeEnvelope, type Lane, type Reason } from '../../events/envelope.ts';
import { buildHeartbeat } from '../../events/heartbeat.ts';
import { PAUSED_ANNOTATION } from '../../events/labels.ts';
import { mapBounded } from '../../functions/core/bounded.ts';
import { exampleData } from '../functions/core/example-data.ts';
import { type ApiObject, until } from './api.ts';
import { CAST, type Cluster, FOREIGN_BODY_COUNT, HEARTBEAT_COUNT, type Member, membersWith } from './night-cast.ts';
import { type NightQueues, nightQueues } from './night-queue.ts';
import { UNTRIED_OWNER } from './reconcilers/night.ts';
import { runsOf } from './runs.ts';
import { type System, startSystem } from './system.ts';
import { changeTenant, createTenant, gone, settled, TENANTS } from './tenants.ts';

/** Objects that are worked on at once, at each of two clusters. */
const PARALLEL = 12;
const NAMESPACES = '/api/v1/namespaces';
const POLICIES = '/apis/admissionregistration.k8s.io/v1';

export interface Night {
  readonly system: System;
  readonly queues: NightQueues;
  /** Mends every cause that is left, and brings west up again. */
  fix(): Promise<void>;
  stop(): Promise<void>;
}

/** The scene up to when somebody looks: every letter is there, west is down, the function runs, and the causes persist. */
export async function startNight(say: (what: string) => void): Promise<Night> {
  const system = await startSystem({
    clusters: ['east', 'west'],
    reconcilers: 'test/real/reconcilers/night.ts',
    idle: true,
    maxReceiveCount: 2,
    // Of a batch that is cut off, some letters are written twice: on a busy machine the count would be another then.
    functionTimeoutSeconds: 25,
    visibilitySeconds: 60,
    env: { DOGWATCH_MAX_ATTEMPTS: '2', DOGWATCH_RETRY_BASE_SECONDS: '1', DOGWATCH_RECORD_DEADLINE_SECONDS: '15' },
  });
  const queues = nightQueues(system.lab);
  const stop = async (): Promise<void> => {
    queues.close();
    await system.stop();
  };
  try {
    say('clusters and queues are up');
    const script = new Script(system, queues);
    await script.writeLetters(say);
    await script.letThingsHappen(say);
    say('objects healed, went, came again');
    await system.lab.clusters.get('west')?.stopApiServer('kill');
    return { system, queues, fix: () => script.fix(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

class Script {
  readonly #system: System;
  readonly #queues: NightQueues;
  /** As they were when last read. */
  readonly #objects = new Map<string, ApiObject>();

  constructor(system: System, queues: NightQueues) {
    this.#system = system;
    this.#queues = queues;
  }

  async writeLetters(say: (what: string) => void): Promise<void> {
    await this.#forEachPolicy((path, body) => this.#post(body.cluster, path, body.policy));
    await this.#each(membersWith({ cause: 'foreign' }), ({ name, cluster }) =>
      this.#post(cluster, NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `tenant-${name}` } }),
    );
    await this.#policiesWork();
    await this.#each(membersWith({}), async (member) => {
      const owner = member.cause === 'bug' ? UNTRIED_OWNER : undefined;
      this.#objects.set(member.name, await createTenant(this.#api(member), member.name, owner === undefined ? {} : { owner }));
    });
    say('objects are made');
    let count = await this.#moveSome();
    say(`SQS has moved ${count} messages`);
    await this.#system.startFunction();
    const well = membersWith({ cause: 'moved' });
    await this.#send('live', well, 'created');
    const failing = CAST.filter(({ cause }) => cause !== 'moved');
    const rounds: readonly [Lane, Reason][] = [
      ['live', 'created'],
      ['bulk', 'sweep'],
      ['live', 'generation-changed'],
      ['bulk', 'resync'],
    ];
    for (const [at, [lane, reason]] of rounds.entries()) {
      const those = failing.filter(({ letterCount }) => letterCount > at);
      if (reason === 'generation-changed') await this.#each(those, (member) => this.#change(member, { members: [] }));
      await this.#send(lane, those, reason);
      if (at === 0)
        await this.#queues.send(
          'bulk',
          Array.from({ length: FOREIGN_BODY_COUNT }, (_, nth) => `{"order": ${nth}}`),
        );
      count += those.length + (at === 0 ? FOREIGN_BODY_COUNT : 0);
      await this.#queues.holds(count);
      say(`${count} letters`);
    }
    await this.#each(well, (member) => settled(this.#api(member), member.name));
    await this.#system.drained();
  }

  /** Nobody takes these: their receives are used up before any function runs. */
  async #moveSome(): Promise<number> {
    const members = membersWith({ cause: 'moved' });
    const bodies = members.flatMap((member) =>
      Array.from({ length: member.letterCount }, () => this.#body(member, member.fate === 'must-run' ? 'child-changed' : 'created')),
    );
    const beats = Array.from({ length: HEARTBEAT_COUNT }, () =>
      JSON.stringify(buildHeartbeat('east', [], { id: crypto.randomUUID(), now: new Date() })),
    );
    await this.#queues.send('live', [...bodies, ...beats]);
    await this.#queues.moveBySqs('live', bodies.length + beats.length);
    return bodies.length + beats.length;
  }

  /** What becomes of the objects before anybody looks. */
  async letThingsHappen(say: (what: string) => void): Promise<void> {
    const whose = (...fates: Member['fate'][]): Member[] => CAST.filter(({ fate, cause }) => fates.includes(fate) && cause !== 'moved');
    await this.#each(whose('paused'), ({ name, cluster }) =>
      this.#system.apiOf(cluster).merge(`${TENANTS}/${name}`, { metadata: { annotations: { [PAUSED_ANNOTATION]: 'yes' } } }),
    );
    await this.#each(whose('gone', 'again'), async (member) => {
      await this.#api(member).delete(`${TENANTS}/${member.name}`);
      await gone(this.#api(member), `${TENANTS}/${member.name}`);
    });
    await this.#removeNamespaces([
      ...membersWith({ cause: 'foreign', fate: 'healed' }),
      ...membersWith({ cause: 'foreign', fate: 'again' }),
    ]);
    say('namespaces removed');
    await this.#each(membersWith({ cause: 'bug', fate: 'healed' }), (member) => this.#change(member, { owner: 'olga@acme.example' }));
    await this.#each(whose('again'), async (member) => {
      this.#objects.set(member.name, await createTenant(this.#api(member), member.name));
    });
    say('made again');
    await this.#send('live', whose('again'), 'created');
    await this.#send('bulk', whose('healed'), 'manual');
    await this.#each(whose('healed', 'again'), (member) => settled(this.#api(member), member.name));
    await this.#system.drained();
  }

  async fix(): Promise<void> {
    const { lab } = this.#system;
    await Promise.all([lab.clusters.get('west')?.startApiServer(), this.#system.functionHost.stop()]);
    await this.#system.rebuild('functions/reconcilers/index.ts');
    await this.#forEachPolicy((path, { cluster, policy }) => this.#system.apiOf(cluster).delete(`${path}/${policy.metadata.name}`));
    await this.#removeNamespaces(membersWith({ cause: 'foreign', fate: 'failing' }));
    await this.#policiesWork(201);
    await this.#system.startFunction();
    // Its first runs take longest, and a verdict may not wait for long here.
    const well = membersWith({ cause: 'moved' });
    await this.#send('bulk', well, 'created');
    await until('the function is warm', () => runsOf(this.#system).length >= well.length || undefined);
  }

  /** Without waiting for the namespace controller, which takes its time after its API server was away: there is nothing in them. */
  async #removeNamespaces(members: readonly Member[]): Promise<void> {
    await this.#each(members, async (member) => {
      const path = `${NAMESPACES}/tenant-${member.name}`;
      const api = this.#api(member);
      await api.delete(path);
      await until(`${path} is gone`, async () => {
        const { status, body } = await api.get(path);
        if (status !== 404) await api.put(`${path}/finalize`, { ...body, spec: { finalizers: [] } });
        return status === 404 || undefined;
      });
    });
  }

  async #change(member: Member, spec: Parameters<typeof changeTenant>[2]): Promise<void> {
    if (member.cluster === 'north') return;
    await changeTenant(this.#api(member), member.name, spec);
    this.#objects.set(member.name, (await this.#api(member).get(`${TENANTS}/${member.name}`)).body);
  }

  async #send(lane: Lane, members: readonly Member[], reason: Reason): Promise<void> {
    await this.#queues.send(
      lane,
      members.map((member) => this.#body(member, reason)),
    );
  }

  /** A message as the watcher would send it, of a change that is older than any budget: a failure that may pass by itself is its last. */
  #body({ name, cluster }: Member, reason: Reason): string {
    const { uid, resourceVersion, generation } = this.#objects.get(name)?.metadata ?? {
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      generation: 1,
    };
    const mustRun = !['created', 'generation-changed'].includes(reason);
    const data: EnvelopeData = exampleData({ ...{ cluster, name, uid, resourceVersion, generation, reason, mustRun } });
    return encodeEnvelope(buildEnvelope(data, { id: crypto.randomUUID(), now: new Date() }));
  }

  #api({ cluster }: Member): ReturnType<System['apiOf']> {
    return this.#system.apiOf(cluster);
  }

  async #post(cluster: Cluster, path: string, body: object): Promise<void> {
    const answer = await this.#system.apiOf(cluster).post(path, body);
    if (answer.status !== 201) throw new Error(`${path} in ${cluster}: ${answer.status} ${answer.body.message}`);
  }

  /** Those of a cluster that has a server. */
  async #each(members: readonly Member[], work: (member: Member) => Promise<unknown>): Promise<void> {
    await mapBounded(
      members.filter(({ cluster }) => cluster !== 'north'),
      2 * PARALLEL,
      work,
    );
  }

  async #forEachPolicy(work: (path: string, of: { cluster: Cluster; policy: Policy }) => Promise<unknown>): Promise<void> {
    await Promise.all(
      (['east', 'west'] as const).map(async (cluster) => {
        for (const [path, policy] of [POLICY, BINDING]) await work(`${POLICIES}/${path}`, { cluster, policy });
      }),
    );
  }

  /** Resolves when both clusters answer so to who makes what the policy is against. */
  async #policiesWork(status: 201 | 403 = 403): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-frozen-trial' } };
    const answers = async (cluster: string): Promise<true | undefined> =>
      (await this.#system.apiOf(cluster).post(`${NAMESPACES}?dryRun=All`, body)).status === status || undefined;
    await Promise.all(['east', 'west'].map((cluster) => until(`${cluster} answers ${status}`, () => answers(cluster))));
  }
}

interface Policy {
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

const admission = (kind: string, spec: object): Policy => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: 'night' },
  spec,
});

const POLICY: [string, Policy] = [
  'validatingadmissionpolicies',
  admission('ValidatingAdmissionPolicy', {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['namespaces'] }],
    },
    validations: [
      { expression: "!object.metadata.name.startsWith('tenant-frozen-')", reason: 'Forbidden', message: 'changes are frozen' },
      { expression: "!object.metadata.name.startsWith('tenant-refused-')", reason: 'Invalid', message: 'a namespace needs a cost centre' },
    ],
  }),
];
const BINDING: [string, Policy] = [
  'validatingadmissionpolicybindings',
  admission('ValidatingAdmissionPolicyBinding', { policyName: 'night', validationActions: ['Deny'] }),
];
