/** Refuses writes that make, check or end a password, key or token: each run would make another one, and outboxes store no secrets. */
import type { QueryPlan } from '../../engine/session.ts';

/** @param refuse throws the error with which the query fails */
export function refusingSecrets(plan: QueryPlan, refuse: () => never): QueryPlan {
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
      }),
      get madeIds() {
        return inputs.madeIds;
      },
    },
  };
}
