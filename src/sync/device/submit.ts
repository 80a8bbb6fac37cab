/** A write of a device: run over what is shown, and kept in the outbox with its effects, in one commit. */
import type { QueryPlan } from '../../engine/session.ts';
import type { BodyInput, BodyResult } from '../../engine/transactions.ts';
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Micros } from '../../values/value.ts';
import { hashOf } from '../digest.ts';
import type { DeviceId, PushItem } from '../protocol.ts';
import type { ReplicaState, WriteRecord } from './api.ts';
import { announcementOf, digestOfRun, isHubOnly, runLocally, type LocalRun } from './local-run.ts';
import type { RebaseHost } from './rebase.ts';
import { discard } from './repairs.ts';
import { outboxRow, stateRow, type OutboxRecord } from './rows.ts';
import { ReplicaView, type Seen } from './view.ts';

export interface SubmitHost extends RebaseHost {
  readonly view: ReplicaView;
}

export interface SubmitAttempt {
  readonly plan: QueryPlan;
  readonly now: Micros;
  /** The id of the refused one that goes with the same commit. */
  readonly replaces: string | undefined;
}

export interface SubmitOutcome {
  readonly device: DeviceId;
  /** Undefined: it failed, and is not kept. */
  readonly record: WriteRecord | undefined;
  /** Undefined: only the hub can run it. */
  readonly run: LocalRun | undefined;
}

/** @throws Suspended; Refusal `outbox_full`, as `discard`, and those of the query */
export function attemptSubmit(
  { plan, now, replaces }: SubmitAttempt,
  before: ReplicaState,
  input: BodyInput,
  host: SubmitHost,
): BodyResult<SubmitOutcome> {
  requireRoom(before);
  const { writer } = input;
  const gone =
    replaces === undefined ? undefined : discard({ input, state: before, host }, replaces);
  const state = gone?.next ?? before;
  const seen: Seen = { rows: [], ranges: [] };
  // A view that nobody else sees yet is not kept.
  const view = gone?.next ? new ReplicaView() : host.view;
  const reader = view.shown(writer, state, seen);
  const run = runOrLeave(host, plan, input, { reader, seen });
  if (run && !run.attempted.outcome.ok)
    return { value: { record: undefined, device: state.device, run }, ts: run.ts, keep: false };
  const seq = state.lastSeq + 1;
  const record = recordOf(plan, { seq, era: state.era, now, run, replaces }, host);
  const row = outboxRow(state.era, record);
  writer.put('sync', row);
  const outboxSize = state.outboxSize + String(row.value).length;
  writer.put('sync', stateRow({ ...state, lastSeq: seq, lastNow: now, outboxSize }));
  const own = announcementOf(run ? [run.effects] : [], (address) =>
    reader.rowAssumedAbsent(address),
  );
  return {
    value: { record, device: state.device, run },
    ts: run?.ts ?? Math.max(input.head, plan.started) + 1,
    keep: true,
    announced: {
      rows: [...(gone?.announced?.rows ?? []), ...own.rows],
      entries: [...(gone?.announced?.entries ?? []), ...own.entries],
    },
  };
}

function runOrLeave(
  { transactions }: SubmitHost,
  plan: QueryPlan,
  input: BodyInput,
  shown: Parameters<typeof runLocally>[3],
): LocalRun | undefined {
  try {
    return runLocally(transactions, plan, input, shown);
  } catch (thrown) {
    if (isHubOnly(thrown)) return undefined;
    throw thrown;
  }
}

interface Made {
  readonly seq: number;
  readonly era: number;
  readonly now: Micros;
  readonly run: LocalRun | undefined;
  readonly replaces: string | undefined;
}

function recordOf(plan: QueryPlan, made: Made, { sha256 }: SubmitHost): OutboxRecord {
  const { seq, era, now, run, replaces } = made;
  const { request } = plan;
  const content: Omit<PushItem, 'hash' | 'digest'> = {
    seq,
    query: request.query,
    apiVersion: request.apiVersion,
    now,
    ids: plan.inputs.madeIds.map(String),
  };
  return {
    id: `${era}.${seq}`,
    era,
    item: { ...content, hash: hashOf(content, sha256), digest: run && digestOfRun(run, sha256) },
    state: 'local',
    at: plan.started,
    local: run && localAnswer(run),
    verdict: undefined,
    predicted: undefined,
    replaces,
    effects: run?.effects ?? { puts: [], deletes: [] },
    reads: run?.reads ?? 'all',
    size: 0,
  };
}

function localAnswer({ attempted }: LocalRun): WriteRecord['local'] {
  const { outcome } = attempted;
  if (!outcome.ok) return undefined;
  const body = `{"resource":${outcome.text}}`;
  if (body.length > LIMITS.verdictBytes) return undefined;
  return { status: outcome.created ? 201 : 200, body };
}

function requireRoom({ lastSeq, settledSeq, outboxSize }: ReplicaState): void {
  if (lastSeq - settledSeq < LIMITS.outboxWrites && outboxSize < LIMITS.outboxBytes) return;
  throw new Refusal(
    'outbox_full',
    `${lastSeq - settledSeq} writes wait for the hub, and the outbox is full. Connect to the hub before writing more.`,
  );
}
