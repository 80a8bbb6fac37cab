/**
 * Deletes the tokens and credentials of an id when a document is created under it again: the new document must not inherit the access of
 * the old one.
 */
import { decodeDocumentKey } from '../../codec/key.ts';
import type { Range } from '../../store/port.ts';
import { Ref, type DatabaseId } from '../../values/value.ts';
import { firstOfNative, NATIVE_INDEX, nativeRange } from '../catalog/native-indexes.ts';
import type { EngineContext } from '../context/context.ts';
import { deleteDocument } from '../documents/write-version.ts';
import { isNative } from '../../values/native-kinds.ts';

const AT_ONCE = 16;
const BY_INSTANCE = [NATIVE_INDEX.tokensByInstance, NATIVE_INDEX.credentialsByInstance];

const firstOfEach = (database: DatabaseId): readonly Range[] =>
  BY_INSTANCE.map((index) => firstOfNative(index, database));

/** A range for the first entry of each index, in the database that was written last. */
let firsts = { database: 0, ranges: firstOfEach(0) };

/** @throws Suspended, if there are any. That there are none is assumed and validated later */
export function deleteCredentialsOf(context: EngineContext, instance: Ref): void {
  if (isNative(instance.collection)) return;
  const { database } = instance;
  // All documents of a query use the same range objects, so that a reader records each assumption once.
  if (firsts.database !== database) firsts = { database, ranges: firstOfEach(database) };
  for (const [at, index] of BY_INSTANCE.entries()) {
    const first = firsts.ranges[at];
    // One range for all documents is checked first: most databases have neither tokens nor passwords.
    if (!first || context.reader.range(first, 'empty').length === 0) continue;
    const all = nativeRange(index, database, instance, AT_ONCE);
    const range = { ...all, rows: false };
    // Deleted documents are no longer found, so the loop ends.
    for (let found; (found = context.reader.range(range, 'empty')).length > 0;)
      for (const { key } of found) {
        const address = decodeDocumentKey(key);
        deleteDocument(context, new Ref(address.database, address.collection, address.id));
      }
  }
}
