/** Checks the ids of documents that a device generated. Ids that it could not have generated require the right to choose ids. */
import { decodeDocumentKey, documentKey } from '../../../codec/key.ts';
import { unpackVersion } from '../../../codec/row.ts';
import { collectionRef } from '../../../engine/catalog.ts';
import { fieldsOf } from '../../../engine/documents.ts';
import type { BodyInput } from '../../../engine/transactions.ts';
import { fault, type Fault } from '../../../errors.ts';
import type { Row, WriteSet } from '../../../store/port.ts';
import { Ref } from '../../../values/value.ts';
import { isIdMadeWith, type IdKey } from '../../protocol/device-ids.ts';
import { callerOfDevice, type DeviceCaller } from '../rights/device-caller.ts';
import type { OfferedWrite, PushHost } from './offered-write.ts';

/**
 * @param made all ids that the execution used, beginning with those that the device sent
 * @returns why the write is refused, if it is. Without the right to choose ids, the fault does not reveal whether an id is in use.
 * @throws Suspended
 */
export function faultOfIds(
  { item, database, idKey, request }: OfferedWrite & { readonly idKey: IdKey },
  made: readonly bigint[],
  { puts }: WriteSet,
  input: BodyInput,
  host: PushHost,
): Fault | undefined {
  const given = item.ids.map(BigInt);
  const claimed = new Set(given);
  // Ids that the engine used because an id from the device was in use.
  const others = new Set(made.slice(given.length));
  if (claimed.size === 0 && others.size === 0) return undefined;
  const { writer } = input;
  let caller: DeviceCaller | undefined;
  const mayChoose = (row: Row, id: bigint): boolean => {
    caller ??= callerOfDevice(request, input, writer, host);
    return mayCreateAt(caller, row, id);
  };
  let found: Fault | undefined;
  for (const { space, row } of puts) {
    if (space !== 'documents') continue;
    const { collection, id } = decodeDocumentKey(row.key);
    const isChosen = claimed.has(id) && !isIdMadeWith(idKey, id, host.sha256);
    if (isChosen && !mayChoose(row, id)) return NOT_AVAILABLE;
    if (!others.has(id)) continue;
    const taken = given.find((each) => {
      const key = documentKey(database, collection, each);
      return writer.row({ space: 'documents', key }, 'absent') !== undefined;
    });
    if (taken === undefined) continue;
    if (!mayChoose(row, taken)) return NOT_AVAILABLE;
    found = TAKEN;
  }
  return found;
}

function mayCreateAt({ context }: DeviceCaller, row: Row, id: bigint): boolean {
  const { database, collection } = decodeDocumentKey(row.key);
  const ref = new Ref(database, collection, id);
  const data = fieldsOf(context, ref, unpackVersion(String(row.value)));
  const home = collectionRef(database, collection);
  return context.permissions.may({ action: 'create_with_id', collection: home, data, ref });
}

const TAKEN = fault(
  'instance already exists',
  [],
  'A document id that the device generated is already in use.',
);

export const ID_NOT_AVAILABLE =
  'A document id in this write is not available to this device. Run the query again to get another one.';

const NOT_AVAILABLE = fault('permission denied', [], ID_NOT_AVAILABLE);
