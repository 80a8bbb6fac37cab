/** A query that makes, checks or ends a password, key or token is refused as a write: it would make another one where it is run again, and has no place in an outbox. */
import type { QueryPlan } from '../../engine/session.ts';

/** @param refuse throws what the query fails with */
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
