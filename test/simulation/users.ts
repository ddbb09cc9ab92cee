/** Those who change objects while nobody asks whether it suits: users, foreign controllers, and whoever edits children. */
import { OWNER_LABEL, PAUSED_ANNOTATION } from '../../events/labels.ts';
import { configMaps } from '../../functions/core/kinds.ts';
import type { KubernetesObject } from '../../functions/core/reconciler.ts';
import { NAMESPACE, specOf, type WidgetSpec, widgets } from './kinds.ts';
import type { Profile } from './profile.ts';
import type { Random } from './random.ts';
import type { Simulation } from './simulation.ts';

const OTHER_FINALIZER = 'example.com/other';

type Draft = Record<string, unknown>;

export class Users {
  readonly #simulation: Simulation;
  #lastValue = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** Creates the Widget, or gives it another spec. Every spec has another value. */
  put(name: string, spec: Partial<WidgetSpec> = {}): KubernetesObject {
    const { api, trace } = this.#simulation;
    const at = { namespace: NAMESPACE, name };
    const existing = api.cluster.object(widgets, at);
    this.#lastValue += 1;
    const next = { children: [], ...(existing === undefined ? {} : specOf(existing)), ...spec, value: this.#lastValue };
    trace.add('user', `${existing === undefined ? 'creates' : 'changes'} ${name}: ${JSON.stringify(next)}`);
    if (existing === undefined) return api.cluster.create(widgets, at, { spec: next });
    return api.cluster.edit(widgets, at, (draft) => {
      draft['spec'] = next;
    });
  }

  delete(name: string): void {
    this.#simulation.trace.add('user', `deletes ${name}`);
    this.#simulation.api.cluster.delete(widgets, { namespace: NAMESPACE, name });
  }

  pause(name: string, isPaused: boolean): void {
    this.#annotate(name, PAUSED_ANNOTATION, isPaused ? '' : undefined);
  }

  /** Somebody else's annotation: nothing of ours, and yet the resourceVersion moves. */
  touch(name: string): void {
    this.#annotate(name, 'example.com/touched', String(this.#simulation.time.nextId()));
  }

  /** Somebody changes a field of a child that we own. */
  drift(name: string): void {
    this.#simulation.trace.add('somebody', `changes the data of ConfigMap ${name}`);
    this.#simulation.api.cluster.edit(configMaps, { namespace: NAMESPACE, name }, (draft) => {
      draft['data'] = { value: 'drifted' };
    });
  }

  deleteChild(name: string): void {
    this.#simulation.trace.add('somebody', `deletes ConfigMap ${name}`);
    this.#simulation.api.cluster.delete(configMaps, { namespace: NAMESPACE, name });
  }

  /** One thing that the profile allows. */
  act(profile: Profile, random: Random): void {
    const { api, kind } = this.#simulation;
    const name = random.pick(profile.names);
    const object = api.cluster.object(widgets, { namespace: NAMESPACE, name });
    const spec = {
      children: random.pick([[], ['x'], ['x', 'y'], ['y']]),
      ...(kind === 'C' ? { everySeconds: random.pick([50, 100, 1_000, 2_000]) } : {}),
    };
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
      if (object === undefined) this.put(name, spec);
      return;
    }
    const draw = random.next();
    if (profile.hasDeletions && draw < 0.2) {
      if (kind === 'B' && profile.hasOtherFinalizers) this.#holdBack(name);
      this.delete(name);
    } else if (profile.hasPauses && draw < 0.35) this.pause(name, object.metadata.annotations?.[PAUSED_ANNOTATION] === undefined);
    else if (profile.hasForeignWrites && draw < 0.55) this.touch(name);
    else if (profile.hasDrift && draw < 0.75) this.#spoilChild(profile, random);
    else this.put(name, random.chance(0.5) ? spec : {});
  }

  /** Nobody pauses any more. */
  resumeAll(): void {
    for (const { metadata } of this.#simulation.api.cluster.objects(widgets)) {
      if (metadata.annotations?.[PAUSED_ANNOTATION] !== undefined) this.pause(metadata.name, false);
    }
  }

  /** Whoever else held deleted objects lets them go. */
  letGo(): void {
    for (const { metadata } of this.#simulation.api.cluster.objects(widgets)) {
      if (metadata.finalizers?.includes(OTHER_FINALIZER)) this.#setFinalizer(metadata.name, false);
    }
  }

  #holdBack(name: string): void {
    const { time } = this.#simulation;
    this.#setFinalizer(name, true);
    void time.sleep(40_000, this).then(() => this.letGo());
  }

  #setFinalizer(name: string, isOn: boolean): void {
    this.#simulation.trace.add('somebody', `${isOn ? 'holds' : 'lets go of'} ${name} by a finalizer`);
    this.#simulation.api.cluster.edit(widgets, { namespace: NAMESPACE, name }, (draft) => {
      const metadata = draft['metadata'] as Draft;
      const others = ((metadata['finalizers'] ?? []) as string[]).filter((one) => one !== OTHER_FINALIZER);
      draft['metadata'] = { ...metadata, finalizers: isOn ? [...others, OTHER_FINALIZER] : others };
    });
  }

  /** What happens to a child before the watcher has seen it is left to the resync, as is what happens while it is away. */
  #spoilChild(profile: Profile, random: Random): void {
    if (profile.repairedBy === 'at-once' && !this.#simulation.watching.isListening) return;
    const children = this.#simulation.api.cluster
      .objects(configMaps)
      .filter(({ metadata }) => metadata.labels?.[OWNER_LABEL] !== undefined);
    if (children.length === 0) return;
    const { name } = random.pick(children).metadata;
    if (random.chance(0.5)) this.drift(name);
    else this.deleteChild(name);
  }

  #annotate(name: string, annotation: string, value: string | undefined): void {
    this.#simulation.trace.add('somebody', `${value === undefined ? 'takes off' : 'sets'} ${annotation} of ${name}`);
    this.#simulation.api.cluster.edit(widgets, { namespace: NAMESPACE, name }, (draft) => {
      const metadata = draft['metadata'] as Draft;
      const { [annotation]: _, ...others } = (metadata['annotations'] ?? {}) as Draft;
      draft['metadata'] = { ...metadata, annotations: value === undefined ? others : { ...others, [annotation]: value } };
    });
  }
}
