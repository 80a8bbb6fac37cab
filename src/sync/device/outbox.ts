/** Writes of the outbox: found, sent on their way, judged. */
import type { BodyInput } from '../../engine/transactions.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Reader } from '../../store/reader.ts';
import type { PushItem, Verdict } from '../protocol.ts';
import type { ReplicaState, WriteRecord } from './api.ts';
import {
  outboxAddress,
  outboxIn,
  outboxRange,
  outboxRow,
  publicOf,
  readOutboxRow,
  type OutboxRecord,
} from './rows.ts';
import type { Step } from './step.ts';

/** A write, and where it stands. */
interface Located {
  readonly id: string;
  readonly era: number;
  readonly seq: number;
}

/** Under its own number, or under another one since the device took another id. @throws Suspended */
export function locate(reader: Reader, id: string): Located | undefined {
  const found = /^(\d+)\.(\d+)$/.exec(id);
  if (!found) return undefined;
  const first = { id, era: Number(found[1]), seq: Number(found[2]) };
  const row = reader.row(outboxAddress(first.era, first.seq));
  if (row && readOutboxRow(row).id === id) return first;
  const moved = outboxIn(reader, outboxRange()).find((record) => record.id === id);
  return moved && { id, era: moved.era, seq: moved.item.seq };
}

/** Those of these that are there. @throws Suspended */
export function recordsOf(reader: Reader, ids: readonly string[]): readonly WriteRecord[] {
  const places = eachElement(ids, (id) => locate(reader, id));
  const addresses = places.flatMap((place) => (place ? [outboxAddress(place.era, place.seq)] : []));
  const rows = eachElement(addresses, (address) => reader.row(address));
  return rows.flatMap((row) => (row ? [publicOf(readOutboxRow(row))] : []));
}

/** Writes without a verdict, oldest first, as far as they fit. @throws Suspended */
export function outgoingIn(
  reader: Reader,
  { era, lastSeq, settledSeq }: ReplicaState,
  { count, bytes }: { readonly count: number; readonly bytes: number },
): readonly PushItem[] {
  const first = settledSeq + 1;
  const most = Math.max(0, Math.min(count, lastSeq - settledSeq));
  const addresses = Array.from({ length: most }, (_, i) => outboxAddress(era, first + i));
  const items: PushItem[] = [];
  let size = 0;
  // By their keys: what was written a moment ago is at hand, and need not be looked for.
  for (const row of eachElement(addresses, (address) => reader.row(address))) {
    if (!row) continue;
    const { item } = readOutboxRow(row);
    size += item.query.length;
    if (items.length > 0 && size > bytes) break;
    items.push(item);
  }
  return items;
}

/** Undefined: the verdict is known already, or on another write. */
export const settledBy = (
  record: OutboxRecord,
  verdict: Verdict | undefined,
): OutboxRecord | undefined =>
  !verdict || record.verdict || record.item.hash !== verdict.hash
    ? undefined
    : { ...record, verdict, state: verdict.state, predicted: undefined };

/** What a push brought: nothing of what is shown changes. @throws Suspended */
export function settle(
  { writer }: BodyInput,
  state: ReplicaState,
  verdicts: readonly Verdict[],
): Step<readonly WriteRecord[]> {
  const addresses = verdicts.map(({ seq }) => outboxAddress(state.era, seq));
  const rows = eachElement(addresses, (address) => writer.row(address));
  const settled = verdicts.flatMap((verdict, i) => {
    const row = rows[i];
    return (row && settledBy(readOutboxRow(row), verdict)) ?? [];
  });
  const value = settled.map(publicOf);
  if (settled.length === 0) return { value };
  for (const record of settled) writer.put('sync', outboxRow(state.era, record));
  let { settledSeq } = state;
  for (const { item } of settled) if (item.seq === settledSeq + 1) settledSeq = item.seq;
  const size = settled.reduce((sum, record) => sum + record.size, 0);
  const outboxSize = Math.max(0, state.outboxSize - size);
  // The view knows its last write by its row.
  return { value, next: { ...state, settledSeq, outboxSize, generation: state.generation + 1 } };
}
