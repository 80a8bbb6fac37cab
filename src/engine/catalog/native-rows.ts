/** Reads all members of a native collection, however many there are. */
import { after, collectionPrefix, type Key } from '../../codec/key.ts';
import type { Row } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import type { DatabaseId } from '../../values/value.ts';
import { NATIVE, type NativeName } from '../../values/native-kinds.ts';

const ROWS_AT_ONCE = 1000;

/** In the order of their ids, expired ones too. */
export function* rowsOf(
  { reader }: { readonly reader: Reader },
  database: DatabaseId,
  name: NativeName,
): Generator<Row> {
  const prefix = collectionPrefix(database, NATIVE[name]);
  const range = { space: 'documents', by: 'key', reverse: false, rows: true } as const;
  for (let lower = prefix, isLast = false; !isLast;) {
    const bounds = { lower, upper: after(prefix), limit: ROWS_AT_ONCE };
    const found = reader.range({ ...range, ...bounds });
    for (const { row } of found) if (row) yield row;
    isLast = found.length < ROWS_AT_ONCE;
    lower = ((found.at(-1)?.key ?? prefix) + '\0') as Key;
  }
}
