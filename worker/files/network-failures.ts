/** Failures of exchanges of files that a later attempt may not have, and when that is made. */
import { Refusal } from '../../src/errors.ts';

/** After so many failures it is tried again, at the latest after so long. */
export const retryMs = (failures: number): number => [1_000, 5_000, 15_000][failures] ?? 60_000;

/** No answer came, or not one of a hub, or a refusal of the hub: all that is no refusal of this device, such as `quota_exceeded`. */
export const isOfTheNetwork = (reason: unknown): boolean => !(reason instanceof Refusal);
