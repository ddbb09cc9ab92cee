/** Rows of "this is wrong" and the findings that it must lead to, and no other. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { DeploymentFacts } from '../../../../functions/core/doctor/facts.ts';
import { exitCodeOf, type Finding } from '../../../../functions/core/doctor/finding.ts';
import { findingsOf } from '../../../../functions/core/doctor/findings.ts';
import { reconcilers } from '../../../../functions/reconcilers/index.ts';
import { deployment } from './healthy.ts';

export type Expected = `${Finding['outcome']} ${string}`;

export interface Row {
  readonly name: string;
  readonly facts: DeploymentFacts;
  /** `outcome subject, check`, in order; all that is not ok. */
  readonly finds: readonly Expected[];
  /** Of the first. */
  readonly says: RegExp;
  readonly fix: RegExp;
}

function summary({ outcome, subject, check }: Finding): Expected {
  return `${outcome} ${subject}, ${check}`;
}

export function notOk(facts: DeploymentFacts): Finding[] {
  return findingsOf(facts, { reconcilers }).filter(({ outcome }) => outcome !== 'ok');
}

/** One test for each row. */
export function holds(rows: readonly Row[]): void {
  for (const { name, facts, finds, says, fix } of rows) {
    it(`finds ${name}`, () => {
      const found = notOk(facts);
      assert.deepEqual(found.map(summary), finds);
      assert.match(found[0]?.says ?? '', says);
      for (const finding of found) assert.match(finding.fix ?? '', /^[A-Z].*\.$/s, summary(finding));
      assert.match(found[0]?.fix ?? '', fix);
      assert.equal(exitCodeOf(found), finds.some((expected) => expected.startsWith('failure')) ? 1 : 0);
    });
  }
}

/** Checks that pass in a deployment that is well, of subjects that fit, and that no row has failing. */
export function neverBroken(subject: RegExp, rows: readonly Row[]): string[] {
  const broken = rows.flatMap(({ facts }) => notOk(facts)).map(({ subject: whose, check }) => `${whose}, ${check}`);
  return findingsOf(deployment(), { reconcilers })
    .map(({ subject: whose, check }) => `${whose}, ${check}`)
    .filter((name) => subject.test(name) && !broken.includes(name));
}
