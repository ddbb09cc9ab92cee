/** What the command prints: the verdict and the next step, and below it what was found. */
import { evidenceOf, type Row } from '../../core/explain/evidence.ts';
import { type Explanation, explain } from '../../core/explain/explain.ts';
import type { ExplainFacts, Place } from '../../core/explain/facts.ts';
import { type PlacedVerdict, tell, tellKind } from '../../core/explain/texts.ts';
import { type Told, whoseText } from '../../core/explain/told.ts';
import { exitCodeOf, type Verdict } from '../../core/explain/verdict.ts';
import type { ExitCode } from '../main.ts';
import { printable } from '../replay/text.ts';

export interface Answer {
  readonly facts: ExplainFacts;
  readonly explanation: Explanation;
  readonly told: Told;
  readonly rows: readonly Row[];
  readonly exitCode: ExitCode;
}

/** @param queue as it was named on the command line */
export function answerOf(facts: ExplainFacts, queue: string | undefined): Answer {
  const explanation = explain(facts);
  const { verdict, also } = explanation;
  const say = (one: Verdict): Told => toldOf(one, facts, queue);
  const rows = [...also.map((one) => ({ what: 'also', says: say(one).text })), ...evidenceOf(facts)];
  return { facts, explanation, told: say(verdict), rows, exitCode: exitCodeOf(verdict) };
}

function toldOf(verdict: Verdict, facts: ExplainFacts, queue: string | undefined): Told {
  if (facts.kind === 'unknown-kind') return tellKind(verdict as Exclude<Verdict, PlacedVerdict>, facts);
  return tell(verdict as PlacedVerdict, facts.place, { queue });
}

/** The whole of it for people. */
export function answerText({ facts, told, rows }: Answer): string[] {
  const whose = facts.kind === 'unknown-kind' ? `${facts.asked}/${facts.name}` : whoseText(facts.place);
  const width = Math.max(...rows.map(({ what }) => what.length));
  return [
    printable(`${whose}: ${told.text}`),
    printable(`next: ${told.next}`),
    `    ${printable(told.command)}`,
    ...(rows.length === 0 ? [] : ['']),
    ...rows.map(({ what, says }) => printable(`${what.padEnd(width)}  ${says}`)),
  ];
}

/** The same as one value for programs. */
export function answerJson({ facts, explanation, told, exitCode }: Answer): object {
  const { verdict, also } = explanation;
  const found = facts.kind === 'found' ? { object: facts.object, watcher: facts.watcher } : {};
  const letters = 'letters' in facts ? { letters: facts.letters } : {};
  return {
    version: 1,
    ...placeJson(facts),
    verdict: verdict.kind,
    needsSomebody: exitCode === 1,
    ...told,
    facts: verdict,
    also,
    ...found,
    ...letters,
    evidence: evidenceOf(facts),
  };
}

function placeJson(facts: ExplainFacts): object {
  if (facts.kind === 'unknown-kind') return { kind: facts.asked, name: facts.name };
  const { cluster, type, namespace, name }: Place = facts.place;
  return { cluster, kind: type.kind, group: type.group, ...(namespace === undefined ? {} : { namespace }), name };
}
