/** Sets the passwords of documents: one credentials document for each. Spec: auth 2.1. */
import type { Step } from '../../errors.ts';
import { NATIVE } from '../../values/native-kinds.ts';
import type { ObjectValue, Ref } from '../../values/value.ts';
import { findCredentials } from '../access/credentials.ts';
import type { EngineContext } from '../context/context.ts';
import { fieldsOf } from '../documents/documents.ts';
import { nextRef } from '../documents/fresh-ref.ts';
import { writeVersion } from '../documents/write-version.ts';
import { setPassword, type PasswordChange } from './password-params.ts';

/** Sets or changes the password of a document. Permissions are not checked here. */
export function writeCredentials(
  context: EngineContext,
  instance: Ref,
  change: PasswordChange,
  position: readonly Step[],
): void {
  const found = findCredentials(context, instance);
  // The id is taken before the hash, for which the query may have to wait: so later ids are the same in every execution.
  const ref = found?.ref ?? nextRef(context, NATIVE.credentials);
  const before: ObjectValue = found
    ? fieldsOf(context, ref, found.version)
    : new Map([['instance', instance]]);
  const fields = new Map(before);
  setPassword({ context, fields }, change);
  writeVersion(context, ref, fields, position);
}
