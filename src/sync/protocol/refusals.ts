/** Why a hub refuses a request of a device. */
import type { FileRefusalCode } from './files.ts';
import { object, SchemaMismatch, text, type Schema, type TypeOf } from './schema.ts';

/**
 * - `upgrade_needed`: the hub does not speak this protocol any more, or not yet.
 * - `client_forked`: this number was given to another write: the device was copied. It takes a new id.
 * - `client_regressed`: the device has forgotten writes that the hub knows of. It takes a new id.
 * - `gap`: writes before these are missing here.
 * - `epoch_changed`: the hub was restored: say hello.
 * - `device_taken`: the id belongs to somebody else.
 * - `device_expired`: the hub has not met the device for so long that it has forgotten it. It takes a new id.
 * - `too_many_devices`: the person has as many as one may have.
 * - `needs_login`: the credential has expired; `locked`: it was revoked.
 * - `bad_message`: one of the two sides has a bug.
 */
export type SyncRefusalCode =
  | 'upgrade_needed'
  | 'client_forked'
  | 'client_regressed'
  | 'gap'
  | 'epoch_changed'
  | 'device_taken'
  | 'device_expired'
  | 'too_many_devices'
  | 'needs_login'
  | 'locked'
  | 'bad_message'
  | FileRefusalCode;

export const syncRefusal = object(() => ({
  /** A `SyncRefusalCode` from a hub; anything from a server on the way, such as `too many requests`. */
  code: text(),
  description: text(),
}));
export type SyncRefusal = TypeOf<typeof syncRefusal>;

export const isSyncRefusal = (answer: object): answer is SyncRefusal => 'code' in answer;

/** Ends a request at the hub: the device gets `refusal` instead of an answer. */
export class SyncRefused extends Error {
  readonly refusal: SyncRefusal & { readonly code: SyncRefusalCode };
  constructor(code: SyncRefusalCode, description: string) {
    super(description);
    this.refusal = { code, description };
  }
}

/** @param name of the message, for the description @throws SyncRefused `bad_message` */
export function readRequest<T>(schema: Schema<T>, message: unknown, name: string): T {
  try {
    return schema(message, name);
  } catch (reason) {
    if (reason instanceof SchemaMismatch) throw new SyncRefused('bad_message', reason.message);
    throw reason;
  }
}
