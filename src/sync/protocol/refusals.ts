/** Why a hub refuses a request of a device. */
import type { FileRefusalCode } from './files.ts';
import { object, SchemaMismatch, text, type Schema, type TypeOf } from './schema.ts';

/**
 * - `upgrade_needed`: the hub does not support this version of the protocol.
 * - `client_forked`: the hub has another write under this number, because the device was cloned. The device takes a new id.
 * - `client_regressed`: the device has lost writes that the hub knows. It takes a new id.
 * - `gap`: the hub has not received the writes before these.
 * - `epoch_changed`: the hub was restored; the device must send hello.
 * - `device_taken`: the device id belongs to another user.
 * - `device_expired`: the hub has forgotten the device, because it had no contact for too long. The device takes a new id.
 * - `too_many_devices`: the user has as many devices as one user may have.
 * - `needs_login`: the credential has expired; `locked`: it was revoked.
 * - `bad_message`: the device or the hub has a bug.
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
  /** A `SyncRefusalCode` if the hub has refused. A proxy in between may send any text, such as `too many requests`. */
  code: text(),
  description: text(),
}));
export type SyncRefusal = TypeOf<typeof syncRefusal>;

export const INVALID_JSON: SyncRefusal = {
  code: 'bad_message',
  description: 'The message is not valid JSON.',
};

export const isSyncRefusal = (answer: object): answer is SyncRefusal => 'code' in answer;

/** Ends a request at the hub: the device gets `refusal` as the answer. */
export class SyncRefused extends Error {
  readonly refusal: SyncRefusal & { readonly code: SyncRefusalCode };
  constructor(code: SyncRefusalCode, description: string) {
    super(description);
    this.refusal = { code, description };
  }
}

/** @param name of the message, for the error text @throws SyncRefused `bad_message` */
export function readRequest<T>(schema: Schema<T>, message: unknown, name: string): T {
  try {
    return schema(message, name);
  } catch (reason) {
    if (reason instanceof SchemaMismatch) throw new SyncRefused('bad_message', reason.message);
    throw reason;
  }
}
