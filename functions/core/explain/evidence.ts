/** What was found, as rows of a small table: a word, and what there is to say. */
import { kindFindings } from '../doctor/kind-checks.ts';
import { rightsFindings } from '../doctor/right-checks.ts';
import { missingRights } from './blocks.ts';
import type { CellView, ExplainFacts, FoundFacts, LetterFacts, ObjectFacts } from './facts.ts';
import { instantText, spanText } from './spans.ts';

export interface Row {
  readonly what: string;
  readonly says: string;
}

/** In the order in which one looks. */
export function evidenceOf(facts: ExplainFacts): readonly Row[] {
  switch (facts.kind) {
    case 'unknown-kind':
    case 'unread':
      return [];
    case 'absent':
      return [...letterRows(facts.letters), ...facts.notes.map((says) => row('note', says))];
    case 'found':
      return [
        ...objectRows(facts),
        ...deletionRows(facts),
        ...filterRows(facts.object),
        ...letterRows(facts.letters),
        ...surroundingRows(facts),
        ...watcherRows(facts.watcher),
        ...facts.notes.map((says) => row('note', says)),
      ];
  }
}

function row(what: string, says: string): Row {
  return { what, says };
}

function objectRows({ object, reconciler, nowMs }: FoundFacts): Row[] {
  const { generation, observedGeneration, observedRevision, conditions, changedMs, nextMs, uid } = object;
  const { resource, revision } = reconciler;
  const attempted = conditions.find(({ type }) => type === 'Ready')?.observedGeneration;
  const isAhead = observedGeneration !== undefined && generation !== undefined && observedGeneration > generation;
  const counts = [
    `generation ${generation ?? '-'}`,
    ...(resource.isDescribed ? [] : [`observed ${observedGeneration ?? 'never'}`, `attempted ${attempted ?? 'never'}`]),
    ...(resource.isDescribed ? [] : [`revision ${observedRevision ?? 1} (here ${revision})`]),
  ];
  return [
    row('object', `uid ${uid}`),
    row('generations', counts.join(', ')),
    ...(isAhead
      ? [row('generations', 'observed is ahead: the object was restored, or its status copied, and counts as not reconciled')]
      : []),
    ...(changedMs === undefined ? [] : [row('spec changed', `${instantText(changedMs)}, or before that`)]),
    ...conditions.map(({ type, status, reason, message, lastTransitionTime, observedGeneration: of }) =>
      row('condition', `${type}=${status} ${reason ?? ''}, generation ${of ?? '-'}, since ${lastTransitionTime ?? '-'}: ${message ?? ''}`),
    ),
    ...(nextMs === undefined ? [] : [row('next run', `${instantText(nextMs)}${nextMs > nowMs ? '' : ', which is past'}`)]),
  ];
}

function deletionRows({ object, nowMs, reconciler }: FoundFacts): Row[] {
  const { deletingSinceMs, isHeld, otherFinalizers, isPaused } = object;
  const finalizers = [...(isHeld ? [`${reconciler.finalization?.name} (ours)`] : []), ...otherFinalizers];
  return [
    ...(deletingSinceMs === undefined
      ? []
      : [
          row(
            'deletion',
            `began at ${instantText(deletingSinceMs)}, ${spanText(Math.max(0, Math.floor((nowMs - deletingSinceMs) / 1000)))} ago`,
          ),
        ]),
    ...(finalizers.length === 0 ? [] : [row('finalizers', finalizers.join(', '))]),
    ...(isPaused ? [row('paused', 'yes')] : []),
  ];
}

function filterRows({ outside, atStart }: ObjectFacts): Row[] {
  const says = atStart === 'sent' ? 'a watcher that starts sends it' : `a watcher that starts skips it: ${atStart}`;
  return [row('filter', outside ?? says)];
}

function letterRows(letters: FoundFacts['letters']): Row[] {
  if (letters.kind === 'untold') return [row('letters', `not known: ${letters.says}`)];
  if (letters.value.length === 0) return [row('letters', 'none')];
  return letters.value.map(letterRow);
}

function letterRow({ messageId, code, deadLetteredMs, because }: LetterFacts): Row {
  return row(
    'letter',
    `${messageId}, ${code}${deadLetteredMs === undefined ? '' : `, given up at ${instantText(deadLetteredMs)}`}: ${because}`,
  );
}

function surroundingRows({ cluster, reconciler, isNamespaceEnding }: FoundFacts): Row[] {
  const kinds = kindFindings(cluster, [reconciler]).filter(({ outcome }) => outcome !== 'ok');
  return [
    ...kinds.map(({ check, outcome, says }) => row(outcome === 'not-checked' ? 'not checked' : 'kind', `${check}: ${says}`)),
    ...rightsRows(cluster),
    ...namespaceRows(isNamespaceEnding),
  ];
}

const WHOSE = { reconcile: 'the function', watcher: 'the watcher' } as const;
const UNITS = ['reconcile', 'watcher'] as const;

/** Whoever reads this has to know whose rights they are: those of whoever asks. */
function rightsRows(cluster: FoundFacts['cluster']): Row[] {
  const { user } = cluster;
  const answers = UNITS.flatMap((unit) => cluster.rights[unit] ?? []);
  const untold = answers.find(({ isAllowed }) => isAllowed.kind === 'untold')?.isAllowed;
  if (untold?.kind === 'untold' && answers.every(({ isAllowed }) => isAllowed.kind === 'untold')) {
    return [row('not checked', `rights: the cluster does not say (${untold.says})`)];
  }
  return [
    row(
      'asked as',
      `${user.kind === 'told' ? user.value : 'somebody whom the cluster does not name'}, who need not be whom the function or the watcher comes as`,
    ),
    ...UNITS.map((unit) => rightsRow(cluster, unit)),
  ];
}

function rightsRow(cluster: FoundFacts['cluster'], unit: 'reconcile' | 'watcher'): Row {
  const missing = missingRights(cluster, unit);
  if (missing.length > 0) return row('rights', `of what ${WHOSE[unit]} needs: ${missing.join('; ')}`);
  const [finding] = rightsFindings(cluster, unit);
  return finding?.outcome === 'ok'
    ? row('rights', `has all that ${WHOSE[unit]} needs for this kind`)
    : row('not checked', `rights of ${WHOSE[unit]}: ${finding?.says ?? 'nobody asked'}`);
}

function namespaceRows(ending: FoundFacts['isNamespaceEnding']): Row[] {
  if (ending === undefined) return [];
  if (ending.kind === 'untold') return [row('not checked', `its namespace: ${ending.says}`)];
  return ending.value ? [row('namespace', 'is being deleted')] : [];
}

function watcherRows(watcher: FoundFacts['watcher']): Row[] {
  if (watcher.kind === 'untold') return [row('watcher', `not known: ${watcher.says}`)];
  const { hasCluster, cell } = watcher.value;
  if (cell === undefined) return [row('watcher', hasCluster ? 'does not follow the kind in this cluster' : 'does not follow this cluster')];
  return [row('watcher', cellText(cell)), row('circuit', "is the function's, and no watcher knows it: its log says `circuit opened`")];
}

function cellText({
  isStreaming,
  phase,
  error,
  lastEventAgeSeconds: age,
  knownCount,
  unsettledCount,
  oldestUnsettledSeconds,
  outboxCount,
  refusedCount,
}: CellView): string {
  const parts = [
    phase ?? (isStreaming ? 'streaming' : 'not streaming'),
    ...(error === undefined ? [] : [`${error.code}: ${error.message}`]),
    age === undefined ? 'nothing heard yet' : `last heard ${spanText(Math.floor(age))} ago`,
    `${knownCount} known`,
    `${unsettledCount} unsettled${unsettledCount === 0 ? '' : `, the oldest for ${spanText(Math.floor(oldestUnsettledSeconds))}`}`,
    `${outboxCount} to be sent`,
    ...(refusedCount === 0 ? [] : [`${refusedCount} refused by SQS`]),
  ];
  return parts.join(', ');
}
