/** A write in the outbox of a device. It is stored from its submit until the app has dealt with its verdict. */
import type { Range, RowAddress, WriteSet } from '../../../store/port.ts';
import type { Micros } from '../../../values/value.ts';
import type { WriteNote } from '../../../answers.ts';
import type { WriteState } from '../../../states.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { Owner } from '../../protocol/messages.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';

export interface OutboxRecord {
  /** The number under which it was made, as `era.seq`. It stays the same when the write moves to another number. */
  readonly id: string;
  /** The era of the device id that it is under now. `item` has its number there. */
  readonly era: number;
  readonly item: PushItem;
  readonly state: WriteState;
  /** When it was made, by the clock of this device, µs. */
  readonly at: Micros;
  /** Its answer on this device. Undefined: it was not executed here, or its answer is too long to store. */
  readonly local: { readonly status: number; readonly body: string } | undefined;
  readonly verdict: Verdict | undefined;
  /** It failed when it ran again over data from the hub, so the hub will probably refuse it. */
  readonly predicted: 'refused' | undefined;
  /** The id of the refused write that it replaces. */
  readonly replaces: string | undefined;
  /** Label and data that the app attached. */
  readonly note?: WriteNote | undefined;
  /** What it changes in the data shown until its verdict has come. Undefined: it must be executed to know. */
  readonly effects: WriteSet | undefined;
  /** What it read, to decide whether a change affects it. `all`: too many reads to list. */
  readonly reads: Reads | 'all';
  /** Number of characters of its stored row. 0: not written yet. */
  readonly size: number;
}

export interface Reads {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Pick<Range, 'space' | 'by' | 'lower' | 'upper'>[];
}

/** A write without its effects, for the second copy of the outbox. */
export type SavedWrite = Pick<OutboxRecord, 'item' | 'note'>;

export interface KeptWrite extends SavedWrite {
  readonly device: DeviceId;
  /** The user who made it. Added when the write is stored in the second copy. */
  readonly owner?: Owner | undefined;
}

/** A write as the app sees it: without its effects and reads. */
export type WriteRecord = Omit<OutboxRecord, 'effects' | 'reads' | 'size'>;

export function publicRecord(record: OutboxRecord): WriteRecord {
  const { effects: _, reads: __, size: ___, ...rest } = record;
  return rest;
}
