/** The data that a device shows: the effects of its pending writes over the rows that the hub has confirmed. */
import type { View } from '../../../engine/host.ts';
import { Refusal } from '../../../errors.ts';
import { Overlay } from '../../../store/overlay.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader, Writer } from '../../../store/reader.ts';
import { outboxAddress, readOutboxRow } from '../state/outbox-row.ts';
import { outboxRows } from '../state/outbox-rows.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { readState, STATE } from '../state/state-row.ts';
import { PresentReader, TrackingReader } from './tracked-reads.ts';

/** A cache of the effects of pending writes, up to a certain write. Compared with the stored rows before each use. */
interface PendingEffects {
  readonly overlay: Overlay;
  readonly era: number;
  readonly generation: number;
  /** Number of the last write in it; `shownSeq` if there is none. */
  seq: number;
  /** Stored row of the last write in it. If the row is still the same, those of all earlier writes are, too. */
  lastRow: Row['value'] | undefined;
}

export class ReplicaView implements View {
  private cached: PendingEffects | undefined = undefined;

  over<W extends Writer & { readonly bytes: number }>(writer: W, rowsRead: RowAddress[]) {
    const state = readState(writer.row(STATE, 'absent'));
    if (!state) return writer;
    requireUnlocked(state);
    return new Overlay(new TrackingReader(this.shownOver(writer, state), rowsRead));
  }

  /** Reads the present data, without history, as the identity may see it. @throws Suspended */
  readerOver(base: Reader, state: ReplicaState): PresentReader {
    return new PresentReader(this.shownOver(base, state));
  }

  /** @throws Suspended */
  private shownOver(base: Reader, state: ReplicaState): Reader {
    return this.pendingEffects(base, state).over(base);
  }

  /** @throws Suspended */
  private pendingEffects(base: Reader, state: ReplicaState): Overlay {
    const pending = this.validCache(base, state) ?? this.rebuild(base, state);
    for (let seq = pending.seq + 1; seq <= state.lastSeq; seq++) {
      const row = base.row(outboxAddress(state.era, seq));
      if (row) add(pending, row);
      else if (seq > state.settledSeq) throw new Error(`Write ${seq} is missing in the outbox.`);
      else skip(pending, seq);
    }
    return pending.overlay;
  }

  private validCache(base: Reader, state: ReplicaState): PendingEffects | undefined {
    const { cached } = this;
    if (cached?.generation !== state.generation || cached.era !== state.era) return undefined;
    if (cached.seq > state.lastSeq) return undefined;
    if (cached.lastRow === undefined) return cached;
    const row = base.row(outboxAddress(state.era, cached.seq));
    return row?.value === cached.lastRow ? cached : undefined;
  }

  private rebuild(base: Reader, state: ReplicaState): PendingEffects {
    const { era, generation, shownSeq, lastSeq } = state;
    const rows = outboxRows(base, era, shownSeq + 1, lastSeq);
    const overlay = new Overlay(EMPTY);
    const pending: PendingEffects = { overlay, era, generation, seq: shownSeq, lastRow: undefined };
    for (const row of rows) add(pending, row);
    this.cached = pending;
    return pending;
  }
}

function add(pending: PendingEffects, row: Row): void {
  const { effects, item } = readOutboxRow(row);
  if (effects) pending.overlay.absorb(effects);
  pending.seq = item.seq;
  pending.lastRow = row.value;
}

/** Skips a refused write that the app discarded before a pull has raised `shownSeq` beyond it. */
function skip(pending: PendingEffects, seq: number): void {
  pending.seq = seq;
  pending.lastRow = undefined;
}

/** @throws Refusal `locked` */
export function requireUnlocked({ isLocked }: ReplicaState): void {
  if (isLocked) throw new Refusal('locked', LOCKED);
}

const LOCKED =
  'The data on this device is locked, because the hub has revoked the credential. Log in again with `db.sync({ login })`.';

/** The base of the cached effects. They are laid over the stored rows when they are shown. */
const EMPTY: Reader = { row: () => undefined, range: () => [] };
