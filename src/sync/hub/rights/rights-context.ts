/** One execution of a request that reads data with the rights of its caller, and records what those rights depend on. */
import type { BodyInput } from '../../../engine/transactions.ts';
import type { Reader } from '../../../store/reader.ts';
import type { DatabaseId } from '../../../values/value.ts';
import type { DeviceId, Epoch } from '../../protocol/identifiers.ts';
import { requireDeviceIn, type DeviceRecord } from '../rows/device-rows.ts';
import { requireEpoch } from '../rows/epoch.ts';
import { ownerOf } from './caller-facts.ts';
import {
  callerOfDevice,
  type CallerHost,
  type DeviceCaller,
  type DeviceRequest,
} from './device-caller.ts';
import { ReadRights } from './read-rights.ts';
import { extendedScope, NO_SCOPE, scopeIn, type Scope } from './scope.ts';
import { WatchedReader } from './watched-reader.ts';

export interface RightsContext {
  /** Reads everything, regardless of the caller's rights. */
  readonly reader: Reader;
  readonly caller: DeviceCaller;
  readonly rights: ReadRights;
  readonly database: DatabaseId;
  readonly record: DeviceRecord;
  /** The stored scope. */
  readonly scope: Scope | undefined;
  /** The stored scope, extended by everything read so far. */
  extendedScope(): Scope;
}

/** @throws Suspended, SyncRefused */
export function rightsContext(
  { device, epoch }: { readonly device: DeviceId; readonly epoch: Epoch },
  request: DeviceRequest,
  input: BodyInput,
  host: CallerHost,
): RightsContext {
  const { writer: reader } = input;
  requireEpoch(reader, epoch);
  const snapshot = Math.max(request.started, input.head);
  const watched = new WatchedReader(reader, snapshot);
  const caller = callerOfDevice(request, input, watched, host);
  const { database } = caller.caller;
  const record = requireDeviceIn(reader, database, device, ownerOf(caller.caller));
  const scope = scopeIn(reader, database, device);
  return {
    reader,
    caller,
    rights: new ReadRights(caller, watched),
    database,
    record,
    scope,
    extendedScope: () => extendedScope(scope ?? NO_SCOPE, watched, snapshot),
  };
}
