/** Whether an identity may do what a process does, by what the API server said of each right. */

import { roleNameOf, WATCHER_ACCOUNT } from '../rbac.ts';
import type { Right } from '../rights.ts';
import type { Unit } from '../settings.ts';
import type { AnsweredRight, ClusterFacts } from './facts.ts';
import { type Finding, findingsOn } from './finding.ts';

const WHOSE: Readonly<Record<Unit, string>> = { watcher: 'rights of the watcher', reconcile: 'rights of the function' };

/** One finding where nothing is missing, or everything; else one for each resource of which something is. */
export function rightsFindings(
  { name, rights, user }: Pick<ClusterFacts, 'name' | 'rights'> & Partial<Pick<ClusterFacts, 'user'>>,
  unit: Unit,
): Finding[] {
  const on = findingsOn(`cluster ${name}`);
  const answers = rights[unit] ?? [];
  const check = WHOSE[unit];
  const missing = answers.filter(({ isAllowed }) => isAllowed.kind === 'told' && !isAllowed.value);
  const untold = answers.filter(({ isAllowed }) => isAllowed.kind === 'untold');
  const fix = `Apply what npm run -s dogwatch -- rbac --for ${unit} --cluster ${name} prints; if another identity does this work, ask with its registry, or with --for.`;
  const findings: Finding[] = [];
  if (missing.length === answers.length && missing.length > 0) {
    const account = user?.kind === 'told' ? accountOf(user.value, unit) : undefined;
    const bind = `Apply what npm run -s dogwatch -- rbac --for ${unit} --cluster ${name} prints, and bind it: ${account}`;
    findings.push(on.failure(check, `has none of the ${answers.length} that it needs`, account === undefined ? fix : bind));
  } else {
    for (const group of byResource(missing)) findings.push(on.failure(check, `may not ${sentenceOf(group)}`, fix));
  }
  const [first] = untold;
  if (first?.isAllowed.kind === 'untold') {
    const { code, says } = first.isAllowed;
    const how =
      code === 'forbidden'
        ? 'Let this identity create selfsubjectaccessreviews, as the ClusterRole system:basic-user does.'
        : 'Run this again; a server without access reviews, as the embedded one, cannot be asked.';
    findings.push(on.notChecked(check, `${untold.length} of ${answers.length} were not answered (${says})`, how));
  }
  return findings.length > 0 ? findings : [on.ok(check, `all ${answers.length}`)];
}

/** What gives the role to a service account, which is in no group of ours; undefined for whoever else it is, and for the watcher's own. */
function accountOf(user: string, unit: Unit): string | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  if (namespace === undefined || (unit === 'watcher' && `${namespace}:${name}` === `${WATCHER_ACCOUNT.namespace}:${WATCHER_ACCOUNT.name}`))
    return undefined;
  const role = roleNameOf(unit);
  return `kubectl create clusterrolebinding ${role}-${name} --clusterrole ${role} --serviceaccount ${namespace}:${name}.`;
}

function byResource(answers: readonly AnsweredRight[]): AnsweredRight[][] {
  const groups = new Map<string, AnsweredRight[]>();
  for (const answer of answers) {
    const { group, resource, name = '' } = answer.right;
    const key = `${group} ${resource} ${name}`;
    groups.set(key, [...(groups.get(key) ?? []), answer]);
  }
  return [...groups.values()];
}

function sentenceOf(answers: readonly AnsweredRight[]): string {
  const [first] = answers;
  if (first === undefined) return '';
  const { name, because } = first.right;
  const kinds = [...new Set(answers.flatMap(({ right }) => right.because))];
  const object = name === undefined ? '' : ` ${name}`;
  const reason = because.length === 0 ? '' : ` (for ${kinds.join(', ')})`;
  return `${answers.map(({ right }) => right.verb).join(', ')} ${placeOf(first.right)}${object}${reason}`;
}

/** As kubectl names it: `tenants.platform.example/status`. */
function placeOf({ group, resource }: Pick<Right, 'group' | 'resource'>): string {
  const [plural = '', subresource] = resource.split('/');
  return `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
}
