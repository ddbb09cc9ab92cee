/** What a run of the function does to the world, one thing after the other, and where it is to die at one of them. */
import { inspect } from 'node:util';
import { BenchError } from './bench-error.ts';

/** Something that the function did, or was about to do when it died. */
export interface Effect {
  /** 1 is the first of the bench. */
  readonly index: number;
  /** For example `apply status of Greeting default/hello`, `send retry of ...`, `acknowledge created of ...`. */
  readonly text: string;
  /** Where the function died. */
  readonly crashed?: 'before' | 'after';
}

/** Which effect: its number, a part of its text, or whatever the function says yes to. */
export type EffectChoice = number | string | RegExp | ((effect: Effect) => boolean);

/** The function dies before the effect, which then never is, or after it, without hearing what became of it. */
export type CrashPoint = ({ readonly before: EffectChoice } | { readonly after: EffectChoice }) & {
  /** How many such effects, 1 or more; 1 if left out. */
  readonly times?: number;
};

interface Armed {
  readonly side: 'before' | 'after';
  readonly choice: EffectChoice;
  left: number;
  /** Effects that there were before it. */
  readonly since: number;
  /** It has to come in the call that lets the function work next. */
  isAwaited: boolean;
}

/** Effects that are told of. */
const TOLD_MAX = 30;

export class Effects {
  readonly #armed = new Set<Armed>();
  readonly #all: Effect[] = [];
  readonly #texts: string[] = [];

  /** In order, since the start or the last {@link clear}. */
  get all(): readonly Effect[] {
    return this.#all;
  }

  /** The texts of all since the start, whatever was cleared. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  /** Forgets them; the numbers go on. */
  clear(): void {
    this.#all.length = 0;
  }

  /** Arms a crash; the returned function lifts it. @param isAwaited  whether {@link checkStruck} misses it where it does not come */
  arm(point: CrashPoint, isAwaited: boolean): () => void {
    const { before, after, times = 1 } = point as { before?: EffectChoice; after?: EffectChoice; times?: number };
    if ((before === undefined) === (after === undefined)) {
      throw new BenchError(
        'bad-crash-point',
        'a crash is either before or after an effect: crash({ before: ... }) or crash({ after: ... })',
      );
    }
    if (!(times >= 1)) throw new BenchError('bad-crash-point', `a crash comes ${times} times; give 1 or more`);
    const [side, choice] = after === undefined ? (['before', before as EffectChoice] as const) : (['after', after] as const);
    const armed: Armed = { side, choice, left: times, since: this.#texts.length, isAwaited };
    this.#armed.add(armed);
    return () => void this.#armed.delete(armed);
  }

  /** Lifts a crash that was to come by now and did not. @throws BenchError `crash-unused`, with the effects that there were since it was armed */
  checkStruck(): void {
    const unused = [...this.#armed].filter(({ isAwaited }) => isAwaited);
    for (const armed of unused) this.#armed.delete(armed);
    const [first] = unused;
    if (first === undefined) return;
    const crash = `crash({ ${first.side}: ${inspect(first.choice)} })`;
    const texts = this.#texts.slice(first.since).map((text, at) => `${first.since + at + 1} ${text}`);
    const more = texts.length > TOLD_MAX ? `; and ${texts.length - TOLD_MAX} more` : '';
    const what =
      texts.length === 0
        ? `no effect came since ${crash}`
        : `no effect since ${crash} is one that it asks for; they are: ${texts.slice(0, TOLD_MAX).join('; ')}${more}`;
    throw new BenchError('crash-unused', `${what}; arm it right before the settle or advance in which it is to come`);
  }

  /** Notes an effect that is about to be, and the side on which the function dies at it. */
  begin(text: string): Effect {
    const effect: { -readonly [Field in keyof Effect]: Effect[Field] } = { index: this.#texts.push(text), text };
    this.#all.push(effect);
    for (const armed of this.#armed) {
      if (!chooses(armed.choice, effect)) continue;
      armed.left -= 1;
      armed.isAwaited = false;
      if (armed.left <= 0) this.#armed.delete(armed);
      effect.crashed = armed.side;
      break;
    }
    return effect;
  }
}

function chooses(choice: EffectChoice, effect: Effect): boolean {
  switch (typeof choice) {
    case 'number':
      return effect.index === choice;
    case 'string':
      return effect.text.includes(choice);
    case 'function':
      return choice(effect);
    default:
      return effect.text.search(choice) >= 0;
  }
}
