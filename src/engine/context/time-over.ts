/** How a query ends whose time is over. */
import { Refusal } from '../../errors.ts';

export const timedOut = (timeoutMs: number): Refusal =>
  new Refusal('time out', `Query took longer than its time limit of ${timeoutMs} ms.`);
