/** The settings of the story: what is meant for hours on AWS is to be seen within seconds. */
import type { Environment } from '../../../../functions/core/config.ts';

const SHORT = {
  DOGWATCH_RETRY_BASE_SECONDS: '1',
  DOGWATCH_HOLD_MAX_SECONDS: '1',
  DOGWATCH_CIRCUIT_OPEN_SECONDS: '1',
} as const;

/** The environment of a run with the story; what is set in `env` holds. */
export function storyEnvironment(env: Environment): Environment {
  return { ...SHORT, ...env };
}

/** `DOGWATCH_RETRY_BASE_SECONDS=1 ...`: the short ones, as they hold. */
export function settingsText(env: Environment): string {
  return Object.keys(SHORT)
    .map((name) => `${name}=${env[name]}`)
    .join(' ');
}
