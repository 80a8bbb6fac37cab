/** Pending writes, run again where what they stand on has changed. */
import type { Transactions } from '../../engine/engine.ts';
import type { QueryPlan } from '../../engine/session.ts';
import type { Announced, BodyInput } from '../../engine/transactions.ts';
import { Refusal } from '../../errors.ts';
import { Overlay } from '../../store/overlay.ts';
import type { Reader, Writer } from '../../store/reader.ts';
import type { ReplicaState } from './api.ts';
import type { Touched } from './confirmed.ts';
import {
  announcementOf,
  digestOfRun,
  isHubOnly,
  NO_EFFECTS,
  readsOf,
  runLocally,
} from './local-run.ts';
import { outboxRow, outboxRowsIn, readOutboxRow, type OutboxRecord } from './rows.ts';
import { seeing, type Seen } from './view.ts';

export interface RebaseHost {
  readonly transactions: Transactions;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  /** To run a pending write again; the same each time. */
  readonly planOf: (record: OutboxRecord, state: ReplicaState) => QueryPlan;
}

interface Rebase {
  readonly state: ReplicaState;
  readonly touched: Touched;
  readonly input: BodyInput;
  readonly host: RebaseHost;
}

/** Writes of this id of the device, from the first that is shown or has no verdict. @throws Suspended */
export function outboxOf(
  reader: Reader,
  { era, shownSeq, settledSeq, lastSeq }: ReplicaState,
): OutboxRecord[] {
  return outboxRowsIn(reader, era, Math.min(shownSeq, settledSeq) + 1, lastSeq).map(readOutboxRow);
}

/** Pending writes again after rows changed under them that no pull brought. */
export function rebasePending(
  state: ReplicaState,
  touched: Touched,
  input: BodyInput,
  host: RebaseHost,
): { readonly state: ReplicaState; readonly announced: Announced } {
  const { writer } = input;
  const pending = outboxOf(writer, state).filter(({ item }) => item.seq > state.shownSeq);
  const { effects, size } = runAgain(writer, pending, { state, touched, input, host });
  return {
    state: { ...state, outboxSize: size, generation: state.generation + 1 },
    announced: announcementOf(effects, (address) => writer.rowAssumedAbsent(address)),
  };
}

/** Pending writes in order, over what is confirmed now; those that nothing touches stay as they are. */
export function runAgain(writer: Writer, pending: readonly OutboxRecord[], rebase: Rebase) {
  const { state, touched } = rebase;
  const view = new Overlay(writer);
  const effects = [];
  let size = 0;
  for (const record of pending) {
    let present = record;
    if (isTouched(record, touched)) {
      present = ranAgain(record, view, rebase);
      noteEffects(writer, record, touched);
      noteEffects(writer, present, touched);
      if (record.effects) effects.push(record.effects);
      if (present.effects) effects.push(present.effects);
      const row = outboxRow(state.era, present);
      writer.put('sync', row);
      size += String(row.value).length;
    } else {
      size += record.size;
    }
    if (present.effects) view.absorb(present.effects);
  }
  return { effects, size };
}

function isTouched({ effects, reads }: OutboxRecord, { rows, entries }: Touched): boolean {
  if (!effects) return true;
  if (rows.size === 0) return false;
  if (effects.puts.some(({ row }) => rows.has(row.key))) return true;
  if (effects.deletes.some(({ key }) => rows.has(key))) return true;
  if (reads === 'all') return true;
  if (reads.rows.some(({ key }) => rows.has(key))) return true;
  return reads.ranges.some(({ by, lower, upper }) => {
    for (const key of by === 'entry' ? entries : rows) if (key >= lower && key < upper) return true;
    return false;
  });
}

function ranAgain(
  record: OutboxRecord,
  view: Overlay,
  { state, input, host }: Rebase,
): OutboxRecord {
  const seen: Seen = { rows: [], ranges: [] };
  const reader = seeing(view, seen);
  try {
    const run = runLocally(host.transactions, host.planOf(record, state), input, { reader, seen });
    const { outcome } = run.attempted;
    return {
      ...record,
      item: { ...record.item, digest: digestOfRun(run, host.sha256) },
      effects: run.effects,
      reads: run.reads,
      predicted: outcome.ok ? undefined : 'refused',
    };
  } catch (thrown) {
    if (isHubOnly(thrown)) return { ...record, effects: NO_EFFECTS, reads: 'all' };
    // It keeps its place: neither what came nor those behind it wait for it, and the hub's word is awaited.
    if (thrown instanceof Refusal) return { ...failedHere(record), reads: readsOf(seen) };
    throw thrown;
  }
}

const failedHere = (record: OutboxRecord): OutboxRecord => ({
  ...record,
  item: { ...record.item, digest: undefined },
  effects: NO_EFFECTS,
  predicted: 'refused',
});

/** What a write did, or will not have done: whatever looked at it is to look again. */
export function noteEffects(writer: Writer, { effects }: OutboxRecord, touched: Touched): void {
  if (!effects) return;
  for (const { space, row } of effects.puts) {
    if (space === 'documents')
      touched.note(row.key, row, writer.rowAssumedAbsent({ space, key: row.key }));
  }
  for (const { space, key } of effects.deletes) {
    if (space === 'documents') touched.note(key, writer.rowAssumedAbsent({ space, key }));
  }
}
