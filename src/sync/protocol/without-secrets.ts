/** A password, key or token would be another one where the query is run again, and has no place in an outbox: neither side makes one for a write, or ends one. */
import type { QueryPlan } from '../../engine/session.ts';

/** @param refuse throws what the query fails with */
export function withoutSecrets(plan: QueryPlan, refuse: () => never): QueryPlan {
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
