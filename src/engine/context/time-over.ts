/** The refusal of a query that exceeded its time limit. */
import { Refusal } from '../../errors.ts';

export const timedOut = (timeoutMs: number): Refusal =>
  new Refusal('time out', `Query took longer than its time limit of ${timeoutMs} ms.`);
