/** The project's Tenant as a release has it whose code came to do something else. */
import type { Reconciler } from '../../../functions/core/reconciler.ts';
import { tenant } from '../../../functions/reconcilers/tenant.ts';

export const reconcilers: readonly Reconciler[] = [{ ...tenant, revision: 2 }];
