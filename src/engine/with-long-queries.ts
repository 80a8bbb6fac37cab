/** Queries that take longer than a turn are executed elsewhere, so that they hold up nobody here. */
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { TurnOver } from '../query/turn-over.ts';
import type { LongQueries, QueryAnswer } from './context/host.ts';
import type { Engine } from './engine.ts';

type ArrivedQuery = Parameters<LongQueries['execute']>[0];

/** The same engine, but for its queries. */
export function withLongQueries(
  engine: Engine,
  longQueries: LongQueries,
  clock: () => number,
): Engine {
  const { transactions } = engine;
  const { textCharsMax = LIMITS.sliceChars } = longQueries;

  /** Without a valid secret a long text is not parsed, here or there. */
  const executeLong = async (request: ArrivedQuery): Promise<QueryAnswer> => {
    const { secret } = request;
    if (secret === undefined || !(await engine.authenticate(secret)))
      throw new Refusal('unauthorized', 'Unauthorized');
    return longQueries.execute(request);
  };

  const executeShort = async (request: ArrivedQuery): Promise<QueryAnswer> => {
    const free = longQueries.whenFree(request);
    if (free) await free;
    const { writeTurnMs } = longQueries;
    let evaluatedMs = 0;
    try {
      return await engine.query({
        ...request,
        turnMs: () => longQueries.turnMs(request, evaluatedMs),
        recordTime(ms) {
          evaluatedMs += ms;
          longQueries.recordTime?.(request, ms);
        },
        ...(writeTurnMs !== undefined && { writeTurnMs }),
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
