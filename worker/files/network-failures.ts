/** Failures of exchanges of files that a later attempt may not have, and when that is made. */
import { DamagedOnTheWay } from '../../src/sync/device/files/fetch-file.ts';
import { RefusedByHub } from '../../src/sync/device/syncer/transport.ts';
import { SchemaMismatch } from '../../src/sync/protocol/schema.ts';

/** After so many failures it is tried again, at the latest after so long. */
export const retryMs = (failures: number): number => [1_000, 5_000, 15_000][failures] ?? 60_000;

/** Also when somebody else has answered, with what is no message of a hub. */
export const isOfTheNetwork = (reason: unknown): boolean =>
  [TypeError, DOMException, SyntaxError, SchemaMismatch, RefusedByHub, DamagedOnTheWay].some(
    (type) => reason instanceof type,
  );
