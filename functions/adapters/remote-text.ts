/**
 * Texts that lie in a store of AWS: a cluster registry or a kubeconfig, named by `ssm:NAME` (Systems Manager Parameter Store) or
 * `secretsmanager:ID`, with `#KEY` behind it where the secret is a JSON object. The SDK is loaded when the first one is read.
 */

/** Where a text lies. */
export interface RemoteReference {
  readonly store: 'ssm' | 'secretsmanager';
  /** Name or ARN. */
  readonly id: string;
  /** Of a secret that is a JSON object: the key whose value is meant. */
  readonly key: string | undefined;
}

/** The text of a reference. @throws ConfigError that names it and says what to do, and quotes nothing of the text */
export type ReadRemoteText = (reference: string) => Promise<string>;

/** A remote text that is asked for again and again is fetched this often: a call a minute costs next to nothing. */
const FETCH_MS = 60_000;
/** While it cannot be read it is asked for ever more seldom, down to this. */
const FETCH_FAILED_MAX_MS = 15 * 60_000;

/** What the text refers to, or undefined where it is the path of a file. */
export function parseReference(text: string): RemoteReference | undefined {
  const [, store, rest = ''] = /^(ssm|secretsmanager):(.*)$/s.exec(text) ?? [];
  if (store === 'ssm') return { store, id: rest, key: undefined };
  if (store !== 'secretsmanager') return undefined;
  const [, id = '', key] = /^([^#]*)(?:#(.*))?$/s.exec(rest) ?? [];
  return { store, id, key };
}

/** A path is one line, shorter than this, and no JSON: anything else is the text itself, which may hold credentials. */
const PATH_MAX = 1024;
const IS_NO_PATH = 'is no path and no reference; put its text into a file, or into a store (ssm:/NAME, secretsmanager:ID)';

/** What is wrong with a reference, or undefined; also for a path. Quotes nothing of what is none of the two. */
export function referenceProblem(text: string): string | undefined {
  const reference = parseReference(text);
  if (reference === undefined) return text.length > PATH_MAX || /\p{Cc}|^\s*[{[]/u.test(text) ? IS_NO_PATH : undefined;
  const what = reference.store === 'ssm' ? 'parameter: write ssm:/NAME' : 'secret: write secretsmanager:ID or secretsmanager:ID#KEY';
  if (!/^[\w+=.@/:-]+$/.test(reference.id)) return `${JSON.stringify(text)} names no ${what}`;
  return reference.key === '' ? `${JSON.stringify(text)} names no key behind the #` : undefined;
}

let stores: Promise<{ readonly read: ReadRemoteText }> | undefined;

/** Reads from AWS, by region, credentials and endpoints as every AWS tool takes them. */
export const readRemoteText: ReadRemoteText = async (reference) => {
  stores ??= import('./aws.ts').then(({ openStores }) => openStores());
  return (await stores).read(reference);
};

/**
 * Reads likewise, but each text once a minute at most, and in between answers with what it had, the fault too. One that cannot
 * be read is asked for again after a minute, two, four, at last every quarter of an hour.
 */
export function readCalmly(read: ReadRemoteText, nowMs: () => number): ReadRemoteText {
  const known = new Map<string, { readonly answer: Promise<string>; readonly untilMs: number; readonly failures: number }>();
  return async (reference) => {
    const before = known.get(reference);
    if (before !== undefined && nowMs() < before.untilMs) return before.answer;
    const answer = read(reference);
    // Told to whoever asks; with nobody asking right now it is no unhandled rejection.
    answer.catch(() => undefined);
    known.set(reference, { answer, untilMs: nowMs() + FETCH_MS, failures: 0 });
    try {
      return await answer;
    } catch (error) {
      const failures = (before?.failures ?? 0) + 1;
      const waitMs = Math.min(FETCH_MS * 2 ** Math.min(failures - 1, 10), FETCH_FAILED_MAX_MS);
      known.set(reference, { answer, untilMs: nowMs() + waitMs, failures });
      throw error;
    }
  };
}
