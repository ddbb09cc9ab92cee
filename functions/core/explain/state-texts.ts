/** What the verdict says of where an object is on its way, and the next step. */
import { commandLine, dogwatch, explainAgain, kubectlOn, reconcile } from './commands.ts';
import type { Place } from './facts.ts';
import { instantText, spanText } from './spans.ts';
import { doctor, RUN_ONCE_MORE, saidText, type Told, told } from './told.ts';
import type { Said, Verdict, WatcherFault } from './verdict.ts';

type Next = Pick<Told, 'next' | 'command'>;

/** Where the code alone says what to do. */
const NEXT_OF_CODE: Readonly<Partial<Record<string, (place: Place) => Next>>> = {
  forbidden: ({ cluster }) => ({
    next: 'give the function the right that it names; you have it',
    command: doctor(cluster, '--for', 'reconcile'),
  }),
  unauthorized: ({ cluster }) => ({ next: "renew the function's credentials", command: doctor(cluster, '--for', 'reconcile') }),
  'not-served': ({ cluster }) => ({ next: 'install the kind that it names', command: doctor(cluster) }),
  'unknown-cluster': ({ cluster }) => ({
    next: "put the cluster into the function's registry",
    command: doctor(cluster, '--for', 'reconcile'),
  }),
};

type StateVerdict = Extract<
  Verdict,
  {
    readonly kind:
      | 'failing'
      | 'retrying'
      | 'described'
      | 'settled'
      | 'not-ready'
      | 'waiting'
      | 'due'
      | 'overdue'
      | 'deleting'
      | 'held-by-us'
      | 'other-revision'
      | 'on-its-way'
      | 'not-run'
      | 'not-seen'
      | WatcherFault['kind'];
  }
>;

export function tellState(verdict: StateVerdict, place: Place): Told {
  switch (verdict.kind) {
    case 'failing': {
      const next = NEXT_OF_CODE[verdict.failure.code ?? '']?.(place) ?? {
        next: 'mend that; it is tried again by itself',
        command: kubectlOn(place, 'describe'),
      };
      return told(failureText('failing, and tried again', verdict), next.next, next.command);
    }
    case 'retrying':
      return told(failureText('tried again after what may pass by itself', verdict), 'nothing, unless it stays', explainAgain(place));
    case 'described':
      return told(
        'of a kind that is not ours: nothing in the cluster tells whether it is reconciled; it runs at each change, at each start of a watcher and in the resync',
        RUN_ONCE_MORE,
        reconcile(place),
      );
    case 'settled':
      return told('reconciled and ready', `nothing; ${RUN_ONCE_MORE}`, reconcile(place));
    case 'not-ready':
      return told(
        `reconciled, and its reconciler says that it is not ready: ${saidText(verdict.ready)}`,
        'do what it says',
        kubectlOn(place, 'describe'),
      );
    case 'waiting':
      return told(
        `${waitingText(verdict.isDeleting, verdict.ready)}, and runs again at ${instantText(verdict.untilMs)}, in ${spanText(verdict.seconds)}`,
        `nothing; ${RUN_ONCE_MORE} before that`,
        reconcile(place),
      );
    case 'due':
      return told(
        `reconciled, and due to run again since ${spanText(verdict.seconds)}`,
        'nothing; its message may be on its way',
        explainAgain(place),
      );
    case 'overdue':
      return told(
        `reconciled, and overdue: it was to run again ${spanText(verdict.seconds)} ago, and no watcher has asked for it since`,
        'have it run, and see whether watcher and function work',
        reconcile(place),
      );
    case 'deleting':
      return told(
        `being deleted since ${spanText(verdict.sinceSeconds)}${verdict.finalizers.length === 0 ? '' : `, held by ${verdict.finalizers.join(', ')}`}`,
        verdict.isHeld
          ? 'nothing yet; our finalizer comes off once finalize has done its work'
          : 'nothing yet; nothing of ours is left to do',
        explainAgain(place),
      );
    case 'held-by-us':
      return told(
        `being deleted for ${spanText(verdict.sinceSeconds)}, and held by our finalizer ${verdict.finalizer}: nothing shows that finalize was tried`,
        'have it run, and see whether watcher and function work',
        reconcile(place),
      );
    case 'other-revision':
      return told(
        `reconciled by revision ${verdict.observed} of its reconciler, and here it is ${verdict.revision}`,
        verdict.observed < verdict.revision
          ? 'deploy function and watcher of this revision, whose start sends it; or have it run'
          : 'an older reconciler is here than was there; deploy one, or look from its checkout',
        reconcile(place),
      );
    case 'on-its-way':
      return told(
        `on its way: it was changed ${spanText(verdict.sinceSeconds)} ago${changesText(verdict.changeCount)}`,
        'nothing yet',
        explainAgain(place),
      );
    case 'not-run':
      return told(
        `not reconciled${forText(verdict.sinceSeconds)}: the watcher follows its kind, and no run shows itself on it${waitingCountText(verdict.outboxCount)}`,
        'see whether the function runs, and what stops it (the API server not answering it, an open circuit)',
        dogwatch('doctor', '--stage', '$STAGE'),
      );
    case 'not-seen':
      return told(
        `not reconciled${forText(verdict.sinceSeconds)}: no run shows itself on it, and nobody says what the watcher sees`,
        'have it run: if that works, it is the watcher that stands still (--metrics URL asks it)',
        reconcile(place),
      );
    default:
      return tellWatcher(verdict, place);
  }
}

function tellWatcher(fault: WatcherFault, { cluster }: Place): Told {
  const logs = commandLine('kubectl', '-n', 'dogwatch', 'logs', 'deploy/dogwatch-watcher', '--since=15m');
  switch (fault.kind) {
    case 'watcher-without-cluster':
      return told(
        `not seen: ${cluster} is not among the clusters that the watcher follows`,
        'put it into the registry of the watcher',
        logs,
      );
    case 'watcher-without-kind':
      return told('not seen: the watcher follows its cluster and not its kind', 'deploy a watcher that has its reconciler', logs);
    case 'stream-down': {
      const { error, phase = 'not streaming' } = fault.cell;
      return told(
        `not seen: the watcher's stream of its kind is down (${error === undefined ? phase : `${error.code}: ${error.message}`})`,
        'mend what stops it',
        doctor(cluster, '--for', 'watcher'),
      );
    }
    case 'not-listed':
      return told('not seen: the watcher is still reading its kind', 'see why it does not come to an end', logs);
    case 'stream-silent':
      return told(
        `not seen: the watcher has heard nothing of its kind for ${spanText(fault.ageSeconds)}`,
        'see whether the watcher lives',
        logs,
      );
    case 'not-sent':
      return told(`not sent: SQS refused ${fault.cell.refusedCount} messages about its kind for good`, 'see why', logs);
  }
}

function failureText(words: string, { failure, isDeleting, isSettled }: Extract<Verdict, { kind: 'failing' | 'retrying' }>): string {
  const what = isDeleting ? 'its deletion is ' : isSettled ? 'reconciled before, and a later run is ' : '';
  return `${what}${words}: ${saidText(failure)}`;
}

function waitingText(isDeleting: boolean, ready: Said | undefined): string {
  if (isDeleting) return 'being deleted: finalize is not done';
  return ready === undefined ? 'reconciled' : `reconciled, and not ready (${saidText(ready)})`;
}

function forText(seconds: number | undefined): string {
  return seconds === undefined ? '' : ` for ${spanText(seconds)}`;
}

/** One that never comes to rest is changed by somebody all the time. */
function changesText(count: number | undefined): string {
  return count === undefined || count < 2 ? '' : `, ${count} times since it was reconciled`;
}

function waitingCountText(count: number): string {
  return count === 0 ? '' : `; messages of ${count} objects of the kind wait to be sent`;
}
