/** Submits a write: executes it on the data shown, and stores it in the outbox with its effects, in one commit. */
import type { WriteNote } from '../../../answers.ts';
import type { QueryPlan } from '../../../engine/session.ts';
import type { BodyInput, BodyResult } from '../../../engine/transactions.ts';
import { Refusal } from '../../../errors.ts';
import { LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';
import type { IdKey } from '../../protocol/device-ids.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { RebaseHost } from '../rebase/replica-transaction.ts';
import type { WriteRecord } from '../state/outbox-record.ts';
import { outboxRow } from '../state/outbox-row.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { stateRow } from '../state/state-row.ts';
import { announcedChanges } from '../view/announced-changes.ts';
import { HubOnlyFunction } from '../view/impersonation.ts';
import { executeLocally, type LocalExecution } from '../view/local-execution.ts';
import { ReplicaView } from '../view/replica-view.ts';
import type { PresentReader } from '../view/tracked-reads.ts';
import { newRecord } from './new-record.ts';
import { requireSendable } from './push-size.ts';
import { discard } from './remove-writes.ts';

export interface SubmitHost extends RebaseHost {
  readonly view: ReplicaView;
}

export interface SubmitInput {
  readonly plan: QueryPlan;
  readonly now: Micros;
  /** The key with which the plan makes ids. The key in the state may be a later one. */
  readonly idKey: IdKey;
  /** The id of a refused write, which is removed in the same commit. */
  readonly replaces: string | undefined;
  /** Label and data that the app attaches to the write. */
  readonly note: WriteNote | undefined;
}

export interface SubmitOutcome {
  readonly device: DeviceId;
  /** Undefined: the query failed and was not stored. */
  readonly record: WriteRecord | undefined;
  /** Undefined: only the hub can execute the write. */
  readonly run: LocalExecution | undefined;
}

/** @throws Suspended; Refusal `outbox_full`, `request too large`, `bad request`, those of `discard`, and those of the query */
export function submit(
  { plan, now, idKey, replaces, note }: SubmitInput,
  before: ReplicaState,
  input: BodyInput,
  host: SubmitHost,
): BodyResult<SubmitOutcome> {
  requireRoom(before);
  requireShort(note);
  const { writer } = input;
  const removed =
    replaces === undefined ? undefined : discard({ input, state: before, host }, replaces);
  const state = removed?.next ?? before;
  const { device, era } = state;
  // `host.view` may cache only committed data.
  const view = removed?.next ? new ReplicaView() : host.view;
  const reader = view.readerOver(writer, state);
  const run = executeIfLocal(host, plan, input, reader);
  if (run && !run.attempted.outcome.ok) return { value: { record: undefined, device, run } };
  const seq = state.lastSeq + 1;
  const record = newRecord(plan, { seq, era, now, idKey, run, replaces, note }, host.sha256);
  requireSendable(record.item);
  const row = outboxRow(record);
  writer.put('sync', row);
  const outboxSize = state.outboxSize + String(row.value).length;
  writer.put('sync', stateRow({ ...state, lastSeq: seq, lastNow: now, outboxSize }));
  const own = announcedChanges(run ? [run.effects] : [], (address) =>
    reader.row(address, 'absent'),
  );
  const { rows = [], entries = [] } = removed?.announced ?? {};
  return {
    value: { record, device, run },
    ts: run?.ts ?? Math.max(input.head, plan.started) + 1,
    announced: { rows: [...rows, ...own.rows], entries: [...entries, ...own.entries] },
  };
}

/** Undefined: only the hub can execute the write. */
function executeIfLocal(
  { transactions }: SubmitHost,
  plan: QueryPlan,
  input: BodyInput,
  reader: PresentReader,
): LocalExecution | undefined {
  try {
    return executeLocally(transactions, plan, input, reader);
  } catch (thrown) {
    if (thrown instanceof HubOnlyFunction) return undefined;
    throw thrown;
  }
}

function requireRoom({ lastSeq, settledSeq, outboxSize }: ReplicaState): void {
  if (lastSeq - settledSeq < LIMITS.outboxWrites && outboxSize < LIMITS.outboxBytes) return;
  throw new Refusal(
    'outbox_full',
    `The outbox is full: ${lastSeq - settledSeq} writes wait for the hub. Connect to it before writing more.`,
  );
}

function requireShort(note: WriteNote | undefined): void {
  const chars = (note?.label?.length ?? 0) + (note?.data?.length ?? 0);
  if (chars <= LIMITS.writeNoteChars) return;
  throw new Refusal(
    'bad request',
    `The label and the data of a write may have ${LIMITS.writeNoteChars} characters, but these have ${chars}. Put long data into a document.`,
  );
}
