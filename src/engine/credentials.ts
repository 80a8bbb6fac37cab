/** Passwords of documents: one credentials document for each. Spec: auth 2.1. */
import type { Step } from '../errors.ts';
import { NATIVE, Ref } from '../values/value.ts';
import type { ObjectValue } from '../values/value.ts';
import type { EngineContext } from './context.ts';
import { fieldsOf, liveVersion, type LiveVersion } from './documents.ts';
import { decodeDocumentKey } from '../codec/key.ts';
import { NATIVE_INDEX, nativeRange } from './native-indexes.ts';
import { nextRef } from './fresh-ref.ts';
import { setPassword, type PasswordChange } from './validate-identity.ts';
import { writeVersion } from './write-version.ts';

/** More than one row can only be expired ones. */
const CANDIDATES_MAX = 16;

export function findCredentials(context: EngineContext, instance: Ref): LiveVersion | undefined {
  const range = nativeRange(
    NATIVE_INDEX.credentialsByInstance,
    instance.database,
    instance,
    CANDIDATES_MAX,
  );
  for (const { key } of context.reader.range(range)) {
    const { database, collection, id } = decodeDocumentKey(key);
    const live = liveVersion(context, new Ref(database, collection, id), 'present');
    if (live) return live;
  }
  return undefined;
}

export function passwordHashOf(
  context: EngineContext,
  credentials: LiveVersion,
): string | undefined {
  const hash = fieldsOf(context, credentials.ref, credentials.version).get('hashed_password');
  return typeof hash === 'string' ? hash : undefined;
}

/** Gives a document its password, or another one. Rights of the caller play no part. */
export function writeCredentials(
  context: EngineContext,
  instance: Ref,
  change: PasswordChange,
  position: readonly Step[],
): void {
  const found = findCredentials(context, instance);
  const before: ObjectValue = found
    ? fieldsOf(context, found.ref, found.version)
    : new Map([['instance', instance]]);
  const fields = new Map(before);
  setPassword({ context, fields }, change);
  const ref = found?.ref ?? nextRef(context, NATIVE.credentials);
  writeVersion(context, ref, fields, position);
}
