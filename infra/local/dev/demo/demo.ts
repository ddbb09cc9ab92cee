/** The story that a development run plays by itself: `dogwatch dev --demo`. */
import type { Environment } from '../../../../functions/core/config.ts';
import type { DevEvent } from '../dev-state.ts';
import type { DevSession } from '../session.ts';
import { createLedger } from './ledger.ts';
import { likelyCauseIn, settingsText, storyEnvironment } from './settings.ts';
import { type OpenStage, openStage } from './stage.ts';
import { change } from './steps/change.ts';
import { create } from './steps/create.ts';
import { deadLetter } from './steps/dead-letter.ts';
import { drift } from './steps/drift.ts';
import { outage } from './steps/outage.ts';
import { replay } from './steps/replay.ts';
import { samples } from './steps/samples.ts';
import { twentyWriters } from './steps/twenty-writers.ts';
import { playSteps, type StoryResult } from './story.ts';
import type { Step } from './story-step.ts';
import { isWell, type SummaryOptions, summaryLines } from './summary.ts';

/** The story. */
export const STEPS: readonly Step[] = [samples, create, change, drift, twentyWriters, outage, deadLetter, replay];

export interface DemoOptions {
  /** To the view. */
  readonly emit: (event: DevEvent) => void;
  /** Tells of nothing but the story while it is played, and of what is wrong: for a view that is never redrawn. */
  readonly isCalm: boolean;
  /** The story is all there is: code that does not build ends it, where it else waits for better code. */
  readonly once: boolean;
}

interface DemoEnd {
  readonly isWell: boolean;
  summary(options: SummaryOptions): string[];
}

export interface Demo {
  /** For the run. */
  readonly env: Environment;
  /** Everything that the run tells goes through here. */
  emit(event: DevEvent): void;
  /** Plays it, once the samples are in force. @throws the signal's reason */
  play(session: Pick<DevSession, 'ready'>, signal: AbortSignal): Promise<DemoEnd>;
}

const NOT_BEGUN: DemoEnd = {
  isWell: false,
  summary: () => ['the story did not begin: the code cannot be built or started, as told above'],
};

/** @param env  its settings hold, also against the story's short ones */
export function createDemo(env: Environment, { emit, isCalm, once }: DemoOptions): Demo {
  const ledger = createLedger();
  const demoEnv = storyEnvironment(env);
  const { promise: buildFailed, resolve: failBuild } = Promise.withResolvers<undefined>();
  let isOver = false;

  async function tellStory(pipeline: Awaited<DevSession['ready']>, signal: AbortSignal): Promise<StoryResult> {
    emit({ kind: 'story', part: 'title', text: `a story in ${STEPS.length} steps, with short waits:` });
    emit({ kind: 'story', part: 'note', text: settingsText(demoEnv) });
    const stage = openStage({ pipeline, ledger, signal, tell: (text) => emit({ kind: 'story', part: 'note', text }) });
    try {
      return await playSteps<OpenStage>(STEPS, stage, emit, { likelyCause: likelyCauseIn(env) });
    } finally {
      stage.close();
    }
  }

  return {
    env: demoEnv,
    emit(event) {
      if (!isOver) ledger.see(event);
      if (once && event.kind === 'build' && event.state === 'failed') failBuild(undefined);
      if (!isCalm || isOver || !isNoise(event)) emit(event);
    },
    async play({ ready }, signal) {
      const pipeline = await Promise.race([ready, buildFailed]);
      if (pipeline === undefined) return NOT_BEGUN;
      const result = await tellStory(pipeline, signal);
      isOver = true;
      return { isWell: isWell(result), summary: (options) => summaryLines(result, options) };
    },
  };
}

/** What the story tells better, in its own words. */
function isNoise({ kind }: DevEvent): boolean {
  return kind === 'cells' || kind === 'lanes' || kind === 'outcome';
}
