/** Passwords of documents: one credentials document for each. Spec: auth 2.1. */
import { decodeDocumentKey } from '../../codec/key.ts';
import type { Step } from '../../errors.ts';
import { Ref } from '../../values/value.ts';
import type { ObjectValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { fieldsOf, liveVersion, type LiveVersion } from '../documents/documents.ts';
import { NATIVE_INDEX, nativeRange } from '../catalog/native-indexes.ts';
import { nextRef } from '../documents/fresh-ref.ts';
import { isPasswordHash } from '../access/passwords.ts';
import { setPassword, type PasswordChange } from './validate-identity.ts';
import { writeVersion } from '../documents/write-version.ts';
import { NATIVE } from '../../values/native-kinds.ts';

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
  // One that would take for ever to compare with is none, however it came here.
  return typeof hash === 'string' && isPasswordHash(hash) ? hash : undefined;
}

/** Gives a document its password, or another one. Rights of the caller play no part. */
export function writeCredentials(
  context: EngineContext,
  instance: Ref,
  change: PasswordChange,
  position: readonly Step[],
): void {
  const found = findCredentials(context, instance);
  // Before the hash, for which the query may have to wait: what comes later gets the same ids in every run.
  const ref = found?.ref ?? nextRef(context, NATIVE.credentials);
  const before: ObjectValue = found
    ? fieldsOf(context, ref, found.version)
    : new Map([['instance', instance]]);
  const fields = new Map(before);
  setPassword({ context, fields }, change);
  writeVersion(context, ref, fields, position);
}
