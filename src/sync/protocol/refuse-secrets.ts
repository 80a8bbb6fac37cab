/** Refuses writes that make, check or end a password, key or token: each run would make another one, and outboxes store no secrets. */
import type { Inputs } from '../../engine/context.ts';
import type { QueryPlan } from '../../engine/session.ts';

/** @param refuse throws the error with which the query fails @param checkId checks the ids of new documents */
export function refusingSecrets(
  plan: QueryPlan,
  refuse: () => never,
  checkId?: Inputs['checkId'],
): QueryPlan {
  const { inputs } = plan;
  return {
    ...plan,
    inputs: {
      begin: (answers) => ({
        ...inputs.begin(answers),
        hash: refuse,
        verify: refuse,
        randomBytes: refuse,
        refuseLogout: refuse,
        ...(checkId && { checkId }),
      }),
      get madeIds() {
        return inputs.madeIds;
      },
    },
  };
}
