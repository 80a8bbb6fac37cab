/** Who is created under an id that somebody had before does not inherit what opened that one: its tokens and its password. */
import { decodeDocumentKey } from '../../codec/key.ts';
import { Ref } from '../../values/value.ts';
import { firstOfNative, NATIVE_INDEX, nativeRange } from '../catalog/native-indexes.ts';
import type { EngineContext } from '../context/context.ts';
import { endDocument } from '../documents/write-version.ts';
import { isNative } from '../../values/native-kinds.ts';

const AT_ONCE = 16;
const BY_INSTANCE = [NATIVE_INDEX.tokensByInstance, NATIVE_INDEX.credentialsByInstance];

/** @throws Suspended, when there are any; that there are none is assumed */
export function endCredentialsOf(context: EngineContext, instance: Ref): void {
  if (isNative(instance.collection)) return;
  for (const index of BY_INSTANCE) {
    // One range for all documents of a query: most databases have neither tokens nor passwords.
    if (context.reader.rangeAssumedEmpty(firstOfNative(index, instance.database)).length === 0)
      continue;
    const all = nativeRange(index, instance.database, instance, AT_ONCE);
    const range = { ...all, rows: false };
    // What is ended is no longer found.
    for (let found; (found = context.reader.rangeAssumedEmpty(range)).length > 0;)
      for (const { key } of found) {
        const { database, collection, id } = decodeDocumentKey(key);
        endDocument(context, new Ref(database, collection, id));
      }
  }
}
