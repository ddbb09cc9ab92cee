/** What `dogwatch dev` knows of the system that it runs, as a value: events in, state out. */

/** A cell of the watcher: one cluster and kind, as /readyz and /metrics show it. */
export interface DevCell {
  readonly cluster: string;
  /** `Tenant.platform.example` */
  readonly kind: string;
  readonly role: 'primary' | 'child';
  readonly phase: string;
  readonly objects: number;
  readonly unsettled: number;
  readonly oldestUnsettledSeconds?: number;
}

/** Messages of a work queue, as SQS counts them: about. */
export interface DevLane {
  readonly name: 'live' | 'bulk';
  readonly ready: number;
  readonly delayed: number;
  readonly inFlight: number;
}

/** The fields that are shown of a log line of the function; the names are the line's own (ARCHITECTURE.md, What the function tells). */
export interface OutcomeLine {
  /** When, as ISO 8601. */
  readonly timestamp?: string;
  /** `INFO`, `WARN`, `ERROR`; any case. */
  readonly level?: string;
  readonly message?: string;
  readonly branch?: string;
  readonly disposition?: string;
  readonly delaySeconds?: number;
  /** `cluster/group/kind/namespace/name` */
  readonly key?: string;
  readonly reason?: string;
  readonly attempt?: number;
  readonly durationMs?: number;
  readonly code?: string;
  readonly error?: string;
  /** Counted, not shown, as are the next two. */
  readonly messageIds?: readonly string[];
  readonly apiRequestCount?: number;
  readonly rereadCount?: number;
}

/** A line of the story: its title, a step, something told during the step, what the step came to, or the whole story's summary. */
export interface StoryLine {
  readonly part: 'title' | 'step' | 'note' | 'result' | 'failure' | 'summary';
  readonly text: string;
}

export type BuildState = 'building' | 'swapped' | 'failed';

interface Notice {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

/** What is told to the view. `cells` and `lanes` are all there are, each time. */
export type DevEvent =
  | { readonly kind: 'step'; readonly text: string }
  | ({ readonly kind: 'story' } & StoryLine)
  | { readonly kind: 'cells'; readonly cells: readonly DevCell[] }
  | { readonly kind: 'lanes'; readonly lanes: readonly DevLane[]; readonly deadLetters: number }
  | { readonly kind: 'outcome'; readonly line: OutcomeLine }
  | { readonly kind: 'build'; readonly state: BuildState; readonly text?: string }
  | ({ readonly kind: 'notice' } & Notice);

export interface DevState {
  /** The last ones, oldest first, as are outcomes and notices. The same one again moves to the end. */
  readonly steps: readonly string[];
  /** The last ones, oldest first. */
  readonly story: readonly StoryLine[];
  readonly cells: readonly DevCell[];
  readonly lanes: readonly DevLane[];
  readonly deadLetters: number;
  readonly outcomes: readonly OutcomeLine[];
  /** Of all outcomes, also of those that are not kept any more. */
  readonly outcomeCount: number;
  readonly build: { readonly state: BuildState; readonly text?: string } | undefined;
  /** The same one again counts up and moves to the end. */
  readonly notices: readonly (Notice & { readonly count: number })[];
}

/** How many of each are kept: more than any terminal shows, and no more, since this runs for days. */
export const KEPT = { steps: 40, story: 60, outcomes: 100, notices: 20 } as const;

/** The state before the first event. */
export function createState(): DevState {
  return { steps: [], story: [], cells: [], lanes: [], deadLetters: 0, outcomes: [], outcomeCount: 0, build: undefined, notices: [] };
}

/** The state after the event. */
export function reduce(state: DevState, event: DevEvent): DevState {
  switch (event.kind) {
    case 'step':
      return {
        ...state,
        steps: append(
          state.steps.filter((text) => text !== event.text),
          event.text,
          KEPT.steps,
        ),
      };
    case 'story':
      return {
        ...state,
        // A story begins once all is there: how it came to be is no news any more, and takes room.
        steps: event.part === 'title' ? [] : state.steps,
        story: append(state.story, { part: event.part, text: event.text }, KEPT.story),
      };
    case 'cells':
      return { ...state, cells: event.cells };
    case 'lanes':
      return { ...state, lanes: event.lanes, deadLetters: event.deadLetters };
    case 'outcome':
      return { ...state, outcomes: append(state.outcomes, event.line, KEPT.outcomes), outcomeCount: state.outcomeCount + 1 };
    case 'build':
      return { ...state, build: { state: event.state, ...(event.text === undefined ? {} : { text: event.text }) } };
    case 'notice':
      return { ...state, notices: noted(state.notices, event) };
  }
}

function append<Item>(items: readonly Item[], item: Item, kept: number): readonly Item[] {
  return [...items, item].slice(-kept);
}

function noted(notices: DevState['notices'], { level, text }: Notice): DevState['notices'] {
  const isSame = (notice: Notice): boolean => notice.level === level && notice.text === text;
  const count = (notices.find(isSame)?.count ?? 0) + 1;
  const others = notices.filter((notice) => !isSame(notice));
  return append(others, { level, text, count }, KEPT.notices);
}
