/** Which failures of file transfers are worth a retry, and when to retry. */
import { Refusal } from '../../src/errors.ts';

/** The pause in ms before the next attempt after this many failures: at most one minute. */
export const retryMs = (failures: number): number => [1_000, 5_000, 15_000][failures] ?? 60_000;

/**
 * Whether a later attempt may succeed: there was no response, it was not from a hub, or the hub refused the request. False for refusals
 * of this device, such as `quota_exceeded`.
 */
export const isOfTheNetwork = (reason: unknown): boolean => !(reason instanceof Refusal);
