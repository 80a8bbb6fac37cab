/** Who is created under an id that somebody had before does not inherit what opened that one: its tokens and its password. */
import { decodeDocumentKey } from '../../codec/key.ts';
import type { Range } from '../../store/port.ts';
import { Ref, type DatabaseId } from '../../values/value.ts';
import { firstOfNative, NATIVE_INDEX, nativeRange } from '../catalog/native-indexes.ts';
import type { EngineContext } from '../context/context.ts';
import { endDocument } from '../documents/write-version.ts';
import { isNative } from '../../values/native-kinds.ts';

const AT_ONCE = 16;
const BY_INSTANCE = [NATIVE_INDEX.tokensByInstance, NATIVE_INDEX.credentialsByInstance];

const firstOfEach = (database: DatabaseId): readonly Range[] =>
  BY_INSTANCE.map((index) => firstOfNative(index, database));

/** The first entry of each, in the database written last. */
let firsts = { database: 0, ranges: firstOfEach(0) };

/** @throws Suspended, when there are any; that there are none is assumed */
export function endCredentialsOf(context: EngineContext, instance: Ref): void {
  if (isNative(instance.collection)) return;
  const { database } = instance;
  // The same objects for all documents of a query: a reader assumes each once.
  if (firsts.database !== database) firsts = { database, ranges: firstOfEach(database) };
  for (const [at, index] of BY_INSTANCE.entries()) {
    const first = firsts.ranges[at];
    // One range for all documents: most databases have neither tokens nor passwords.
    if (!first || context.reader.rangeAssumedEmpty(first).length === 0) continue;
    const all = nativeRange(index, database, instance, AT_ONCE);
    const range = { ...all, rows: false };
    // What is ended is no longer found.
    for (let found; (found = context.reader.rangeAssumedEmpty(range)).length > 0;)
      for (const { key } of found) {
        const address = decodeDocumentKey(key);
        endDocument(context, new Ref(address.database, address.collection, address.id));
      }
  }
}
