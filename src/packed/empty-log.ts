/** The start of a new log in a store where an earlier log has used up the first numbers. */
import { partsOf } from './codec/log-parts.ts';
import { recordBytes } from './codec/log-record.ts';
import { EMPTY_MANIFEST } from './manifest.ts';

/** The first record of an empty store's log. It must be appended under this number. */
export const emptyLogFrom = (number: number): Uint8Array[] =>
  partsOf(recordBytes({ kind: 'flip', manifest: { ...EMPTY_MANIFEST, flushed: number - 1 } }));
