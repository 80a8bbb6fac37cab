/** How a query ends whose time is over: for good, or where it has had its turn. */
import { Refusal } from '../../errors.ts';
import { TurnOver } from '../../query/turn-over.ts';

export const timedOut = (timeoutMs: number): Refusal =>
  new Refusal('time out', `Query took longer than its time limit of ${timeoutMs} ms.`);

export function endTurn(): never {
  throw new TurnOver();
}
