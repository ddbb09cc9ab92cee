/** What a run of the function does to the world, one thing after the other, and where it is to die at one of them. */
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
  /** How many such effects; 1 if left out. */
  readonly times?: number;
};

interface Armed {
  readonly side: 'before' | 'after';
  readonly choice: EffectChoice;
  left: number;
}

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

  /** Arms a crash; the returned function lifts it. */
  arm(point: CrashPoint): () => void {
    const { before, after, times = 1 } = point as { before?: EffectChoice; after?: EffectChoice; times?: number };
    if ((before === undefined) === (after === undefined)) {
      throw new BenchError(
        'bad-crash-point',
        'a crash is either before or after an effect: crash({ before: ... }) or crash({ after: ... })',
      );
    }
    const armed: Armed = { side: after === undefined ? 'before' : 'after', choice: (before ?? after) as EffectChoice, left: times };
    this.#armed.add(armed);
    return () => void this.#armed.delete(armed);
  }

  /** Notes an effect that is about to be, and the side on which the function dies at it. */
  begin(text: string): Effect {
    const effect: { -readonly [Field in keyof Effect]: Effect[Field] } = { index: this.#texts.push(text), text };
    this.#all.push(effect);
    for (const armed of this.#armed) {
      if (!chooses(armed.choice, effect)) continue;
      armed.left -= 1;
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
