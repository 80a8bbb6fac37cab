/** Hands queries that take longer than a turn over to another engine, so that they do not block others here. */
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { TurnOver } from '../query/turn-over.ts';
import type { ArrivedQuery, LongQueries, QueryAnswer } from './context/host.ts';
import type { Engine } from './engine.ts';

/** Returns the engine with another `query`. */
export function withLongQueries(
  engine: Engine,
  longQueries: LongQueries,
  clock: () => number,
): Engine {
  const { transactions } = engine;
  const { textCharsMax = LIMITS.longTextChars } = longQueries;

  /** A long text is parsed, here or in the other engine, only if the secret is valid. */
  const executeLong = async (request: ArrivedQuery): Promise<QueryAnswer> => {
    const { secret } = request;
    if (secret === undefined || !(await engine.authenticate(secret)))
      throw new Refusal('unauthorized', 'Unauthorized');
    return longQueries.execute(request);
  };

  const executeShort = async (request: ArrivedQuery): Promise<QueryAnswer> => {
    const free = longQueries.whenFree(request);
    if (free) await free;
    let evaluatedMs = 0;
    try {
      return await engine.query({
        ...request,
        whenFree: () => longQueries.whenFree(request),
        turnMs: (mayWrite) => longQueries.turnMs(request, { mayWrite, evaluatedMs }),
        recordTime(ms) {
          evaluatedMs += ms;
          longQueries.recordTime?.(request, ms);
        },
      });
    } catch (reason) {
      if (reason instanceof TurnOver) return longQueries.execute(request);
      throw reason;
    }
  };

  return {
    ...engine,
    async query(request) {
      const arrived = clock();
      const asked = { ...request, arrived };
      try {
        const answer = await (request.queryParts || request.query.length > textCharsMax
          ? executeLong(asked)
          : executeShort(asked));
        if (answer.credential) longQueries.recordDatabase?.(request, answer.database);
        return answer;
      } catch (reason) {
        return transactions.refused({ request, started: arrived }, reason);
      }
    },
  };
}
