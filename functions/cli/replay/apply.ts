/** `dogwatch replay apply`: carries out a plan. */
import { systemClock } from '../../adapters/clock.ts';
import type { QueueDescription } from '../../adapters/letter-queue-port.ts';
import type { Queue } from '../../adapters/queue-port.ts';
import { type Environment, readSetting } from '../../core/config.ts';
import { ConfigError } from '../../core/errors.ts';
import { queueNameOf } from '../../core/settings.ts';
import { accountedFor } from '../../replay/accounted.ts';
import { applyPlan } from '../../replay/apply/apply.ts';
import { type AuditFile, auditPathOf, openAudit } from '../../replay/apply/audit-file.ts';
import { checkAuditPlan } from '../../replay/apply/audit-text.ts';
import type { ApplySettings } from '../../replay/apply/contract.ts';
import { checkPlanQueue, type ReadPlan, readPlan } from '../../replay/plan-reader.ts';
import type { ExitCode } from '../main.ts';
import { aheadOf, commandOf, countByClass, whoIsThere } from './acting.ts';
import { type ApplyCommandOptions, settingsOf } from './apply-options.ts';
import { tellApply } from './apply-telling.ts';
import { actedOn, intentText, isDone, summaryText } from './apply-text.ts';
import { confirm } from './confirm.ts';
import { atDesk, type Desk, openSource, type Source } from './desk.ts';
import { Progress, processScreen } from './progress.ts';
import { processTerminal, type Terminal } from './terminal.ts';

/** What it is done with; a test has its own. */
export interface ApplyTools {
  readonly terminal: Terminal;
  readonly progress: Progress;
  readonly sender: Pick<Queue, 'send'>;
  readonly bulkQueueUrl: string;
  readonly source: Pick<Source, 'clientOf' | 'reconcilers'>;
  readonly openAudit: (path: string) => AuditFile;
  readonly command: string;
}

export async function replayApply(env: Environment, planFile: string, options: ApplyCommandOptions): Promise<ExitCode> {
  const settings = settingsOf(options, whoIsThere());
  const plan = readPlan(planFile);
  const bulkQueueUrl = readSetting(env, 'bulkQueueUrl');
  const progress = new Progress(systemClock, processScreen);
  const work = async (desk: Desk): Promise<ExitCode> => {
    checkPlanQueue(plan, desk.description);
    await checkBulkQueue(bulkQueueUrl, desk.description);
    const source = await openSource(env, desk.say);
    try {
      const { createQueue } = await import('../../adapters/sqs.ts');
      const tools: ApplyTools = {
        ...{ terminal: processTerminal, progress, source, openAudit, bulkQueueUrl },
        ...{ sender: await createQueue(), command: commandOf(process.argv.slice(2)) },
      };
      return await carryOut(desk, plan, { settings, yes: options.yes ?? false }, tools);
    } finally {
      source.close();
    }
  };
  return atDesk(env, options, work, progress.note);
}

/**
 * Messages of one stage are never sent to the queue of another.
 *
 * @throws ConfigError `queue-missing`, `other-stage`
 */
export async function checkBulkQueue(
  bulkQueueUrl: string,
  { url, arn }: Pick<QueueDescription, 'url' | 'arn'>,
  describe: (url: string) => Promise<Pick<QueueDescription, 'redriveTargetArn'>> = describeQueue,
): Promise<void> {
  if (queueNameOf(bulkQueueUrl) === queueNameOf(url)) refuse('it is the dead-letter queue itself');
  const bulk = await describe(bulkQueueUrl).catch((error: unknown) => {
    // Whoever may send to it need not be allowed to ask.
    if (error instanceof ConfigError && error.code !== 'queue-missing') return undefined;
    throw error;
  });
  if (bulk?.redriveTargetArn !== undefined && bulk.redriveTargetArn !== arn)
    refuse(`its dead letters go to ${bulk.redriveTargetArn}, and these are of ${arn}`);

  function refuse(why: string): never {
    throw new ConfigError(
      'other-stage',
      `nothing can be sent to ${bulkQueueUrl}: ${why}; set DOGWATCH_BULK_QUEUE_URL to the one of this stage`,
    );
  }
}

async function describeQueue(url: string): Promise<QueueDescription> {
  const { openLetterQueue } = await import('../../adapters/letter-queue.ts');
  const queue = await openLetterQueue(url);
  try {
    return await queue.describe();
  } finally {
    queue.close();
  }
}

/**
 * Takes the audit, asks, carries the plan out, and tells what it came to; 1 where not all of it is done.
 *
 * @throws ConfigError before anybody is asked where the audit is damaged, locked, of another plan or cannot be written; before anything is
 *   received where nobody can say yes
 */
export async function carryOut(
  desk: Desk,
  plan: ReadPlan,
  { settings, yes }: { readonly settings: ApplySettings; readonly yes: boolean },
  tools: ApplyTools,
): Promise<ExitCode> {
  const { queue, description, clock, stop, json, print, say } = desk;
  const { terminal, progress, sender, bulkQueueUrl, source, command } = tools;
  const auditPath = auditPathOf(plan.path);
  // Before anybody is asked: nobody types a number and then reads that another process has the plan.
  const audit = tools.openAudit(auditPath);
  try {
    checkAuditPlan(audit, plan.madeAt);
    const accounted = await accountedFor(plan.path);
    const { ahead, accountedCount } = aheadOf(plan.items, accounted);
    const counts = countByClass(ahead);
    const lines = [
      `${queueNameOf(description.url)}, by the plan of ${plan.madeAt}:`,
      ...intentText(counts, settings, accountedCount),
      `  each object is looked at again right before; what is done is written to ${auditPath}`,
    ];
    const deed = { queueUrl: description.url, lines, letterCount: actedOn(counts) };
    if (!(await confirm(deed, { yes, terminal, stop, say }))) return 1;
    const summary = await applyPlan({
      ...{ plan, accounted, queue, description, sender, bulkQueueUrl, source, audit, clock, stop, settings, command },
      tell: tellApply(progress, settings),
    });
    progress.end();
    if (json) {
      const { url, arn } = description;
      print(JSON.stringify({ version: 1, plan: plan.path, sha256: plan.sha256, queue: { url, arn }, audit: auditPath, ...summary }));
    } else for (const line of [...summaryText(summary), `audit: ${auditPath}`]) print(line);
    return isDone(summary) ? 0 : 1;
  } finally {
    progress.end();
    audit.close();
  }
}
