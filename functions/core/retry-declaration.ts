/** How long the messages of one kind are tried, where its author knows better than the configuration. */
import type { Budgets } from './disposition.ts';
import { ConfigError } from './errors.ts';

/**
 * What differs for this kind; what is left out stays as configured. Names, units and bounds are those of the variables. Whatever
 * `maxAgeSeconds` says, the watcher sends an object that stays unsettled again at the age in the configuration.
 */
export type RetryDeclaration = Partial<Budgets>;

/** Bounds of settings.ts, which only processes with a configuration load. */
const MOST: Readonly<Record<keyof Budgets, number>> = {
  retryBaseSeconds: 900,
  maxAgeSeconds: 604_800,
  maxAttempts: 1000,
  overtakenMaxAttempts: 1000,
};

/** The declaration, once it is sure that every field of it is known and in its bounds. @throws ConfigError `bad-retry` */
export function checkRetry(kind: string, retry: RetryDeclaration): RetryDeclaration {
  for (const [field, value] of Object.entries(retry)) {
    const most = Object.hasOwn(MOST, field) ? MOST[field as keyof Budgets] : undefined;
    if (most === undefined) {
      throw new ConfigError('bad-retry', `reconciler of ${kind}: retry has no ${field}; it has ${Object.keys(MOST).join(', ')}`);
    }
    if (!Number.isSafeInteger(value) || value < 1 || value > most) {
      throw new ConfigError('bad-retry', `reconciler of ${kind}: retry.${field} is not a whole number from 1 to ${most}`);
    }
  }
  return retry;
}
