/** What a check comes to. The facts are gathered elsewhere (functions/cli/doctor); what they mean is decided here, without asking anybody. */
import { isDenied } from '../aws-errors.ts';

/** `not-checked`: somebody who had to be asked may not be asked, or does not answer; it says nothing about the deployment. */
export type Outcome = 'ok' | 'warning' | 'failure' | 'not-checked';

/** One check of one thing. */
export interface Finding {
  /** What was looked at: `registry`, `cluster east`, `live queue`, `function`. */
  readonly subject: string;
  readonly check: string;
  readonly outcome: Outcome;
  /** What is so. */
  readonly says: string;
  /** What to do about it, in a sentence; there for whatever is not ok. */
  readonly fix?: string;
}

/** An answer, or why there is none. */
export type Asked<Value> = { readonly kind: 'told'; readonly value: Value } | Untold;

/** Refused, not reached, or not there. */
export interface Untold {
  readonly kind: 'untold';
  /** A stable word of ours, of Node's sockets, or of AWS. */
  readonly code: string;
  readonly says: string;
  /** It was AWS that did not answer; `code` is its word then. */
  readonly by?: 'aws';
}

/** Makes the findings about one subject. */
export function findingsOn(subject: string) {
  return {
    ok: (check: string, says: string): Finding => ({ subject, check, outcome: 'ok', says }),
    warning: (check: string, says: string, fix: string): Finding => ({ subject, check, outcome: 'warning', says, fix }),
    failure: (check: string, says: string, fix: string): Finding => ({ subject, check, outcome: 'failure', says, fix }),
    notChecked: (check: string, says: string, fix: string): Finding => ({ subject, check, outcome: 'not-checked', says, fix }),
  };
}

/** The process's exit code: only failures count, since neither a warning nor what could not be checked is known to be a problem. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 {
  return findings.some(({ outcome }) => outcome === 'failure') ? 1 : 0;
}

/** AWS's words for "there is none of that name". */
const ABSENT = /NotFound|DoesNotExist|NoSuch/;
const NO_CREDENTIALS = /^(CredentialsProviderError|ExpiredToken|InvalidClientTokenId|UnrecognizedClient)/;
const NO_WAY =
  /^(region-missing|bad-answer|ERR_INVALID_URL|timeout|TimeoutError|ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|NetworkingError)/;

/** Whether AWS says that it is not there, which is an answer and no refusal to give one. */
export function isAbsentInAws(code: string): boolean {
  return ABSENT.test(code);
}

/** What makes it possible to ask AWS, by the code of its refusal. */
export function howToAskAws(code: string, action: string): string {
  if (code === 'aws-variable') return 'Mend that variable, and run this again.';
  if (NO_CREDENTIALS.test(code)) return 'Set AWS credentials that are valid (aws sts get-caller-identity shows them) and run this again.';
  if (isDenied(code)) return `Run this with credentials that may call ${action}.`;
  if (NO_WAY.test(code)) return 'Set AWS_REGION and look at the way to AWS (AWS_ENDPOINT_URL, proxies), then run this again.';
  return 'Run this again; if it stays, look at what AWS says.';
}
