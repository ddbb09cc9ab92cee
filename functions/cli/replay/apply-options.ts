/** The words of `dogwatch replay apply`, read. */
import { ConfigError } from '../../core/errors.ts';
import type { ApplySettings } from '../../replay/apply/contract.ts';
import type { DeskOptions } from './desk.ts';

export interface ApplyCommandOptions extends DeskOptions {
  readonly canary?: string;
  readonly canaryTimeout?: string;
  readonly rate?: string;
  readonly stopAt?: string;
  readonly again?: boolean;
  readonly yes?: boolean;
}

const CANARY_MAX = 10_000;
const RATE_MAX = 200;
/** The longest that an object is waited for. */
const TIMEOUT_MAX_SECONDS = 43_200;
const UNIT_SECONDS = { s: 1, m: 60, h: 3600 } as const;

/** @throws ConfigError `usage`, which says what would be right */
export function settingsOf(options: ApplyCommandOptions, by: string): ApplySettings {
  const { canary = '5', canaryTimeout = '5m', rate = '5', stopAt = '20%', again = false } = options;
  return {
    canary: numberOf('--canary', canary, /^[0-9]+$/, [1, CANARY_MAX], `a whole number from 1 to ${CANARY_MAX}`),
    canaryTimeoutSeconds: secondsOf(canaryTimeout),
    ratePerSecond: numberOf('--rate', rate, /^[0-9]+(\.[0-9]+)?$/, [0.01, RATE_MAX], `a number from 0.01 to ${RATE_MAX}, objects a second`),
    stopAt: numberOf('--stop-at', stopAt, /^[0-9]+(\.[0-9]+)?%$/, [0, 100], 'a share from 0% to 100%, such as 20%') / 100,
    ...{ again, by },
  };
}

function numberOf(option: string, text: string, form: RegExp, [least, most]: readonly [number, number], wanted: string): number {
  const value = Number(text.replace(/%$/, ''));
  if (form.test(text) && value >= least && value <= most) return value;
  throw new ConfigError('usage', `${option} ${JSON.stringify(text)} is not ${wanted}`);
}

function secondsOf(text: string): number {
  const [, count, unit] = /^([0-9]{1,6})([smh])$/.exec(text) ?? [];
  const seconds = Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS];
  if (seconds >= 1 && seconds <= TIMEOUT_MAX_SECONDS) return seconds;
  throw new ConfigError('usage', `--canary-timeout ${JSON.stringify(text)} is no time of 1s to 12h; write 300s, 5m or 1h`);
}
