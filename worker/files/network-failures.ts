/** Failures of exchanges of files that a later attempt may not have, and when that is made. */
import { DamagedOnTheWay } from '../../src/sync/device/files/fetch-file.ts';
import { RefusedByHub } from '../../src/sync/device/syncer/transport.ts';

/** After so many failures it is tried again, at the latest after so long. */
export const retryMs = (failures: number): number => [1_000, 5_000, 15_000][failures] ?? 60_000;

export const isOfTheNetwork = (reason: unknown): boolean =>
  [TypeError, DOMException, RefusedByHub, DamagedOnTheWay].some((type) => reason instanceof type);
