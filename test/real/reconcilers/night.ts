/** The project's Tenant as a release has it that throws for some owners: the next one, without the fault, is the project's own. */
import type { Reconciler } from '../../../functions/core/reconciler.ts';
import { queueClaim } from '../../../functions/reconcilers/queue-claim.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';

/** Owners that the release was not tried with. */
export const UNTRIED_OWNER = 'otto@umlaut.example';

const faulty: typeof tenant = {
  ...tenant,
  async reconcile(input) {
    if (input.object.spec.owner === UNTRIED_OWNER) throw new TypeError("Cannot read properties of undefined (reading 'toLowerCase')");
    return tenant.reconcile(input);
  },
};

export const reconcilers: readonly Reconciler[] = [faulty, queueClaim];
