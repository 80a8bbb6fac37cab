/** Finds writes of the outbox: by id, or those to be sent. */
import { eachElement } from '../../../query/collect-needs.ts';
import type { Reader } from '../../../store/reader.ts';
import type { PushItem } from '../../protocol/writes.ts';
import { publicRecord, type WriteRecord } from '../state/outbox-record.ts';
import { outboxAddress, readOutboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords } from '../state/outbox-rows.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { pushSizeOf } from './push-size.ts';

/** Number of a write: which device id, and which of its writes. */
export interface WriteNumber {
  readonly era: number;
  readonly seq: number;
}

/** Under its first number, or under another one since the device took a new id. @throws Suspended */
export function numberOf(reader: Reader, id: string): WriteNumber | undefined {
  const found = /^(\d+)\.(\d+)$/.exec(id);
  if (!found) return undefined;
  const first = { era: Number(found[1]), seq: Number(found[2]) };
  const row = reader.row(outboxAddress(first.era, first.seq));
  if (row && readOutboxRow(row).id === id) return first;
  const moved = outboxRecords(reader, outboxRange()).find((record) => record.id === id);
  return moved && { era: moved.era, seq: moved.item.seq };
}

/** Those of the ids that are in the outbox. @throws Suspended */
export function writesById(reader: Reader, ids: readonly string[]): readonly WriteRecord[] {
  const numbers = eachElement(ids, (id) => numberOf(reader, id));
  const addresses = numbers.flatMap((each) => (each ? [outboxAddress(each.era, each.seq)] : []));
  const rows = eachElement(addresses, (address) => reader.row(address));
  return rows.flatMap((row) => (row ? [publicRecord(readOutboxRow(row))] : []));
}

export interface PushBounds {
  readonly count: number;
  /** By `pushSizeOf`; the first write always fits. */
  readonly chars: number;
}

/** Writes without a verdict, oldest first, within bounds. @throws Suspended */
export function outgoingItems(
  reader: Reader,
  { era, lastSeq, settledSeq }: ReplicaState,
  { count, chars }: PushBounds,
): readonly PushItem[] {
  const first = settledSeq + 1;
  const most = Math.max(0, Math.min(count, lastSeq - settledSeq));
  const addresses = Array.from({ length: most }, (_, i) => outboxAddress(era, first + i));
  const items: PushItem[] = [];
  let size = 0;
  // By their keys: what was written a moment ago is cached by key.
  for (const row of eachElement(addresses, (address) => reader.row(address))) {
    if (!row) continue;
    const { item } = readOutboxRow(row);
    size += pushSizeOf(item);
    if (items.length > 0 && size > chars) break;
    items.push(item);
  }
  return items;
}
