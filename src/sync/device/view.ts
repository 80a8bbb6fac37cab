/** What a device shows: the effects of the writes that have no verdict yet, over what the hub has confirmed. */
import { Refusal } from '../../errors.ts';
import type { View } from '../../engine/host.ts';
import { Overlay } from '../../store/overlay.ts';
import type { Entry, Range, Row, RowAddress } from '../../store/port.ts';
import type { Reader, Writer } from '../../store/reader.ts';
import type { ReplicaState } from './api.ts';
import { outboxAddress, outboxRowsIn, readOutboxRow, readState, STATE } from './rows.ts';

/** Effects of writes up to one of them, as last put together. Checked against what is stored before it is used. */
interface Layer {
  readonly overlay: Overlay;
  readonly era: number;
  readonly generation: number;
  /** The last write in it; `shownSeq` when there is none. */
  seq: number;
  /** Row of the last write in it. Equal to what is stored: so are all before. */
  value: Row['value'] | undefined;
}

export class ReplicaView implements View {
  private layer: Layer | undefined = undefined;

  over<W extends Writer & { readonly bytes: number }>(writer: W, looked: RowAddress[]) {
    const state = readState(writer.rowAssumedAbsent(STATE));
    if (!state) return writer;
    if (state.isLocked) throw new Refusal('locked', LOCKED);
    const seen: Seen = { rows: looked, ranges: [] };
    return new Overlay(this.shown(writer, state, seen));
  }

  /** @param seen gets what was read of the view @throws Suspended */
  shown(base: Reader, state: ReplicaState, seen: Seen): Reader {
    const overlay = this.pending(base, state);
    return seeing(overlay.over(base), seen);
  }

  /** All effects that are shown. @throws Suspended */
  pending(base: Reader, state: ReplicaState): Overlay {
    const layer = this.current(base, state) ?? this.rebuilt(base, state);
    for (let seq = layer.seq + 1; seq <= state.lastSeq; seq++) {
      const row = base.row(outboxAddress(state.era, seq));
      if (row) add(layer, row);
      else if (seq > state.settledSeq) throw new Error(`Write ${seq} is missing in the outbox.`);
      else pass(layer, seq);
    }
    return layer.overlay;
  }

  private current(base: Reader, state: ReplicaState): Layer | undefined {
    const { layer } = this;
    if (layer?.generation !== state.generation || layer.era !== state.era) return undefined;
    if (layer.seq > state.lastSeq) return undefined;
    if (layer.value === undefined) return layer;
    return base.row(outboxAddress(state.era, layer.seq))?.value === layer.value ? layer : undefined;
  }

  private rebuilt(base: Reader, state: ReplicaState): Layer {
    const { era, generation, shownSeq, lastSeq } = state;
    const found = outboxRowsIn(base, era, shownSeq + 1, lastSeq);
    const layer: Layer = {
      overlay: new Overlay(NOTHING),
      era,
      generation,
      seq: shownSeq,
      value: undefined,
    };
    for (const row of found) add(layer, row);
    this.layer = layer;
    return layer;
  }
}

function add(layer: Layer, row: Row): void {
  const { effects, item } = readOutboxRow(row);
  if (effects) layer.overlay.absorb(effects);
  layer.seq = item.seq;
  layer.value = row.value;
}

/** Refused, and discarded before the changes came that it is not in. */
function pass(layer: Layer, seq: number): void {
  layer.seq = seq;
  layer.value = undefined;
}

const LOCKED =
  'The data on this device is locked, because the hub has revoked the credential. Log in again with `db.sync({ login })`.';

/** What a query looked at: everything, wherever it was found. */
export interface Seen {
  readonly rows: RowAddress[];
  readonly ranges: Range[];
}

export const seeing = (base: Reader, seen: Seen): Reader => new SeenReader(base, seen);

class SeenReader implements Reader {
  private readonly base: Reader;
  private readonly seen: Seen;

  constructor(base: Reader, seen: Seen) {
    this.base = base;
    this.seen = seen;
  }

  row(address: RowAddress): Row | undefined {
    this.seen.rows.push(address);
    return this.base.row(address);
  }

  rowAssumedAbsent(address: RowAddress): Row | undefined {
    this.seen.rows.push(address);
    return this.base.rowAssumedAbsent(address);
  }

  range(range: Range): readonly Entry[] {
    this.seen.ranges.push(range);
    return this.base.range(range);
  }

  rangeAssumedEmpty(range: Range): readonly Entry[] {
    this.seen.ranges.push(range);
    return this.base.rangeAssumedEmpty(range);
  }
}

/** Effects stand on nothing until they are shown. */
const NOTHING: Reader = {
  row: () => undefined,
  range: () => [],
  rowAssumedAbsent: () => undefined,
  rangeAssumedEmpty: () => [],
};
