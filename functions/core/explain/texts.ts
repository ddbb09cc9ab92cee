/** What each verdict says, and the next step: those of a kind that is known. Where an object is on its way is told in `state-texts.ts`. */
import { OWNER_REF_ANNOTATION, PAUSED_ANNOTATION } from '../../../events/labels.ts';
import { fullNameOf } from '../kind-names.ts';
import { commandLine, dogwatch, explainAgain, kubectl, kubectlOn, type Named, planLetters, reconcile } from './commands.ts';
import type { Place } from './facts.ts';
import { spanText } from './spans.ts';
import { tellState } from './state-texts.ts';
import { doctor, saidText, type Told, told } from './told.ts';
import type { Verdict } from './verdict.ts';

/** Verdicts about an object of a kind that is known. */
export type PlacedVerdict = Exclude<Verdict, { readonly kind: 'unknown-kind' | 'owned-kind' }>;

/** What there is of missing rights in one line. */
const MISSING_TOLD = 2;
const MEND_FIRST = 'mend the cause first, or it fails again; then see what is to become of the letter';

/** A sentence without its subject, which is the object. */
export function tell(verdict: PlacedVerdict, place: Place, named: Named = {}): Told {
  const { cluster, type } = place;
  switch (verdict.kind) {
    case 'cluster-unusable':
      return told(
        `not known: its cluster cannot be asked from here (${verdict.says})`,
        'see what is wrong with its entry',
        doctor(cluster),
      );
    case 'cluster-unauthorized':
      return told(
        `not known: its cluster does not accept our credentials (${verdict.says})`,
        'renew what its entry names',
        doctor(cluster),
      );
    case 'cluster-unreachable':
      return told(`not known: its cluster does not answer as it should (${verdict.says})`, 'see where the way ends', doctor(cluster));
    case 'may-not-read':
      return told(
        `not known: this identity may not get ${fullNameOf(type)} (${verdict.says})`,
        'see what is missing, of you or of the function',
        doctor(cluster, '--for', 'reconcile'),
      );
    case 'not-served':
      return told(
        `not there: the cluster does not serve ${fullNameOf(type)} in ${type.version}`,
        'install its CRD',
        dogwatch('crds', '--apply', '--cluster', cluster),
      );
    case 'absent':
      return tellAbsent(verdict, place, named);
    case 'left-behind':
      return told(
        `gone, and what it left outside the cluster is not undone: a dead letter (${verdict.code}) is all that remembers it`,
        MEND_FIRST,
        planLetters(place, named),
      );
    case 'paused':
      return told(
        verdict.isDeleting
          ? 'paused: its deletion waits until the annotation goes'
          : 'paused: nothing is done for it until the annotation goes',
        'resume it, if whoever set it agrees',
        kubectlOn(place, 'annotate', `${PAUSED_ANNOTATION}-`),
      );
    case 'held-by-former':
      return told(
        `being deleted, and held by ${verdict.finalizers.join(', ')}, which an earlier release of Dogwatch put there and no reconciler takes off any more`,
        'undo by hand what it stood for, then take it off',
        kubectlOn(place, 'edit'),
      );
    case 'held-by-others':
      return told(
        `being deleted for ${spanText(verdict.sinceSeconds)}, and held by finalizers that are not ours: ${verdict.finalizers.join(', ')}`,
        'look at whoever owns them; nothing of ours is left to do',
        kubectlOn(place, 'get', '-o', 'jsonpath={.metadata.finalizers}{"\\n"}{.status.conditions}{"\\n"}'),
      );
    case 'not-selected':
      return told(
        `left alone: ${verdict.outside}`,
        'change its labels or annotations, or the reconciler',
        kubectlOn(place, 'get', '--show-labels'),
      );
    case 'crd-lacks':
      return told(
        `never settled: ${verdict.what}, so that no run can say that it did its work`,
        'install ours',
        dogwatch('crds', '--apply', '--cluster', cluster),
      );
    case 'namespace-ending':
      return told(
        'not reconciled any more: its namespace is being deleted, and nothing can be made there',
        'see what holds the namespace',
        kubectl(cluster, 'get', 'namespace', place.namespace ?? '', '-o', 'jsonpath={.status.conditions}'),
      );
    case 'no-right':
      return told(
        `${verdict.isShown ? 'failing for want of rights' : 'not reconciled, and rights are missing'}: ${verdict.user}, who was asked for, ${missingText(verdict.missing)}`,
        `if the ${verdict.unit === 'reconcile' ? 'function' : 'watcher'} comes as the same, give it what it needs`,
        `${dogwatch('rbac', '--for', verdict.unit, '--cluster', cluster)} | ${kubectl(cluster, 'apply', '-f', '-')}`,
      );
    case 'dead-letter': {
      const { code, message, count, because } = verdict;
      const what = count === 1 ? 'a dead letter waits' : `${count} dead letters wait, the newest`;
      return told(
        `given up: ${what} (${code}${message === undefined ? '' : `: ${message}`}); ${because}`,
        MEND_FIRST,
        planLetters(place, named),
      );
    }
    case 'given-up':
      return told(
        `given up for its generation (${saidText(verdict.failure)}), and ${verdict.isLooked ? 'its letter is not in the queue any more' : 'nobody looked for its letter'}`,
        'mend the cause, then have it run',
        reconcile(place),
      );
    default:
      return tellState(verdict, place);
  }
}

/** What is said of a kind that no reconciler is for. */
export function tellKind(
  verdict: Exclude<Verdict, PlacedVerdict>,
  { cluster, namespace, name }: { readonly cluster: string | undefined; readonly namespace: string | undefined; readonly name: string },
): Told {
  const { asked } = verdict;
  const where = namespace === undefined ? [] : ['-n', namespace];
  const context = cluster === undefined ? [] : ['--context', cluster];
  if (verdict.kind === 'owned-kind') {
    const ownerRef = `jsonpath={.metadata.annotations.${OWNER_REF_ANNOTATION.replaceAll('.', '\\.')}}{"\\n"}`;
    return told(
      `a ${asked} is reconciled as a child, by whoever owns it: ${verdict.owners.join(', ')}`,
      'ask it for its owner, and explain that one (cluster/group/kind/namespace/name)',
      commandLine('kubectl', ...context, 'get', asked, name, ...where, '-o', ownerRef),
    );
  }
  const { nearest, known } = verdict;
  const text = `no reconciler is for a kind ${JSON.stringify(asked)}; there are: ${known.join(', ') || 'none'}`;
  if (nearest !== undefined) {
    const ours = cluster === undefined ? [] : ['--cluster', cluster];
    return told(text, `if ${nearest} is meant`, dogwatch('explain', `${nearest}/${name}`, ...where, ...ours));
  }
  return told(
    text,
    'see who writes it',
    commandLine('kubectl', ...context, 'get', asked, name, ...where, '-o', 'yaml', '--show-managed-fields'),
  );
}

/** The first of them; the rest stands below. */
function missingText(missing: readonly string[]): string {
  const told = missing.slice(0, MISSING_TOLD);
  const more = missing.length - told.length;
  return `${told.join('; ')}${more === 0 ? '' : `; and ${more} more`}`;
}

function tellAbsent({ elsewhere, letterCount }: Extract<Verdict, { kind: 'absent' }>, place: Place, named: Named): Told {
  const { clusters, namespaces, closestName } = elsewhere;
  const [cluster] = clusters;
  const [namespace] = namespaces;
  if (namespace !== undefined) {
    return told(
      `not there; there is one of that name in namespace ${namespaces.join(', ')}`,
      'if that is meant',
      explainAgain(place, { namespace }),
    );
  }
  if (cluster !== undefined) {
    return told(
      `not there; there is one of that name in cluster ${clusters.join(', ')}`,
      'if that is meant',
      explainAgain(place, { cluster }),
    );
  }
  // There was one of this very name, so that no other is meant.
  if (letterCount > 0) {
    const which = letterCount === 1 ? 'a dead letter of it is left, which needs' : `${letterCount} dead letters of it are left, which need`;
    return told(`gone; ${which} nothing`, 'make a plan, whose apply deletes them', planLetters(place, named));
  }
  if (closestName !== undefined) {
    const words = `${place.words.slice(0, place.words.indexOf('/'))}/${closestName}`;
    return told(`not there; there is ${closestName}`, 'if that is meant', explainAgain(place, { words }));
  }
  const inOne = place.namespace === undefined ? [] : ['-A'];
  return told('not there', 'see which there are', kubectl(place.cluster, 'get', fullNameOf(place.type), ...inOne));
}
