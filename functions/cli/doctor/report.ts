/** What the command prints: every check, grouped by what it is about, and below it what is not well, the worst last, where one looks first. */
import type { Finding, Outcome } from '../../core/doctor/finding.ts';

const WORDS: Readonly<Record<Outcome, string>> = { ok: 'ok', warning: 'WARNING', failure: 'FAILURE', 'not-checked': 'not checked' };
/** From least to most. */
const ORDER: readonly Outcome[] = ['not-checked', 'warning', 'failure'];
const HEAD = ['SUBJECT', 'CHECK', 'RESULT', ''] as const;

export type Counts = Readonly<Record<Outcome, number>>;

export function countsOf(findings: readonly Finding[]): Counts {
  const count = (outcome: Outcome): number => findings.filter((finding) => finding.outcome === outcome).length;
  return { ok: count('ok'), warning: count('warning'), failure: count('failure'), 'not-checked': count('not-checked') };
}

/** Lines for people, without a newline at the end. */
export function reportText(findings: readonly Finding[]): string {
  const problems = ORDER.flatMap((outcome) => findings.filter((finding) => finding.outcome === outcome));
  const parts = [table(findings), ...problems.map(problemText), summary(countsOf(findings))];
  return parts.join('\n\n');
}

function table(findings: readonly Finding[]): string {
  const rows = findings.map(({ subject, check, outcome, says }, at) => [
    findings[at - 1]?.subject === subject ? '' : subject,
    check,
    WORDS[outcome],
    outcome === 'ok' ? says : 'see below',
  ]);
  const widths = HEAD.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [HEAD, ...rows]
    .map((row) =>
      row
        .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const WIDTH = Math.max(...ORDER.map((outcome) => WORDS[outcome].length)) + 2;

function problemText({ subject, check, outcome, says, fix = '' }: Finding): string {
  return `${WORDS[outcome].padEnd(WIDTH)}${subject}, ${check}: ${says}\n${' '.repeat(WIDTH)}${fix}`;
}

function summary(counts: Counts): string {
  const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  const { ok, warning, failure, 'not-checked': notChecked } = counts;
  return `${plural(failure, 'failure')}, ${plural(warning, 'warning')}, ${notChecked} not checked, ${ok} ok`;
}
