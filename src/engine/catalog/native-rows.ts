/** Reads all members of a native collection, in pieces. */
import { collectionPrefix } from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import type { Row } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import { entriesIn, scan } from '../../store/scan.ts';
import type { DatabaseId } from '../../values/value.ts';
import { NATIVE, type NativeName } from '../../values/native-kinds.ts';

const ROWS_AT_ONCE = 1000;

/** Yields the rows in the order of their ids, including expired ones. */
export function* rowsOf(
  { reader }: { readonly reader: Reader },
  database: DatabaseId,
  name: NativeName,
): Generator<Row> {
  const all = prefixRange(collectionPrefix(database, NATIVE[name]));
  const range = scan('documents', all, { limit: ROWS_AT_ONCE });
  for (const { row } of entriesIn(reader, range)) if (row) yield row;
}
