/** Plays the steps of a story one after the other, and keeps what each came to. */
import { DogwatchError } from '../../../../functions/core/errors.ts';
import type { DevEvent } from '../dev-state.ts';
import { type Figures, figuresOf } from './ledger.ts';
import type { OpenStage } from './stage.ts';
import { type Step, StepFailure } from './story-step.ts';

/** What became of a step. One after a failure is not played: each builds on those before. */
export type StepResult = { readonly name: string } & (
  | { readonly kind: 'well' | 'failed'; readonly text: string; readonly seconds: number; readonly figures: Figures }
  | { readonly kind: 'not played' }
);

export interface StoryResult {
  readonly results: readonly StepResult[];
  readonly seconds: number;
}

/** What the player needs of a stage besides what the steps need. */
export type Playable = Pick<OpenStage, 'beginStep' | 'lines' | 'quiet' | 'signal'>;

export interface PlayOptions {
  /** Told with a step that failed as steps foresee it. */
  readonly likelyCause?: string | undefined;
  readonly nowMs?: () => number;
}

/**
 * Plays them on the stage and tells of each.
 *
 * @throws the signal's reason, where it ends the story before its end
 */
export async function playSteps<On extends Playable>(
  steps: readonly Step<On>[],
  stage: On,
  emit: (event: DevEvent) => void,
  { likelyCause, nowMs = () => performance.now() }: PlayOptions = {},
): Promise<StoryResult> {
  const begunMs = nowMs();
  const results: StepResult[] = [];
  let isOver = false;
  for (const [index, { name, text, play }] of steps.entries()) {
    if (isOver) {
      results.push({ name, kind: 'not played' });
      continue;
    }
    emit({ kind: 'story', part: 'step', text: `${index + 1}/${steps.length} ${name}: ${text}` });
    const stepBegunMs = nowMs();
    let endedMs: number | undefined;
    const played = async (): Promise<string> => {
      stage.beginStep();
      const followed = await play(stage);
      endedMs = nowMs();
      await stage.quiet(); // what comes late is this step's too
      return followed;
    };
    const end = await played().then(
      (followed) => ({ kind: 'well', text: followed }) as const,
      (error: unknown) => ({ kind: 'failed', text: failureText(error, stage.signal, likelyCause) }) as const,
    );
    results.push({ name, ...end, seconds: ((endedMs ?? nowMs()) - stepBegunMs) / 1000, figures: figuresOf(stage.lines()) });
    emit({ kind: 'story', part: end.kind === 'well' ? 'result' : 'failure', text: end.text });
    isOver = end.kind === 'failed';
  }
  return { results, seconds: (nowMs() - begunMs) / 1000 };
}

function failureText(error: unknown, signal: AbortSignal, likelyCause: string | undefined): string {
  signal.throwIfAborted();
  if (error instanceof StepFailure && likelyCause !== undefined) return `${error.message}; ${likelyCause}`;
  if (error instanceof StepFailure || error instanceof DogwatchError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
