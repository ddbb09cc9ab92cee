/**
 * Every variable that Dogwatch reads, in one table: its parser, unit, default, bounds and meaning. `config.ts` reads the
 * environment by it; documents and tests print it.
 */
import * as z from 'zod';

/** Where a process listens. */
export interface ListenAddress {
  /** A host name or an address; IPv6 without brackets. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

interface Setting<Value> {
  readonly schema: z.ZodType<Value, string>;
  /** `seconds`, `attempts`, or the form of the text. */
  readonly unit: string;
  /** As one would write it in the environment; left out: see `neededBy`. */
  readonly defaultText?: string;
  readonly bounds?: readonly [least: number, most: number];
  readonly meaning: string;
  /** The units that do not start without it. */
  readonly neededBy?: readonly Unit[];
}

/** Which process reads the configuration. */
export type Unit = 'watcher' | 'reconcile';

const BOTH: readonly Unit[] = ['watcher', 'reconcile'];
const HOUR = 3600;
const DAY = 24 * HOUR;

/** Field of the configuration to its setting; the variable is DOGWATCH_ and the field in capitals (see {@link variableOf}). */
export const SETTINGS = {
  clusters: {
    schema: z.string().refine((text) => text.trim() === text && text !== '', 'is no path and no reference'),
    unit: 'path, ssm: or secretsmanager: reference',
    meaning: 'the cluster registry (YAML)',
    neededBy: BOTH,
  },
  queueUrl: queueUrl('the live queue', BOTH),
  bulkQueueUrl: queueUrl('the queue for repairs: sweeps, resyncs, replays', BOTH),
  deadLetterQueueUrl: queueUrl('the dead-letter queue', ['reconcile']),
  httpAddress: {
    schema: z.string().transform(parseListenAddress),
    unit: 'host:port',
    defaultText: '127.0.0.1:8080',
    meaning: 'where the watcher serves health and metrics; IPv6 in brackets, port 0 for any free one',
  },
  watchTimeoutSeconds: seconds(300, [2, HOUR], 'how long the API server keeps a watch open; each watch asks for half to all of it'),
  watchGraceSeconds: seconds(15, [1, 300], 'how long after that a watch without an end is given up'),
  probeSeconds: seconds(300, [1, DAY], 'how often a quiet watch is checked against a rewound cluster'),
  healAfterSeconds: seconds(600, [1, DAY], 'when an object that stays unsettled is sent again, the first time; doubles'),
  resyncSeconds: seconds(36_000, [1, 30 * DAY], 'every object runs once in this time'),
  holdMaxSeconds: seconds(60, [1, 900], 'the longest that an object which changes all the time is held back'),
  heartbeatSeconds: seconds(60, [1, HOUR], 'how often each cluster sends a heartbeat'),
  circuitOpenSeconds: seconds(10, [1, 900], 'how long a cluster that does not answer is left alone, the first time; doubles'),
  circuitOpenMaxSeconds: seconds(300, [1, 900], 'the longest that it is left alone'),
  retryBaseSeconds: seconds(2, [1, 900], 'the longest first wait after a transient or an author error; doubles to 900'),
  maxAgeSeconds: seconds(21_600, [1, 7 * DAY], 'how old a change may become before its message is a dead letter'),
  recordDeadlineSeconds: seconds(
    20,
    [1, 895],
    'how long one record may run; never past what remains of the invocation less 5, or less a quarter where that is less',
  ),
  functionTimeoutSeconds: seconds(
    30,
    [1, 895],
    'time-out of the function, also where the real one is longer; what an object leaves behind is cleared 5 s after it',
  ),
  maxAttempts: attempts(10, 'author errors before a message is a dead letter'),
  overtakenMaxAttempts: attempts(20, 'overtaken runs before a message is a dead letter'),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

/** `watchTimeoutSeconds` is DOGWATCH_WATCH_TIMEOUT_SECONDS. */
export function variableOf(field: SettingName): string {
  return `DOGWATCH_${field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** A variable as documents show it. */
export interface VariableDescription {
  readonly name: string;
  readonly field: SettingName;
  readonly unit: string;
  readonly default: string | undefined;
  readonly bounds: readonly [least: number, most: number] | undefined;
  readonly meaning: string;
  readonly neededBy: readonly Unit[];
}

/** Every variable, in the order of the table. */
export const VARIABLES: readonly VariableDescription[] = Object.entries(SETTINGS).map(([name, setting]: [string, Setting<unknown>]) => {
  const field = name as SettingName;
  const { unit, defaultText, bounds, meaning, neededBy = [] } = setting;
  return { name: variableOf(field), field, unit, default: defaultText, bounds, meaning, neededBy };
});

function seconds(byDefault: number, bounds: readonly [number, number], meaning: string) {
  return whole('seconds', byDefault, bounds, meaning);
}

function attempts(byDefault: number, meaning: string) {
  return whole('attempts', byDefault, [1, 1000], meaning);
}

/** Digits only: `300s`, `5.0`, ` 5 ` and `1e3` are mistakes, and a guess about them would be one too. */
function whole(unit: string, byDefault: number, [least, most]: readonly [number, number], meaning: string) {
  const wanted = `is not a whole number of ${unit} from ${least} to ${most}`;
  const schema = z
    .string()
    .refine((text) => /^(0|[1-9][0-9]{0,9})$/.test(text) && Number(text) >= least && Number(text) <= most, wanted)
    .transform(Number);
  return { schema, unit, defaultText: String(byDefault), bounds: [least, most], meaning } as const;
}

function queueUrl(meaning: string, neededBy: readonly Unit[]) {
  const schema = z.string().superRefine((text, context) => {
    const message = queueUrlProblem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
  return { schema, unit: 'URL', meaning, neededBy } as const;
}

function queueUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || /\s/.test(text)) return 'is no http or https URL';
  if (url.username !== '' || url.password !== '') return NO_CREDENTIALS;
  const name = queueNameOf(text);
  if (name === '' || url.pathname === '/' || url.search !== '' || url.hash !== '') return 'does not end in the name of a queue';
  if (name.endsWith('.fifo')) return 'is a FIFO queue, which takes no delay for a single message; use a standard queue';
  return undefined;
}

/** The name of a queue: the last segment of its URL, by which a record's lane is found. */
export function queueNameOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** What is said of a URL with a user in it. Such a value is never quoted. */
export const NO_CREDENTIALS = 'has credentials in it; AWS credentials are read from where every AWS tool has them';

function parseListenAddress(text: string, context: z.RefinementCtx): ListenAddress {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host !== undefined && port <= 65_535 && URL.canParse(`http://${bracketed === undefined ? host : `[${host}]`}`)) return { host, port };
  context.addIssue({ code: 'custom', message: 'is not host:port with a port from 0 to 65535 (IPv6 in brackets)' });
  return z.NEVER;
}
