/**
 * Checks the ids of documents that a device generated. Ids that it could not have generated require the right to choose ids.
 *
 * An id is checked when a document is created under it. A check at the end would be too late: the rest of the query could tell the device
 * whether the id was in use, with what it returns, how it fails, or how long it takes.
 */
import type { Inputs } from '../../../engine/context.ts';
import { fault, type Fault } from '../../../errors.ts';
import { isIdMadeWith, type IdKey } from '../../protocol/device-ids.ts';
import type { OfferedWrite, PushHost } from './offered-write.ts';

/** Ends the execution of a query that uses an id which the device may not use. */
export class IdRefused extends Error {
  readonly fault: Fault;

  constructor(why: Fault) {
    super(why.description);
    this.fault = why;
  }
}

/**
 * Ids that the hub generates are not checked. Without the right to choose ids, the fault does not reveal whether an id is in use.
 * @throws Suspended, IdRefused
 */
export function checkOfIds(
  { item }: Pick<OfferedWrite, 'item'>,
  idKey: IdKey,
  { sha256 }: PushHost,
): NonNullable<Inputs['checkId']> {
  const claimed = new Set(item.ids.map(BigInt));
  const last = item.ids.at(-1);
  return (id, isFree, mayChoose) => {
    if (!claimed.has(id)) return;
    // Two tabs of a device may make the same id. The second finds it in use, and its write has another one for the document.
    const isUsable = isFree || String(id) !== last;
    if (isUsable && (isIdMadeWith(idKey, id, sha256) || mayChoose())) return;
    throw new IdRefused(!isFree && mayChoose() ? TAKEN : NOT_AVAILABLE);
  };
}

const TAKEN = fault(
  'instance already exists',
  [],
  'A document id that the device generated is already in use.',
);

export const ID_NOT_AVAILABLE =
  'A document id in this write is not available to this device. Run the query again to get another one.';

const NOT_AVAILABLE = fault('permission denied', [], ID_NOT_AVAILABLE);
