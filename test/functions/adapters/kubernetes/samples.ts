/** Exchanges recorded from kube-apiserver 1.36, trimmed. uids, times and versions in them mean nothing. */
import { readFileSync } from 'node:fs';
import type { Answer } from '../../../../functions/adapters/kubernetes/transport.ts';

export interface Sample {
  readonly title: string;
  readonly request: { readonly method: string; readonly path: string };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    /** JSON body, or… */
    readonly body?: unknown;
    /** …any other, or… */
    readonly bodyText?: string;
    /** …the lines of a watch. */
    readonly lines?: readonly unknown[];
  };
}

export function sample(name: string): Sample {
  return JSON.parse(readFileSync(new URL(`samples/${name}.json`, import.meta.url), 'utf8')) as Sample;
}

export function bodyOf(name: string): string {
  const { body, bodyText } = sample(name).response;
  return bodyText ?? JSON.stringify(body);
}

/** The recorded answer as the transport hands it on. */
export function answerOf(name: string): Answer {
  const { status, headers } = sample(name).response;
  return { kind: 'answer', status, headers, text: bodyOf(name) };
}

export function linesOf(name: string): string[] {
  return (sample(name).response.lines ?? []).map((line) => JSON.stringify(line));
}
