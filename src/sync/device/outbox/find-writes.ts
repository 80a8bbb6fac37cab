/** Finds writes in the outbox: by id, or the next ones to send. */
import { eachElement } from '../../../query/collect-needs.ts';
import type { Reader } from '../../../store/reader.ts';
import type { PushItem } from '../../protocol/writes.ts';
import type { OutboxRecord } from '../state/outbox-record.ts';
import { outboxAddress, readOutboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords } from '../state/outbox-rows.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { pushSizeOf } from './push-size.ts';

/** The number of a write: the era of the device id, and the number under that id. */
export interface WriteNumber {
  readonly era: number;
  readonly seq: number;
}

/**
 * The writes with these ids. A write is usually stored under the number in its id, but has another number if the device has taken a new id
 * since; to find those, all writes are read once.
 * @throws Suspended
 */
export function writesById(reader: Reader, ids: readonly string[]): readonly OutboxRecord[] {
  const rows = eachElement(ids, (id) => {
    const [, era, seq] = /^(\d+)\.(\d+)$/.exec(id) ?? [];
    return seq ? reader.row(outboxAddress(Number(era), Number(seq))) : undefined;
  });
  const found = new Map<string, OutboxRecord>();
  const note = (record: OutboxRecord): unknown => found.set(record.id, record);
  for (const row of rows) if (row) note(readOutboxRow(row));
  if (ids.some((id) => !found.has(id))) outboxRecords(reader, outboxRange()).forEach(note);
  return ids.flatMap((id) => found.get(id) ?? []);
}

export interface PushBounds {
  readonly count: number;
  /** Measured by `pushSizeOf`. The first write always fits. */
  readonly chars: number;
}

/** Writes without a verdict, oldest first, within the bounds. @throws Suspended */
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
  // Read by key and not as a range, because recently written rows are cached by key.
  for (const row of eachElement(addresses, (address) => reader.row(address))) {
    if (!row) continue;
    const { item } = readOutboxRow(row);
    size += pushSizeOf(item);
    if (items.length > 0 && size > chars) break;
    items.push(item);
  }
  return items;
}
