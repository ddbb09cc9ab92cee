/** The reconcilers of this deployment: add yours here. */
import { checkReconcilers, type Reconciler } from '../core/reconciler.ts';
import { queueClaim } from './queue-claim.ts';
import { tenant } from './tenant.ts';

export const reconcilers: readonly Reconciler[] = checkReconcilers([tenant, queueClaim]);
