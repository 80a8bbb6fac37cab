/** The data of one execution of a pull. */
import type { BodyInput } from '../../../engine/transactions.ts';
import type { Pull } from '../../protocol/messages.ts';
import type { CallerHost } from '../rights/device-caller.ts';
import type { RightsContext } from '../rights/rights-context.ts';
import type { ResolvedRequest } from '../sets/requested-sets.ts';
import type { RecentChanges } from './recent-changes.ts';

export interface PullContext extends RightsContext {
  readonly message: Pull;
  readonly input: BodyInput;
  /** The sets as the device requested them, with how much it has of each. */
  readonly sets: readonly ResolvedRequest[];
  readonly recent: RecentChanges;
}

export interface PullHost extends CallerHost {
  readonly recent: RecentChanges;
}
