/** What is done to an outbox when something has gone wrong: on under another id, taken up again after a loss, parked, given up. */
import type { BodyInput } from '../../engine/transactions.ts';
import { Refusal } from '../../errors.ts';
import type { Micros } from '../../values/value.ts';
import { hashOf } from '../digest.ts';
import type { DeviceId, Epoch, PushItem } from '../protocol.ts';
import type { ReplicaState } from './api.ts';
import { Touched } from './confirmed.ts';
import { NO_EFFECTS } from './local-run.ts';
import { locate } from './outbox.ts';
import { noteEffects, rebasePending, type RebaseHost } from './rebase.ts';
import {
  dropStaged,
  outboxAddress,
  outboxIn,
  outboxRange,
  outboxRow,
  readOutboxRow,
  type OutboxRecord,
} from './rows.ts';
import type { Step } from './step.ts';

/** What a repair has at hand. */
export interface Damaged {
  readonly input: BodyInput;
  readonly state: ReplicaState;
  readonly host: RebaseHost;
}

/** On under another id: writes without a verdict are numbered from 1. @throws Suspended */
export function rename(damaged: Damaged, device: DeviceId): Step<ReplicaState> {
  const { input, state } = damaged;
  const all = outboxIn(input.writer, outboxRange(state.era, 1));
  return renumbered(damaged, device, {
    goingOn: all.filter(({ verdict }) => verdict === undefined),
    judged: all.filter(({ verdict }) => verdict !== undefined),
  });
}

/** All writes that are kept, but those that were refused, are offered again under another id. @throws Suspended */
export function reenter(damaged: Damaged, device: DeviceId, epoch: Epoch): Step<ReplicaState> {
  const { input, state } = damaged;
  const all = outboxIn(input.writer, outboxRange());
  const offered = all.filter(({ verdict }) => verdict?.state !== 'refused');
  const again = offered.map((record): OutboxRecord => {
    if (!record.verdict) return record;
    // What was judged is in the stored rows, or comes back with its new verdict: it is not shown twice.
    return { ...record, effects: NO_EFFECTS, reads: NO_READS, verdict: undefined };
  });
  dropStaged(input.writer, state);
  const history = { epoch, cursor: undefined, token: undefined, staged: undefined };
  return renumbered({ ...damaged, state: { ...state, ...history } }, device, {
    goingOn: again,
    judged: all.filter(({ verdict, era }) => verdict !== undefined && era === state.era),
  });
}

const NO_READS = { rows: [], ranges: [] };

interface Numbered {
  /** In their order; each stands where it has stood until now. */
  readonly goingOn: readonly OutboxRecord[];
  /** Of the id that is given up. */
  readonly judged: readonly OutboxRecord[];
}

function renumbered(
  { input, state, host }: Damaged,
  device: DeviceId,
  { goingOn, judged }: Numbered,
): Step<ReplicaState> {
  const { writer } = input;
  const era = state.era + 1;
  // Before any is put: one of an earlier id may stand where another goes.
  for (const { era: before, item } of goingOn)
    writer.delete('sync', outboxAddress(before, item.seq).key);
  goingOn.forEach((record, i) => {
    const content = { ...record.item, seq: i + 1 };
    const item = { ...content, hash: hashOf(content, host.sha256) };
    writer.put('sync', outboxRow(era, { ...record, era, item, state: 'local' }));
  });
  const lastSeq = goingOn.length;
  const named: ReplicaState = { ...state, device, era, lastSeq, shownSeq: 0, settledSeq: 0 };
  // What was judged and is not in the stored rows comes with the next pull; until then nothing may stand on it.
  const touched = new Touched();
  for (const record of judged)
    if (record.item.seq > state.shownSeq) noteEffects(writer, record, touched);
  const { state: next, announced } = rebasePending(named, touched, input, host);
  return { value: next, next, announced };
}

/**
 * Takes up again what was kept outside the database; nothing when there are other writes here. Where some between them are missing, the
 * rest goes on under another id: numbers of writes have no gaps. Returns how many are missing.
 */
export function restore(damaged: Damaged, { device, items, fresh }: Kept): Step<number> {
  const { input, state } = damaged;
  const isNew = state.lastSeq === 0;
  const missing = items.filter(({ seq }) => isNew || seq > state.lastSeq);
  const [first] = missing;
  const last = missing.at(-1);
  if (!first || !last) return { value: 0 };
  if (!isNew && device !== state.device) return { value: 0 };
  const expected = isNew ? first.seq : state.lastSeq + 1;
  const gaps = last.seq - expected + 1 - missing.length;
  if (isNew && gaps > 0) {
    const numbered = missing.map((item, i) => {
      const content = { ...item, seq: i + 1 };
      return { ...content, hash: hashOf(content, damaged.host.sha256) };
    });
    const step = restore(damaged, { device: fresh, items: numbered, fresh });
    return { ...step, value: gaps };
  }
  for (const item of missing)
    input.writer.put('sync', outboxRow(state.era, foundAgain(item, state)));
  if (gaps > 0) {
    const longer = { ...state, lastSeq: last.seq, lastNow: last.now };
    return { ...rename({ ...damaged, state: longer }, fresh), value: gaps };
  }
  const before = first.seq - 1;
  const next: ReplicaState = {
    ...state,
    device,
    lastSeq: last.seq,
    lastNow: last.now,
    ...(isNew && { shownSeq: before, settledSeq: before }),
    generation: state.generation + 1,
  };
  return { value: 0, next };
}

/** Of writes outside the database. */
export interface Kept {
  readonly device: DeviceId;
  readonly items: readonly PushItem[];
  /** An id that nobody has. */
  readonly fresh: DeviceId;
}

const foundAgain = (item: PushItem, { era, skew }: ReplicaState): OutboxRecord => ({
  id: `${era}.${item.seq}`,
  era,
  item,
  state: 'local',
  at: item.now - skew,
  local: undefined,
  verdict: undefined,
  predicted: undefined,
  replaces: undefined,
  effects: undefined,
  reads: 'all',
  size: 0,
});

/** @throws Suspended */
export function park(
  { input, state }: Pick<Damaged, 'input' | 'state'>,
  isParked: boolean,
): Step<void> {
  const from = isParked ? 'local' : 'parked';
  for (const record of outboxIn(input.writer, outboxRange(state.era, state.settledSeq + 1))) {
    if (record.state !== from && !(isParked && record.state === 'pushed')) continue;
    const moved = { ...record, state: isParked ? 'parked' : 'local' } as const;
    input.writer.put('sync', outboxRow(state.era, moved));
  }
  return { value: undefined, next: { ...state, generation: state.generation + 1 } };
}

/** @throws Suspended; Refusal `not found`, `bad request` */
export function discard({ input, state, host }: Damaged, id: string): Step<void> {
  const { writer } = input;
  const place = locate(writer, id);
  const row = place && writer.row(outboxAddress(place.era, place.seq));
  if (!row)
    throw new Refusal(
      'not found',
      `There is no write ${id}: it is already resolved or never existed.`,
    );
  const { era, seq } = place;
  const record = readOutboxRow(row);
  if (!record.verdict) throw new Refusal('bad request', `The write ${id} has no verdict yet.`);
  writer.delete('sync', outboxAddress(era, seq).key);
  if (era !== state.era || seq <= state.shownSeq) return { value: undefined };
  // What it did is shown no more, and what stood on it is run again.
  const touched = new Touched();
  noteEffects(writer, record, touched);
  const { state: next, announced } = rebasePending(state, touched, input, host);
  return { value: undefined, next, announced };
}

/** Forgets confirmed writes made before that time. @returns how many @throws Suspended */
export function prune(
  { input, state }: Pick<Damaged, 'input' | 'state'>,
  before: Micros,
): Step<number> {
  const old = outboxIn(input.writer, outboxRange()).filter(
    ({ at, verdict, item, era }) =>
      at < before &&
      (verdict?.state === 'confirmed' || verdict?.state === 'amended') &&
      (era < state.era || item.seq <= state.shownSeq),
  );
  for (const { era, item } of old) input.writer.delete('sync', outboxAddress(era, item.seq).key);
  return { value: old.length };
}
