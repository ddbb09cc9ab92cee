/** The settings of the story: what is meant for hours on AWS is to be seen within seconds. */
import type { Environment } from '../../../../functions/core/config.ts';
import { VARIABLES } from '../../../../functions/core/settings.ts';

const SHORT: Environment = {
  DOGWATCH_RETRY_BASE_SECONDS: '1',
  DOGWATCH_HOLD_MAX_SECONDS: '1',
  DOGWATCH_CIRCUIT_OPEN_SECONDS: '1',
};

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

/** What a step that fails has to say of the waits and limits that are set in `env` and differ from the story's; undefined where none is. */
export function likelyCauseIn(env: Environment): string | undefined {
  const own = VARIABLES.flatMap(({ name, bounds }) => {
    const value = env[name];
    if (bounds === undefined || value === undefined || value === SHORT[name]) return [];
    return `${name}=${value}${SHORT[name] === undefined ? '' : ` (${SHORT[name]} in the story)`}`;
  });
  return own.length === 0 ? undefined : `likely because of your own settings, which hold here too: ${own.join(', ')}; unset them`;
}
