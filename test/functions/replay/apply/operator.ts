/** A process that applies a plan in a {@link World}, and that can be killed at any call: what it waits for then never comes. */
import assert from 'node:assert/strict';
import type { Clock } from '../../../../functions/adapters/clock.ts';
import type { KubernetesClient } from '../../../../functions/adapters/kubernetes/port.ts';
import type { SendResult } from '../../../../functions/adapters/queue-port.ts';
import { applyPlan } from '../../../../functions/replay/apply/apply.ts';
import { readAudit } from '../../../../functions/replay/apply/audit-text.ts';
import type { ApplyEvent, ApplyOptions, ApplySettings, ApplySummary, PlanToApply } from '../../../../functions/replay/apply/contract.ts';
import { type Behaviour, World } from './world.ts';

export const SETTINGS: ApplySettings = { canary: 2, canaryTimeoutSeconds: 60, ratePerSecond: 5, stopAt: 1, again: false, by: 'anna' };

/** `middle`: of the write of a line; of other calls it is as `before`. */
export interface Kill {
  readonly call: number;
  readonly when: 'before' | 'middle' | 'after';
}

export type PortCall = 'receive' | 'extend' | 'remove' | 'release' | 'send' | 'get' | 'append';

/** The audit of one plan, which its processes have one after the other. */
export class AuditText {
  text = '';
}

/**
 * `throws`: the call fails, and does nothing. `part`: of what it is asked for, the answer says of this share that it could not be done;
 * `isDone`: it was all the same, and only the answer was lost.
 */
export type Fault = { readonly throws: Error } | { readonly part: number; readonly isDone: boolean; readonly code: string };

export interface OperatorOptions {
  readonly plan: PlanToApply;
  readonly audit?: AuditText;
  readonly settings?: Partial<ApplySettings>;
  readonly kill?: Kill;
  /** Called around each call: how long it takes to get there, and its answer back. */
  readonly before?: () => Promise<void>;
  readonly after?: () => Promise<void>;
  readonly fault?: (call: PortCall) => Fault | undefined;
}

type PartFault = Extract<Fault, { part: number }>;

const NEVER = new Promise<never>(() => {});

export class Operator {
  readonly #world: World;
  readonly #options: OperatorOptions;
  readonly audit: AuditText;
  readonly events: ApplyEvent[] = [];
  readonly stop = new AbortController();
  /** The calls made, in order. */
  readonly calls: PortCall[] = [];
  #isDead = false;
  readonly #death = Promise.withResolvers<undefined>();

  get isDead(): boolean {
    return this.#isDead;
  }

  constructor(world: World, options: OperatorOptions) {
    this.#world = world;
    this.#options = options;
    this.audit = options.audit ?? new AuditText();
  }

  /** Runs until it is over. @returns undefined where it was killed */
  async run(): Promise<ApplySummary | undefined> {
    const { work } = await this.start();
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    work.then(over, over);
    await this.#world.clock.advanceUntil(() => isOver || this.isDead, 7_200_000);
    return this.isDead ? undefined : work;
  }

  /** The same while somebody else lets time pass. */
  async outcome(): Promise<ApplySummary | undefined> {
    const { work } = await this.start();
    return Promise.race([work, this.#death.promise]);
  }

  /** Begins; somebody has to let time pass. */
  async start(): Promise<{ readonly work: Promise<ApplySummary> }> {
    const { clock, letters } = this.#world;
    const { plan, settings } = this.#options;
    const options: ApplyOptions = {
      ...{
        plan,
        accounted: new Set(),
        command: 'dogwatch replay apply plan.json',
        bulkQueueUrl: 'https://sqs/bulk',
        stop: this.stop.signal,
      },
      description: await letters.describe(),
      settings: { ...SETTINGS, ...settings },
      clock: this.#clock(clock),
      ...this.#ports(),
      tell: (event) => this.events.push(event),
    };
    const work = applyPlan(options);
    work.catch(() => undefined);
    return { work };
  }

  #ports(): Pick<ApplyOptions, 'queue' | 'sender' | 'source' | 'audit'> {
    const { letters, bulk, source } = this.#world;
    const { audit } = this;
    return {
      queue: {
        describe: () => letters.describe(),
        receive: (how) => this.#call('receive', () => letters.receive(how)),
        extend: (handles, seconds) => this.#partly('extend', handles, (some) => letters.extend(some, seconds)),
        remove: (handles) => this.#partly('remove', handles, (some) => letters.remove(some)),
        release: (handles) => this.#partly('release', handles, (some) => letters.release(some)),
        close() {},
      },
      sender: {
        send: (url, messages) =>
          this.#call('send', async (fault) => {
            const isFailed = failedPlaces(fault, messages.length);
            const asked = messages.filter((_, place) => !isFailed(place) || fault?.isDone);
            const results = await bulk.send(url, asked);
            return messages.map((message, place) =>
              isFailed(place) ? { kind: 'retry', code: fault?.code ?? '' } : (results[asked.indexOf(message)] as SendResult),
            );
          }),
      },
      source: {
        reconcilers: source.reconcilers,
        clientOf: (cluster) => {
          const client = source.clientOf(cluster);
          if (typeof client === 'string') return client;
          const get: KubernetesClient['get'] = (...how) => this.#call('get', () => client.get(...how));
          return { ...client, requestCount: 0, get };
        },
      },
      audit: {
        past: readAudit(audit.text),
        append: (lines) => {
          const text = `${audit.text === '' || audit.text.endsWith('\n') ? '' : '\n'}${lines.map((line) => `${JSON.stringify(line)}\n`).join('')}`;
          const write = (written: string) => async (): Promise<void> => {
            audit.text += written;
          };
          return this.#call('append', write(text), write(text.slice(0, Math.ceil(text.length * 0.6))));
        },
      },
    };
  }

  #partly(name: PortCall, handles: readonly string[], work: (handles: readonly string[]) => Promise<number[]>): Promise<number[]> {
    return this.#call(name, async (fault) => {
      const isFailed = failedPlaces(fault, handles.length);
      const asked = handles.flatMap((handle, place) => (isFailed(place) && !fault?.isDone ? [] : [{ handle, place }]));
      const left = await work(asked.map(({ handle }) => handle));
      const leftPlaces = new Set(left.map((at) => asked[at]?.place));
      return handles.flatMap((_, place) => (isFailed(place) || leftPlaces.has(place) ? [place] : []));
    });
  }

  async #call<Result>(name: PortCall, work: (fault?: PartFault) => Promise<Result>, half?: () => Promise<void>): Promise<Result> {
    const { kill, before, after } = this.#options;
    if (this.isDead) return NEVER;
    this.calls.push(name);
    const isKilled = kill?.call === this.calls.length;
    if (isKilled && kill.when !== 'after') {
      this.#die();
      if (kill.when === 'middle') await half?.();
      return NEVER;
    }
    await before?.();
    if (this.isDead) return NEVER;
    const fault = this.#options.fault?.(name);
    if (fault !== undefined && 'throws' in fault) throw fault.throws;
    const result = await work(fault);
    await after?.();
    if (isKilled) this.#die();
    return this.isDead ? NEVER : result;
  }

  #die(): void {
    this.#isDead = true;
    this.#death.resolve(undefined);
  }

  #clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      steadyMs: () => clock.steadyMs(),
      random: () => clock.random(),
      uuid: () => clock.uuid(),
      traceparent: () => clock.traceparent(),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        if (this.isDead) await NEVER;
      },
    };
  }
}

function failedPlaces(fault: PartFault | undefined, count: number): (place: number) => boolean {
  return (place) => fault !== undefined && place >= count * (1 - fault.part);
}

/** Holds a summary to the sums that its type promises. */
export function assertSums({ letters, sends }: ApplySummary, plan: PlanToApply): void {
  const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);
  const { received, sent, folded, sentBefore, acknowledged, left, notOfPlan, notSeen, missed } = letters;
  assert.equal(received, sent + folded + sentBefore + sum(acknowledged) + sum(left) + notOfPlan, 'letters received');
  assert.equal(plan.items.flatMap((item) => item.letters).length, received - notOfPlan + notSeen, 'letters of the plan');
  assert.equal(missed, notSeen, 'nothing is on record that was not passed on');
  assert.equal(sent, sum(sends), 'sends');
}

/** Applies until it is over, and holds the summary to its sums. */
export async function applied(
  world: World,
  plan: PlanToApply,
  options: Partial<OperatorOptions> = {},
): Promise<{ readonly summary: ApplySummary; readonly operator: Operator }> {
  const operator = new Operator(world, { plan, ...options });
  const summary = await operator.run();
  assert.ok(summary !== undefined);
  assertSums(summary, plan);
  return { summary, operator };
}

/** A world of tenants t0, t1 ... in cluster east with a letter each, and its plan. */
export async function tenants(behaviours: readonly Behaviour[]): Promise<{ readonly world: World; readonly plan: PlanToApply }> {
  const world = new World();
  for (const [at, behaviour] of behaviours.entries()) {
    world.tenant(`t${at}`, { behaviour });
    world.letter(`t${at}`);
  }
  return { world, plan: await world.plan() };
}

export function times(count: number, behaviour: Behaviour): Behaviour[] {
  return Array.from({ length: count }, () => behaviour);
}
