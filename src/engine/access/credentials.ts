/** Finds the credentials document of an instance, which holds its password. There is at most one for each instance. Spec: auth 2.1. */
import { refOfKey } from '../../codec/key.ts';
import { entriesIn } from '../../store/scan.ts';
import type { Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { fieldsOf, liveVersion, type LiveVersion } from '../documents/documents.ts';
import { NATIVE_INDEX, nativeRange } from '../catalog/native-indexes.ts';
import { isPasswordHash } from './passwords.ts';

/** Entries read at once. All but one of them can only be expired. */
const AT_ONCE = 16;

export function findCredentials(context: EngineContext, instance: Ref): LiveVersion | undefined {
  const index = NATIVE_INDEX.credentialsByInstance;
  const range = nativeRange(index, instance.database, instance, AT_ONCE);
  for (const { key } of entriesIn(context.reader, range, 4)) {
    const live = liveVersion(context, refOfKey(key), 'present');
    if (live) return live;
  }
  return undefined;
}

export function passwordHashOf(
  context: EngineContext,
  credentials: LiveVersion,
): string | undefined {
  const hash = fieldsOf(context, credentials.ref, credentials.version).get('hashed_password');
  // A hash whose cost exceeds the limits, however it got here, is treated as missing: comparing with it could take forever.
  return typeof hash === 'string' && isPasswordHash(hash) ? hash : undefined;
}
