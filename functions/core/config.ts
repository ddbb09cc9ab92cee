/**
 * The configuration of a process, read once at its start. Everything that is wrong with it is said at once, in one line, and
 * nothing starts with a guess.
 */
import type * as z from 'zod';
import type { CircuitLimits } from './circuit.ts';
import { closestName } from './closest-name.ts';
import type { Budgets } from './disposition.ts';
import { ConfigError, cutText } from './errors.ts';
import { NO_CREDENTIALS, queueNameOf, SETTINGS, type SettingName, type Unit, VARIABLES, variableOf } from './settings.ts';

type Parsed = { readonly [Name in SettingName]: z.output<(typeof SETTINGS)[Name]['schema']> };

/** What both units have. */
export interface Config extends Omit<Parsed, 'queueUrl' | 'bulkQueueUrl' | 'deadLetterQueueUrl'> {
  readonly queueUrls: { readonly live: string; readonly bulk: string };
  /** Always there for `reconcile`; the watcher does not need it. */
  readonly deadLetterQueueUrl?: string | undefined;
}

export interface ReconcileConfig extends Config {
  readonly deadLetterQueueUrl: string;
}

/** The environment, as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The configuration that `env` says, with defaults. Variables without our prefix are not looked at.
 *
 * @throws ConfigError `bad-configuration`, naming every variable that is missing, unknown, malformed or out of bounds; where
 *         each alone is right, those that do not go together
 */
export function readConfig(env: Environment, unit: 'reconcile'): ReconcileConfig;
export function readConfig(env: Environment, unit: Unit): Config;
export function readConfig(env: Environment, unit: Unit): Config {
  const problems = unknownVariables(env);
  const fields: Partial<Record<SettingName, unknown>> = {};
  for (const { name, field, default: byDefault, meaning, unit: form, neededBy } of VARIABLES) {
    const text = env[name] ?? byDefault;
    if (text === undefined) {
      if (neededBy.includes(unit)) problems.push(`${name} is not set: ${meaning} (${form})`);
      continue;
    }
    const parsed = SETTINGS[field].schema.safeParse(text);
    if (parsed.success) fields[field] = parsed.data;
    else problems.push(describe(name, text, parsed.error.issues[0]?.message ?? 'is not valid'));
  }
  refuse(problems);
  const config = fields as Parsed;
  refuse(CROSS_CHECKS.flatMap((check) => (check.unit === undefined || check.unit === unit ? (check.problem(config) ?? []) : [])));
  const { queueUrl: live, bulkQueueUrl: bulk, ...rest } = config;
  return { ...rest, queueUrls: { live, bulk } };
}

/**
 * One variable alone, for a command that needs no more of them.
 *
 * @throws ConfigError `missing-variable` or `bad-configuration`, naming it
 */
export function readSetting<Name extends SettingName>(env: Environment, field: Name): Parsed[Name] {
  const { defaultText, meaning, unit }: { defaultText?: string; meaning: string; unit: string } = SETTINGS[field];
  const name = variableOf(field);
  const text = env[name] ?? defaultText;
  if (text === undefined) throw new ConfigError('missing-variable', `${name} is not set: ${meaning} (${unit})`);
  const parsed = SETTINGS[field].schema.safeParse(text);
  if (parsed.success) return parsed.data as Parsed[Name];
  throw new ConfigError('bad-configuration', describe(name, text, parsed.error.issues[0]?.message ?? 'is not valid'));
}

/** The part of the configuration that decides how long a message is tried. */
export function budgetsOf({ retryBaseSeconds, maxAgeSeconds, maxAttempts, overtakenMaxAttempts }: Config): Budgets {
  return { retryBaseSeconds, maxAgeSeconds, maxAttempts, overtakenMaxAttempts };
}

/** The part of the configuration that decides how long a cluster that does not answer is left alone. */
export function circuitLimitsOf({ circuitOpenSeconds, circuitOpenMaxSeconds }: Config): CircuitLimits {
  return { openSeconds: circuitOpenSeconds, openMaxSeconds: circuitOpenMaxSeconds };
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigError('bad-configuration', problems.join('; '), { facts: { problems: problems.length } });
}

/** No variable holds a secret, save for a URL with a user in it: that one is not repeated. */
function describe(name: string, text: string, message: string): string {
  if (text === '') return `${name} is empty: unset it, or give it a value`;
  return message === NO_CREDENTIALS ? `${name} ${message}` : `${name} ${JSON.stringify(cutText(text, 100))} ${message}`;
}

/** The names only: a variable that we do not know may hold anything. */
function unknownVariables(env: Environment): string[] {
  const known = VARIABLES.map(({ name }) => name);
  const unknown = Object.keys(env).filter((name) => name.startsWith('DOGWATCH_') && env[name] !== undefined && !known.includes(name));
  return unknown.sort().map((name) => `${cutText(name, 100)} is no variable of ours: did you mean ${closestName(name, known)}?`);
}

interface CrossCheck {
  /** Left out: for every unit. */
  readonly unit?: Unit;
  /** What is wrong, naming both variables; undefined where nothing is. */
  problem(config: Parsed): string | undefined;
}

const CROSS_CHECKS: readonly CrossCheck[] = [
  { problem: otherQueue('queueUrl', 'bulkQueueUrl') },
  { problem: otherQueue('queueUrl', 'deadLetterQueueUrl') },
  { problem: otherQueue('bulkQueueUrl', 'deadLetterQueueUrl') },
  { problem: notOver('circuitOpenSeconds', 'circuitOpenMaxSeconds') },
  // Healing an object whose message may still be on its way: the interval doubles up to the age limit, so it starts below.
  { unit: 'watcher', problem: notOver('healAfterSeconds', 'maxAgeSeconds') },
  { unit: 'watcher', problem: notOver('watchGraceSeconds', 'watchTimeoutSeconds') },
  // A message that cannot have been tried once within its age would be a dead letter for its first failure.
  { unit: 'reconcile', problem: notOver('recordDeadlineSeconds', 'maxAgeSeconds') },
  // A run is over when the time-out is, whatever the deadline says: what is raised alone would be raised in vain.
  { unit: 'reconcile', problem: notOver('recordDeadlineSeconds', 'functionTimeoutSeconds') },
];

type NumberName = { [Name in SettingName]: Parsed[Name] extends number ? Name : never }[SettingName];

function notOver(smaller: NumberName, larger: NumberName): CrossCheck['problem'] {
  return (config) => {
    if (config[smaller] <= config[larger]) return undefined;
    return `${variableOf(smaller)} (${config[smaller]}) must not be over ${variableOf(larger)} (${config[larger]})`;
  };
}

/** Names too: a record tells its queue by the last part of its ARN only. */
function otherQueue(one: 'queueUrl' | 'bulkQueueUrl', other: 'bulkQueueUrl' | 'deadLetterQueueUrl'): CrossCheck['problem'] {
  return (config) => {
    const urls: Partial<Parsed> = config;
    const [left, right] = [urls[one], urls[other]];
    if (left === undefined || right === undefined || queueNameOf(left) !== queueNameOf(right)) return undefined;
    return `${variableOf(one)} and ${variableOf(other)} name one queue (${JSON.stringify(cutText(queueNameOf(left), 100))}); they must differ`;
  };
}
