/** A write in the outbox of a device: kept from its submit until the app has resolved it. */
import type { Range, RowAddress, WriteSet } from '../../../store/port.ts';
import type { Micros } from '../../../values/value.ts';
import type { WriteNote } from '../../../answers.ts';
import type { WriteState } from '../../../states.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { Owner } from '../../protocol/messages.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';

export interface OutboxRecord {
  /** The number it was made under, `era.seq`: stays the same when the write moves to another number. */
  readonly id: string;
  /** Which id of the device it is under now; its number there is in `item`. */
  readonly era: number;
  readonly item: PushItem;
  readonly state: WriteState;
  /** When it was made here, µs. */
  readonly at: Micros;
  /** What it answered here; undefined when it was not run here. */
  readonly local: { readonly status: number; readonly body: string } | undefined;
  readonly verdict: Verdict | undefined;
  /** Running it again over what came from the hub failed: it will probably be refused. */
  readonly predicted: 'refused' | undefined;
  /** The id of the refused write that it replaces. */
  readonly replaces: string | undefined;
  /** What the app says of it. Absent in rows of builds before it was kept. */
  readonly note?: WriteNote | undefined;
  /** What it does to the data shown until its verdict has come. Undefined: it must be run to know. */
  readonly effects: WriteSet | undefined;
  /** What it read, to see whether a change affects it; `all`: too much to list. */
  readonly reads: Reads | 'all';
  /** Characters of its row, as it was read; 0: not yet written. */
  readonly size: number;
}

export interface Reads {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Pick<Range, 'space' | 'by' | 'lower' | 'upper'>[];
}

/** A write without what it did here, for a second copy of it. */
export type SavedWrite = Pick<OutboxRecord, 'item' | 'note'>;

export interface KeptWrite extends SavedWrite {
  readonly device: DeviceId;
  /** Whose it is; undefined: kept by a build that did not say so. */
  readonly owner?: Owner | undefined;
}

/** A write as the app is told of it: without what it does to the copy. */
export type WriteRecord = Omit<OutboxRecord, 'effects' | 'reads' | 'size'>;

export function publicRecord(record: OutboxRecord): WriteRecord {
  const { effects: _, reads: __, size: ___, ...rest } = record;
  return rest;
}
