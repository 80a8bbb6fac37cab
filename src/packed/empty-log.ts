/** A log that begins anew, where numbers of a former one were given already. */
import { partsOf } from './codec/log-parts.ts';
import { recordBytes } from './codec/log-record.ts';
import { EMPTY_MANIFEST } from './manifest.ts';

/** The first record of the log of an empty store, to be appended under this number. */
export const emptyLogFrom = (number: number): Uint8Array[] =>
  partsOf(recordBytes({ kind: 'flip', manifest: { ...EMPTY_MANIFEST, flushed: number - 1 } }));
